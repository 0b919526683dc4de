/** The settings of the contract, read from the environment. */

import { availableParallelism } from "node:os";

import { envSchema } from "env-schema";
import { type Static, Type } from "typebox";

const choice = <const T extends readonly string[]>(values: T, initial: T[number]) =>
  Type.Unsafe<T[number]>({ type: "string", enum: values, default: initial });
const switches = (initial: "0" | "1") => choice(["0", "1"], initial);
const count = (initial: number, maximum: number) => Type.Integer({ minimum: 1, maximum, default: initial });

const Environment = Type.Object({
  PORT: count(8080, 65_535),
  DATABASE_URL: Type.String({
    pattern: "^postgres(ql)?://.",
    default: "postgresql://app:app@pgbouncer:6432/tandem?sslmode=disable",
  }),
  LOG_LEVEL: choice(["debug", "info", "warn", "error"], "warn"),
  // What the container may use: CPU set and quota, not what the machine has.
  WORKERS: count(availableParallelism(), 1024),
  THREADS: count(1, 1024),
  DB_POOL_MAX: count(20, 10_000),
  DB_PERSISTENT: switches("1"),
  DB_PREPARE: switches("1"),
  DB_RESET: switches("0"),
  DB_TIME_ZONE: choice(["connection", "request"], "connection"),
  OFFLOAD: choice(["none", "sum", "parse+sum"], "none"),
  ACCESS_LOG: switches("0"),
});

/** The settings of one process. */
export interface Config {
  readonly port: number;
  readonly databaseUrl: string;
  readonly logLevel: "debug" | "info" | "warn" | "error";
  readonly workers: number;
  readonly threads: number;
  readonly poolMax: number;
  readonly persistent: boolean;
  readonly prepare: boolean;
  readonly reset: boolean;
  readonly timeZone: "connection" | "request";
  readonly offload: "none" | "sum" | "parse+sum";
  readonly accessLog: boolean;
}

/** A variable has a value that makes no sense. The message names it and leaves the value out: it may hold a password. */
export class ConfigError extends Error {}

/** Reads and checks the variables. */
export function loadConfig(variables: NodeJS.ProcessEnv): Config {
  const env = validated(variables);
  if (!URL.canParse(env.DATABASE_URL)) throw new ConfigError("DATABASE_URL must be a postgresql:// URL");
  return {
    port: env.PORT,
    databaseUrl: env.DATABASE_URL,
    logLevel: env.LOG_LEVEL,
    workers: env.WORKERS,
    threads: env.THREADS,
    poolMax: env.DB_POOL_MAX,
    persistent: env.DB_PERSISTENT === "1",
    prepare: env.DB_PREPARE === "1",
    reset: env.DB_RESET === "1",
    timeZone: env.DB_TIME_ZONE,
    offload: env.OFFLOAD,
    accessLog: env.ACCESS_LOG === "1",
  };
}

function validated(variables: NodeJS.ProcessEnv): Static<typeof Environment> {
  // Compose passes variables that nobody set as empty strings: they mean the default.
  const given = Object.entries(variables).filter(([, value]) => value !== "");
  try {
    return envSchema<Static<typeof Environment>>({
      schema: Environment,
      env: false,
      data: Object.fromEntries(given),
    });
  } catch (error) {
    throw new ConfigError(describe(error));
  }
}

interface Complaint {
  readonly instancePath: string;
  readonly message?: string;
  readonly params: { readonly allowedValues?: readonly string[] };
}

/** The first complaint of the validator on one line. */
function describe(error: unknown): string {
  const first = (error as { errors?: readonly Complaint[] }).errors?.[0];
  if (first === undefined) return String(error);
  const values = first.params.allowedValues?.join(", ");
  return `${first.instancePath.slice(1)} ${first.message ?? "is wrong"}${values ? `: ${values}` : ""}`;
}
