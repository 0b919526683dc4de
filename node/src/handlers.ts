/** From a request to a call of the repository, and back. */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from "fastify";

import { MethodNotAllowed, Unauthorized } from "./errors.ts";
import type { Delay, NewNote, RecipeId } from "./models.ts";
import type { Adder } from "./offload.ts";
import { CONTRACT } from "./queries.ts";
import type { Repository } from "./repository.ts";

declare module "fastify" {
  interface FastifyRequest {
    sessionKey: string;
  }
}

const INDEX = readFileSync(new URL("golden/index.html", CONTRACT));

/** Takes the key of the session from the cookie: 401 without one. PostgreSQL's text cannot hold U+0000. */
export function requireSession(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  request.sessionKey = request.cookies["sessionid"] ?? "";
  done(request.sessionKey && !request.sessionKey.includes("\0") ? undefined : new Unauthorized());
}

export const methodNotAllowed = () => Promise.reject(new MethodNotAllowed());

export const index = (_request: FastifyRequest, reply: FastifyReply) =>
  reply.type("text/html; charset=utf-8").send(INDEX);

export const health = () => Promise.resolve({ status: "ok" });

/** The handler of `POST /work`. */
export function work(adder: Adder) {
  return async (request: FastifyRequest<{ Querystring: Delay; Body?: Buffer }>): Promise<string> => {
    const total = await adder.add(request.body ?? Buffer.alloc(0));
    await sleep(Number(request.query.delay_ms ?? 0));
    return `Sum: ${total}`;
  };
}

/** The handlers of the API. */
export const api = (repository: Repository) => ({
  randomRecipe: (request: FastifyRequest) => repository.randomRecipe(request.sessionKey),
  recipe: (request: FastifyRequest<{ Params: RecipeId }>) =>
    repository.recipe(request.sessionKey, Number(request.params.id)),
  dashboard: (request: FastifyRequest) => repository.dashboard(request.sessionKey),
  addNote: async (request: FastifyRequest<{ Params: RecipeId; Body: NewNote }>, reply: FastifyReply) => {
    const { sessionKey, params, body } = request;
    const id = await repository.addNote(sessionKey, Number(params.id), body.text);
    return reply.code(201).send({ id });
  },
});
