/** Paths and methods. https://fastify.dev/docs/latest/Reference/Routes/ */

import { METHODS } from "node:http";

import cookie from "@fastify/cookie";
import type { FastifyInstance, FastifyRequest } from "fastify";

import * as handlers from "./handlers.ts";
import { Created, Dashboard, Health, NewNote, Recipe } from "./models.ts";
import type { Adder } from "./offload.ts";
import type { Repository } from "./repository.ts";
import { parseJson } from "./work.ts";

/** All routes; Fastify adds HEAD wherever GET is. */
export async function routes(app: FastifyInstance, repository: Repository, adder: Adder): Promise<void> {
  const methods = collectMethods(app);
  for (const path of ["/", "/index.html", "/index.htm"]) app.get(path, handlers.index);
  app.get("/healthz", { schema: { response: { 200: Health } } }, handlers.health);
  await app.register((scope, _options, done) => {
    workRoutes(scope, adder);
    done();
  });
  await app.register((scope) => apiRoutes(scope, repository), { prefix: "/api/v1" });
  refuseOtherMethods(app, methods);
}

/** Here a body stays bytes, so that a thread can parse it. */
function workRoutes(app: FastifyInstance, adder: Adder): void {
  anyContentType(app, (body) => body);
  app.decorateRequest("delayMs", 0);
  app.post(
    "/work",
    { onRequest: handlers.requireDelay, preValidation: handlers.requireBody },
    handlers.work(adder),
  );
}

async function apiRoutes(app: FastifyInstance, repository: Repository): Promise<void> {
  const { addNote, dashboard, randomRecipe, recipe } = handlers.api(repository);
  const { requireBody, requireId, requireSession } = handlers;
  anyContentType(app, parseJson);
  app.decorateRequest("recipeId", 0);
  app.decorateRequest("sessionKey", "");
  await app.register(cookie);

  app.get("/recipes", { schema: { response: { 200: Recipe } }, onRequest: requireSession }, randomRecipe);
  app.get(
    "/recipes/:id",
    { schema: { response: { 200: Recipe } }, onRequest: [requireId, requireSession] },
    recipe,
  );
  app.post<{ Body: NewNote }>(
    "/recipes/:id/notes",
    {
      schema: { body: NewNote, response: { 201: Created } },
      onRequest: [requireId, requireSession],
      preValidation: requireBody,
    },
    addNote,
  );
  app.get("/dashboard", { schema: { response: { 200: Dashboard } }, onRequest: requireSession }, dashboard);
}

/** One parser for every body. The header is dropped because Fastify answers 415 to one that is malformed. */
function anyContentType(app: FastifyInstance, parse: (body: Buffer) => unknown): void {
  app.addHook("onRequest", (request, _reply, done) => {
    delete request.raw.headers["content-type"];
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>("*", { parseAs: "buffer" }, (_request: FastifyRequest, body, done) => {
    try {
      done(null, parse(body));
    } catch (error) {
      done(error as Error);
    }
  });
}

function collectMethods(app: FastifyInstance): Map<string, Set<string>> {
  const methods = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const known = methods.get(url) ?? new Set();
    for (const name of [method].flat()) known.add(name);
    methods.set(url, known);
  });
  return methods;
}

/** Fastify's own answer would be 404: https://github.com/fastify/fastify/pull/862 */
function refuseOtherMethods(app: FastifyInstance, methods: ReadonlyMap<string, ReadonlySet<string>>): void {
  // Node.js parses more methods than Fastify routes by itself. CONNECT never becomes a request.
  for (const method of METHODS) {
    if (method !== "CONNECT" && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  for (const [url, allowed] of [...methods]) {
    const allow = [...allowed].sort().join(", ");
    app.route({
      url,
      method: app.supportedMethods.filter((method) => !allowed.has(method)),
      // Before a body is read.
      onRequest: (_request, reply) => {
        void reply.code(405).header("allow", allow).send({ error: "method not allowed" });
      },
      handler: () => undefined,
    });
  }
}
