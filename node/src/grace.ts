/** The orderly end of a process. */

import closeWithGrace from "close-with-grace";
import type { FastifyBaseLogger } from "fastify";

/** Runs `stop` at the first signal or after an uncaught error, for `delay` ms at the most, then exits. */
export function endWithGrace(delay: number, log: FastifyBaseLogger, stop: () => Promise<void>): void {
  const signals = ["SIGTERM", "SIGINT"] as const;
  const end = closeWithGrace({ delay, logger: log, skip: [...signals] }, async ({ err }) => {
    if (err) log.fatal(err);
    await stop();
  });
  // By itself the library exits at the second signal, and requests under way would be lost.
  let ending = false;
  for (const signal of signals) {
    process.on(signal, () => {
      if (!ending) end.close();
      ending = true;
    });
  }
}
