/** Which CPU work leaves the event loop for a thread. */

import { Piscina } from "piscina";

import type { Config } from "./config.ts";
import { BadRequest, Unprocessable } from "./errors.ts";
import { filename, integers, parseAndSum, sum } from "./work.ts";

/** Adds the numbers of a JSON array, wherever OFFLOAD says. */
export interface Adder {
  add(body: Uint8Array): number | Promise<number>;
  close(): Promise<void>;
}

/** The adder for this setting of OFFLOAD, with THREADS threads if it needs any. */
export function createAdder(config: Pick<Config, "offload" | "threads">): Adder {
  if (config.offload === "none") {
    return { add: (body) => sum(integers(body)), close: () => Promise.resolve() };
  }
  const threads = new Piscina({ filename, minThreads: config.threads, maxThreads: config.threads });
  const close = () => threads.destroy();
  if (config.offload === "sum") {
    return {
      async add(body) {
        // Moved, not copied: a structured clone of the array would cost more than the sum.
        const numbers = integers(body);
        const total: unknown = await threads.run(numbers, { name: sum.name, transferList: [numbers.buffer] });
        return total as number;
      },
      close,
    };
  }
  return {
    async add(body) {
      // A small body lies in a buffer that others use, too; what is moved has to be our own.
      const bytes = new Uint8Array(body);
      const outcome = (await threads.run(bytes, {
        name: parseAndSum.name,
        transferList: [bytes.buffer],
      })) as ReturnType<typeof parseAndSum>;
      if ("total" in outcome) return outcome.total;
      throw outcome.status === 400 ? new BadRequest() : new Unprocessable();
    },
    close,
  };
}
