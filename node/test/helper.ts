/** The application without a socket, a database or a log. */

import type { TestContext } from "node:test";

import type { FastifyInstance } from "fastify";

import { createAdder } from "../src/offload.ts";
import type { Repository } from "../src/repository.ts";
import { routes } from "../src/routes.ts";
import { createApp } from "../src/server.ts";

type Methods = Pick<Repository, "addNote" | "dashboard" | "randomRecipe" | "recipe">;

/** Methods that a test does not replace must not be called. */
export async function build(t: TestContext, methods: Partial<Methods> = {}): Promise<FastifyInstance> {
  const app = createApp({ logger: false });
  await routes(app, methods as Repository, createAdder({ OFFLOAD: "none", THREADS: 1 }));
  t.after(() => app.close());
  return app;
}

export const COOKIE = { cookie: "sessionid=key" };
