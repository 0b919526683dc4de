/** The parent of several workers: starts, replaces and stops them. https://nodejs.org/docs/latest-v24.x/api/cluster.html */

import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";

import closeWithGrace from "close-with-grace";
import { pino } from "pino";

import type { Config } from "./config.ts";

/** A little more than a worker takes at the most. */
const STOP_MS = 11_500;
/** Between two starts: workers that die at once would burn a core. */
const START_MS = 1000;

/** The connections of the container, one share for each worker; the remainder goes to the first ones. */
export function poolShares(poolMax: number, workers: number): number[] {
  return Array.from({ length: workers }, (_, index) => Math.floor((poolMax - index - 1) / workers) + 1);
}

/** How long to wait before a worker that lived so long is replaced. */
export function pauseMs(livedMs: number): number {
  return Math.max(0, START_MS - livedMs);
}

/** Starts the workers and keeps their number. */
export function supervise(config: Config): void {
  const log = pino({ level: config.LOG_LEVEL }, pino.destination(2));
  // A worker without a connection would answer 503 for ever, and DB_POOL_MAX is a limit.
  const workers = Math.min(config.WORKERS, config.DB_POOL_MAX);
  if (workers < config.WORKERS) log.warn(`WORKERS is ${workers}, as DB_POOL_MAX is`);
  let stopping = false;

  const start = (share: number): void => {
    if (stopping) return;
    const began = performance.now();
    let listening = false;
    const worker = cluster.fork({ DB_POOL_MAX: String(share) });
    worker.once("listening", () => (listening = true));
    worker.once("exit", (code, signal) => {
      if (stopping) return;
      log.error(`worker ${worker.process.pid} ended with ${signal || code}`);
      // What fails before it listens, for example because the port is taken, would fail again.
      if (!listening) process.exit(1);
      setTimeout(start, pauseMs(performance.now() - began), share);
    });
  };
  for (const share of poolShares(config.DB_POOL_MAX, workers)) start(share);

  closeWithGrace({ delay: STOP_MS, logger: log }, async ({ err }) => {
    if (err) log.fatal(err);
    stopping = true;
    const running = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(running.map(stop));
  });
}

async function stop(worker: Worker): Promise<void> {
  const exited = once(worker, "exit");
  worker.process.kill("SIGTERM");
  await exited;
}
