/** Paths, methods and schemas. https://fastify.dev/docs/latest/Reference/Routes/ */

import cookie from "@fastify/cookie";
import type { FastifyInstance } from "fastify";

import * as handlers from "./handlers.ts";
import { Created, Dashboard, Delay, Health, NewNote, Recipe, RecipeId } from "./models.ts";
import type { Adder } from "./offload.ts";
import type { Repository } from "./repository.ts";

const PAGES = ["/", "/index.html", "/index.htm"];

/** All routes; Fastify adds HEAD wherever GET is. */
export async function routes(app: FastifyInstance, repository: Repository, adder: Adder): Promise<void> {
  for (const path of PAGES) app.get(path, handlers.index);
  app.get("/healthz", { schema: { response: { 200: Health } } }, handlers.health);
  refuseOtherMethods(app, [...PAGES, "/healthz"], ["GET", "HEAD"]);
  await app.register((scope, _options, done) => {
    workRoutes(scope, adder);
    done();
  });
  await app.register((scope) => apiRoutes(scope, repository), { prefix: "/api/v1" });
}

function workRoutes(app: FastifyInstance, adder: Adder): void {
  // Here a body stays bytes, so that a thread can parse it.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(null, body);
  });
  app.post("/work", { schema: { querystring: Delay } }, handlers.work(adder));
  refuseOtherMethods(app, ["/work"], ["POST"]);
}

async function apiRoutes(app: FastifyInstance, repository: Repository): Promise<void> {
  const { addNote, dashboard, randomRecipe, recipe } = handlers.api(repository);
  await app.register(cookie);
  app.decorateRequest("sessionKey", "");
  const preHandler = handlers.requireSession;
  app.get("/recipes", { schema: { response: { 200: Recipe } }, preHandler }, randomRecipe);
  app.get<{ Params: RecipeId }>(
    "/recipes/:id",
    { schema: { params: RecipeId, response: { 200: Recipe } }, preHandler },
    recipe,
  );
  app.get("/dashboard", { schema: { response: { 200: Dashboard } }, preHandler }, dashboard);
  refuseOtherMethods(app, ["/recipes", "/recipes/:id", "/dashboard"], ["GET", "HEAD"]);
  const schema = { params: RecipeId, body: NewNote, response: { 201: Created } };
  app.post<{ Params: RecipeId; Body: NewNote }>("/recipes/:id/notes", { schema, preHandler }, addNote);
  refuseOtherMethods(app, ["/recipes/:id/notes"], ["POST"]);
}

/** Fastify's own answer would be 404: https://github.com/fastify/fastify/pull/862 */
function refuseOtherMethods(app: FastifyInstance, urls: string[], allowed: string[]): void {
  const method = app.supportedMethods.filter((name) => !allowed.includes(name));
  const onRequest = handlers.methodNotAllowed;
  for (const url of urls) app.route({ url, method, onRequest, handler: onRequest });
}
