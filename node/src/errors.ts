/** Everything that can end a request early, and the answer it becomes. */

import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";

import createError from "@fastify/error";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";

/** 400: the id, the query or the JSON is none. */
export const BadRequest = createError("BAD_REQUEST", "bad request", 400);
/** 401: no session, or one that is unknown or expired. */
export const Unauthorized = createError("UNAUTHORIZED", "unauthorized", 401);
/** 404: no such path, no such recipe, or none that this user may see. */
export const NotFound = createError("NOT_FOUND", "not found", 404);
/** 422: JSON, but of another shape. */
export const Unprocessable = createError("UNPROCESSABLE", "unprocessable content", 422);
/** 503: the database cannot be reached, is slow or refused a statement. */
export const Unavailable = createError("UNAVAILABLE", "database unavailable", 503);

const MESSAGES: Readonly<Record<number, string>> = {
  400: "bad request",
  401: "unauthorized",
  404: "not found",
  413: "payload too large",
  422: "unprocessable content",
  503: "database unavailable",
};

/** The status of an error, whether it is ours, of the schema validator or of Fastify. */
function statusOf(error: FastifyError): number {
  if (error.validation) return 422;
  const status = error.statusCode ?? 500;
  if (status in MESSAGES) return status;
  return status < 500 ? 400 : 500;
}

/** Clients learn the status and a fixed text; the cause goes to the log. */
export function errorHandler(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const status = statusOf(error);
  if (status === 503) request.log.warn(error);
  if (status === 500) request.log.error(error);
  void reply.code(status).send({ error: MESSAGES[status] ?? "internal error" });
}

/** A path that no route has. */
export function notFoundHandler(_request: FastifyRequest, reply: FastifyReply): void {
  void reply.code(404).send({ error: MESSAGES[404] });
}

/** A path whose percent-encoding is no UTF-8. Only one with an id in it could have been a path of ours. */
export function badUrlHandler(_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const [path = ""] = request.url.split("?", 1);
  const status = /^\/api\/v1\/recipes\/[^/]+(\/notes)?$/.test(path) ? 400 : 404;
  // No hook runs for such a request, so what Fastify adds to the type of JSON would stay.
  const body = JSON.stringify({ error: MESSAGES[status] });
  void reply.code(status).type("application/json").serializer(String).send(body);
}

/** The answer to the newest request of each connection. */
const newest = new WeakMap<Socket, ServerResponse>();

/** Remembers what a refusal must not overtake: Node.js writes the answers to pipelined requests in their order. */
export function noteAnswers(server: Server): void {
  server.prependListener("request", (request, response) => newest.set(request.socket, response));
}

/**
 * A request that the HTTP parser gave up: there is no request object, only the socket.
 * https://nodejs.org/docs/latest-v24.x/api/http.html#event-clienterror
 */
export function clientErrorHandler(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const status =
    error.code === "HPE_HEADER_OVERFLOW" ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
  const answer = newest.get(socket);
  if (!answer || answer.writableFinished) {
    refuse(socket, status);
  } else if (answer.req.complete) {
    answer.once("finish", () => {
      refuse(socket, status);
    });
  } else if (answer.socket) {
    // In the body of that request, whose turn it is.
    refuse(socket, status);
  } else {
    // In the body of a request that others are before: Node.js keeps its answer for its turn.
    answer.writeHead(status, { connection: "close", "content-type": "application/json" });
    answer.end(refusal(status));
  }
}

const refusal = (status: number): string => JSON.stringify({ error: STATUS_CODES[status]?.toLowerCase() });

/** The last answer of a connection. */
function refuse(socket: Socket, status: number): void {
  if (!socket.writable) return;
  const body = refusal(status);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  // What the client goes on sending is read and thrown away, but not for long.
  socket.resume();
  socket.setTimeout(1000, () => socket.destroy());
}
