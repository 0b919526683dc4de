/** Which CPU work leaves the event loop for a thread. https://piscinajs.dev */

import { Piscina } from "piscina";

import type { Config } from "./config.ts";
import { BadRequest, Unprocessable } from "./errors.ts";
import { filename, integers, parseAndSum, sum } from "./work.ts";

/** Adds the numbers of a JSON array, wherever OFFLOAD says. */
export interface Adder {
  add(body: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/** The adder for this setting of OFFLOAD, with THREADS threads if it needs any. */
export function createAdder({ OFFLOAD, THREADS }: Pick<Config, "OFFLOAD" | "THREADS">): Adder {
  const threads =
    OFFLOAD === "none" ? undefined : new Piscina({ filename, minThreads: THREADS, maxThreads: THREADS });
  const total = (body: Uint8Array): unknown => {
    if (!threads) return parseAndSum(body);
    if (OFFLOAD === "parse+sum") return threads.run(body, { name: parseAndSum.name });
    // Moved, not copied: a structured clone of the array would cost more than the sum.
    const numbers = integers(body);
    return threads.run(numbers, { name: sum.name, transferList: [numbers.buffer] });
  };
  return {
    async add(body) {
      try {
        return (await total(body)) as number;
      } catch (error) {
        // JavaScript's own errors pass the border between threads with their class.
        if (error instanceof SyntaxError) throw new BadRequest();
        if (error instanceof RangeError) throw new Unprocessable();
        throw error;
      }
    },
    close: async () => threads?.destroy(),
  };
}
