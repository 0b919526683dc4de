/** From a request to a call of the repository, and back. */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from "fastify";

import { BadRequest, Unauthorized } from "./errors.ts";
import type { NewNote } from "./models.ts";
import type { Adder } from "./offload.ts";
import { CONTRACT } from "./queries.ts";
import type { Repository } from "./repository.ts";

declare module "fastify" {
  interface FastifyRequest {
    delayMs: number;
    recipeId: number;
    sessionKey: string;
  }
}

const MAX_DELAY_MS = 10_000;
const MAX_ID = 2 ** 31 - 1;
const INDEX = readFileSync(new URL("golden/index.html", CONTRACT));

type Hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

// The contract refuses a bad id, query or session before it looks at the body: these are onRequest hooks.

/** Takes the id from the path: 400. */
export const requireId: Hook = (request, _reply, done) => {
  const { id } = request.params as { id: string };
  if (!/^[1-9]\d{0,9}$/.test(id) || Number(id) > MAX_ID) {
    done(new BadRequest());
    return;
  }
  request.recipeId = Number(id);
  done();
};

/** Takes the key of the session from the cookie: 401. PostgreSQL's text cannot hold U+0000. */
export const requireSession: Hook = (request, _reply, done) => {
  const key = request.cookies["sessionid"];
  if (!key || key.includes("\0")) {
    done(new Unauthorized());
    return;
  }
  request.sessionKey = key;
  done();
};

/** Takes `delay_ms` from the query: 400. */
export const requireDelay: Hook = (request, _reply, done) => {
  const delay = (request.query as Record<string, unknown>)["delay_ms"] ?? "0";
  if (typeof delay !== "string" || !/^\d+$/.test(delay) || Number(delay) > MAX_DELAY_MS) {
    done(new BadRequest());
    return;
  }
  request.delayMs = Number(delay);
  done();
};

/** Fastify skips the parser when there is no body at all, but empty is not JSON: 400. */
export const requireBody: Hook = (request, _reply, done) => {
  done(request.body === undefined ? new BadRequest() : undefined);
};

export function index(_request: FastifyRequest, reply: FastifyReply): void {
  void reply.type("text/html; charset=utf-8").send(INDEX);
}

export function health(_request: FastifyRequest, reply: FastifyReply): void {
  void reply.send({ status: "ok" });
}

/** The handler of `POST /work`. */
export function work(adder: Adder) {
  return async (request: FastifyRequest): Promise<string> => {
    const total = await adder.add(request.body as Buffer);
    await sleep(request.delayMs);
    return `Sum: ${total}`;
  };
}

/** The handlers of the API. */
export const api = (repository: Repository) => ({
  randomRecipe: (request: FastifyRequest) => repository.randomRecipe(request.sessionKey),
  recipe: (request: FastifyRequest) => repository.recipe(request.sessionKey, request.recipeId),
  dashboard: (request: FastifyRequest) => repository.dashboard(request.sessionKey),
  addNote: async (
    request: FastifyRequest<{ Body: NewNote }>,
    reply: FastifyReply,
  ): Promise<{ id: number }> => {
    const id = await repository.addNote(request.sessionKey, request.recipeId, request.body.text);
    void reply.code(201);
    return { id };
  },
});
