/** One process: its plugin tree, the listening socket and the orderly end. */

import closeWithGrace from "close-with-grace";
import Fastify, { type FastifyInstance, type FastifyServerOptions, LogController } from "fastify";
import { pino } from "pino";

import type { Config } from "./config.ts";
import { Database } from "./database.ts";
import { errorHandler, NotFound } from "./errors.ts";
import { isRecipeId } from "./models.ts";
import { createAdder } from "./offload.ts";
import { Repository } from "./repository.ts";
import { routes } from "./routes.ts";

/** The longest request sleeps for 10 s. */
const STOP_MS = 11_000;

/** The application without its routes. */
export function createApp(options: FastifyServerOptions): FastifyInstance {
  const app = Fastify({
    ...options,
    // Two lines for each request otherwise; ACCESS_LOG asks for one.
    logController: new LogController({ disableRequestLogging: true }),
    // A request that came in before the end is answered as any other.
    return503OnClosing: false,
    // Bodies are checked, not changed.
    ajv: {
      customOptions: {
        coerceTypes: false,
        removeAdditional: false,
        formats: { "recipe-id": isRecipeId },
      },
    },
    frameworkErrors: errorHandler,
  });
  app.setErrorHandler(errorHandler);
  app.setNotFoundHandler(() => Promise.reject(new NotFound()));
  // A body is JSON, whatever its header says.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, app.getDefaultJsonParser("error", "error"));
  return app;
}

/** Serves until a signal. */
export async function serve(config: Config): Promise<void> {
  const app = createApp({ logger: { level: config.LOG_LEVEL, stream: process.stderr } });
  const database = new Database(config, app.log);
  const adder = createAdder(config);
  if (config.ACCESS_LOG === "1") logAccess(app);
  await routes(app, new Repository(database, config.DB_TIME_ZONE, config.DB_PIPELINE), adder);
  app.addHook("preClose", (done) => {
    // Fastify closes connections that are idle now; a request under way leaves one more.
    setInterval(() => {
      app.server.closeIdleConnections();
    }, 100).unref();
    done();
  });
  app.addHook("onClose", async () => {
    await Promise.all([adder.close(), database.close()]);
  });
  closeWithGrace({ delay: STOP_MS, logger: app.log }, async ({ err }) => {
    if (err) app.log.fatal(err);
    await app.close();
  });
  await app.listen({ host: "0.0.0.0", port: config.PORT, backlog: 4096 });
}

function logAccess(app: FastifyInstance): void {
  const log = pino({ base: null }, pino.destination(1));
  app.addHook("onResponse", ({ method, url }, { statusCode: status, elapsedTime: ms }, done) => {
    log.info({ method, url, status, ms });
    done();
  });
}
