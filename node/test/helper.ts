/** The application without a socket, a database or a log. */

import type { TestContext } from "node:test";

import type { FastifyInstance } from "fastify";
import { pino } from "pino";

import { createAdder } from "../src/offload.ts";
import type { Repository } from "../src/repository.ts";
import { buildServer } from "../src/server.ts";

type Methods = Pick<Repository, "addNote" | "dashboard" | "randomRecipe" | "recipe">;

/** Methods that a test does not replace must not be called. */
export async function build(t: TestContext, methods: Partial<Methods> = {}): Promise<FastifyInstance> {
  const app = await buildServer({
    repository: methods as Repository,
    adder: createAdder({ offload: "none", threads: 1 }),
    log: pino({ level: "silent" }),
  });
  t.after(() => app.close());
  return app;
}

export const COOKIE = { cookie: "sessionid=key" };
