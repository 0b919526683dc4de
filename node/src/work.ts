/** The CPU work of the scenario `work`, as functions that run on the event loop or in a thread. */

import { isUtf8 } from "node:buffer";

import { BadRequest, Unprocessable } from "./errors.ts";

/** Where a thread finds these functions. */
export const filename = import.meta.filename;

/** The value of a JSON text in UTF-8. `JSON.parse` neither recurses nor minds `__proto__`. */
export function parseJson(body: Uint8Array): unknown {
  if (!isUtf8(body)) throw new BadRequest();
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
  } catch {
    throw new BadRequest();
  }
}

/** What only a fraction or an exponent has, in an array whose items are all numbers. */
const NOT_DIGITS = [".", "e", "E"];

/** The numbers of a JSON array of integers of 32 bits, in the form that a thread takes without a copy. */
export function integers(body: Uint8Array): Int32Array<ArrayBuffer> {
  const items = parseJson(body);
  if (!Array.isArray(items)) throw new Unprocessable();
  const numbers = new Int32Array(items.length);
  for (let index = 0; index < numbers.length; index++) {
    const item: unknown = items[index];
    // An element of an Int32Array is what `| 0` makes of a number: only an integer of 32 bits is unchanged.
    if (typeof item !== "number" || (item | 0) !== item) throw new Unprocessable();
    numbers[index] = item;
  }
  // To JSON.parse `1e0` is 1. A Buffer looks for a byte as fast as memory can be read.
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (NOT_DIGITS.some((character) => text.includes(character))) throw new Unprocessable();
  return numbers;
}

/** Exact: 524,288 items of 32 bits at the most stay far below 2^53. */
export function sum(numbers: Int32Array): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

/** Both steps. An error crosses the border between threads without its class: its status goes instead. */
export function parseAndSum(body: Uint8Array): { total: number } | { status: number } {
  try {
    return { total: sum(integers(body)) };
  } catch (error) {
    if (error instanceof BadRequest || error instanceof Unprocessable) return { status: error.statusCode };
    throw error;
  }
}
