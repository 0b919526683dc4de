/** Everything that can end a request early, and the answer it becomes. */

import { STATUS_CODES } from "node:http";

import createError from "@fastify/error";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

/** 400: the id, the query or the JSON is none. */
export const BadRequest = createError("BAD_REQUEST", "bad request", 400);
/** 401: no session, or one that is unknown or expired. */
export const Unauthorized = createError("UNAUTHORIZED", "unauthorized", 401);
/** 404: no such path, no such recipe, or none that this user may see. */
export const NotFound = createError("NOT_FOUND", "not found", 404);
/** 405: the path has other methods. */
export const MethodNotAllowed = createError("METHOD_NOT_ALLOWED", "method not allowed", 405);
/** 422: JSON, but of another shape. */
export const Unprocessable = createError("UNPROCESSABLE", "unprocessable content", 422);
/** 503: the database cannot be reached or is slow. */
export const Unavailable = createError("UNAVAILABLE", "database unavailable", 503);

/** The contract's texts, where they are not Node.js's. */
const TEXTS: Readonly<Record<number, string>> = { 422: "unprocessable content", 503: "database unavailable" };

/** The status of an error, whether it is ours, of the schema validator or of Fastify. */
function statusOf(error: FastifyError, body: unknown): number {
  if (!error.validation) return error.statusCode ?? 500;
  // An empty body is not JSON; one of another shape is.
  return error.validationContext === "body" && body !== undefined ? 422 : 400;
}

/** Clients learn the status and a fixed text; the cause goes to the log. */
export function errorHandler(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const status = statusOf(error, request.body);
  if (status === 503) request.log.warn(error);
  else if (status >= 500) request.log.error(error);
  void reply.code(status).send({ error: TEXTS[status] ?? STATUS_CODES[status]?.toLowerCase() });
}
