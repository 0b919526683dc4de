/** One process: its plugin tree, the listening socket and the orderly end. */

import { setTimeout as sleep } from "node:timers/promises";

import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import { type Logger, pino } from "pino";

import type { Config } from "./config.ts";
import { Database } from "./database.ts";
import { badUrlHandler, clientErrorHandler, errorHandler, notFoundHandler, noteAnswers } from "./errors.ts";
import { endWithGrace } from "./grace.ts";
import { type Adder, createAdder } from "./offload.ts";
import { Repository } from "./repository.ts";
import { routes } from "./routes.ts";

const MAX_BODY = 1_048_576;
const MAX_HEADER = 16 * 1024;
const KEEP_ALIVE_MS = 75_000;
const REQUEST_MS = 120_000;
/** The longest request sleeps for 10 s; a client that never ends its request must not keep the process. */
const DRAIN_MS = 10_200;
/** For that long connections are still served, each with a last answer that says so. */
const LAST_ANSWER_MS = 300;

/** What a server needs that tests replace. */
export interface Services {
  readonly repository: Repository;
  readonly adder: Adder;
  readonly log: FastifyBaseLogger;
  /** One line for each request, if there is one. */
  readonly accessLog?: Logger;
}

/** The application without a socket. */
export async function buildServer(services: Services): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: services.log,
    // Two lines for each request otherwise; ACCESS_LOG asks for one.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: MAX_BODY,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_MS,
    // Before its first request a connection may idle as long as between two.
    http: { maxHeaderSize: MAX_HEADER, headersTimeout: KEEP_ALIVE_MS },
    // A request that came in before the end is answered as any other.
    return503OnClosing: false,
    // An id may be long and wrong; the limit protects regular expressions in routes, of which there are none.
    routerOptions: { maxParamLength: MAX_HEADER },
    // The contract's bodies are checked, not changed.
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false } },
    clientErrorHandler,
    frameworkErrors: badUrlHandler,
  });
  noteAnswers(app.server);
  app.setErrorHandler(errorHandler);
  app.setNotFoundHandler(notFoundHandler);
  // JSON is UTF-8 and has no such parameter (RFC 8259, 11), but Fastify adds one.
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (reply.getHeader("content-type") === "application/json; charset=utf-8") {
      reply.header("content-type", "application/json");
    }
    done(null, payload);
  });
  const { accessLog } = services;
  if (accessLog) {
    app.addHook("onResponse", ({ method, url }, reply, done) => {
      accessLog.info({
        method,
        url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 1000) / 1000,
      });
      done();
    });
  }
  await routes(app, services.repository, services.adder);
  return app;
}

/** Serves until a signal. */
export async function serve(config: Config): Promise<void> {
  const log = pino({ level: config.logLevel }, pino.destination(2));
  const database = new Database(config, log);
  const adder = createAdder(config);
  const app = await buildServer({
    repository: new Repository(database, config.timeZone),
    adder,
    log,
    ...(config.accessLog ? { accessLog: pino({ base: null }, pino.destination(1)) } : {}),
  });
  app.addHook("preClose", () => drain(app));
  app.addHook("onClose", async () => {
    await Promise.all([adder.close(), database.close()]);
  });
  endWithGrace(DRAIN_MS + 800, log, () => app.close());
  await app.listen({ host: "0.0.0.0", port: config.port, backlog: 4096 });
}

/** Lets clients that are busy end their connections by themselves, then closes each that is idle, in the end all. */
async function drain(app: FastifyInstance): Promise<void> {
  app.server.prependListener("request", (_request, response) => {
    response.shouldKeepAlive = false;
  });
  await sleep(LAST_ANSWER_MS);
  // Fastify closes those that are idle now; the answer to a request under way leaves one more.
  setInterval(() => {
    app.server.closeIdleConnections();
  }, 100).unref();
  setTimeout(() => {
    app.server.closeAllConnections();
  }, DRAIN_MS).unref();
}
