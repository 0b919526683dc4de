/** The settings of the contract, read from the environment. */

import { availableParallelism } from "node:os";

import { envSchema } from "env-schema";
import { type Static, Type } from "typebox";

const choice = <const T extends readonly string[]>(values: T, initial: T[number]) =>
  Type.Unsafe<T[number]>({ type: "string", enum: values, default: initial });
const count = (initial: number, maximum: number) => Type.Integer({ minimum: 1, maximum, default: initial });

const Config = Type.Object({
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
  DB_PERSISTENT: choice(["0", "1"], "1"),
  DB_PREPARE: choice(["0", "1"], "1"),
  DB_RESET: choice(["0", "1"], "0"),
  DB_TIME_ZONE: choice(["connection", "request"], "connection"),
  OFFLOAD: choice(["none", "sum", "parse+sum"], "none"),
  // No other program has it (bench.toml).
  DB_PIPELINE: choice(["0", "1"], "0"),
  ACCESS_LOG: choice(["0", "1"], "0"),
});
export type Config = Static<typeof Config>;

/** Reads and checks the variables; an error names the variable and leaves the value out, which may hold a password. */
export function loadConfig(variables: NodeJS.ProcessEnv): Config {
  // Compose passes variables that nobody set as empty strings: they mean the default.
  const data = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ""));
  return envSchema<Config>({ schema: Config, env: false, data });
}
