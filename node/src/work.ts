/** The CPU work of the scenario `work`, as functions that run on the event loop or in a thread. */

/** Where a thread finds these functions. */
export const filename = import.meta.filename;

/** What only a fraction or an exponent has, in an array whose items are all numbers: to JSON.parse `1e0` is 1. */
const NOT_DIGITS = [".", "e", "E"];

/** The numbers of a JSON array of integers of 32 bits. SyntaxError: no JSON; RangeError: of another shape. */
export function integers(body: Uint8Array): Int32Array<ArrayBuffer> {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  const items: unknown = JSON.parse(text);
  if (!Array.isArray(items)) throw new RangeError();
  const numbers = new Int32Array(items.length);
  for (let index = 0; index < numbers.length; index++) {
    const item: unknown = items[index];
    // An element of an Int32Array is what `| 0` makes of a number: only an integer of 32 bits is unchanged.
    if (typeof item !== "number" || (item | 0) !== item) throw new RangeError();
    numbers[index] = item;
  }
  if (NOT_DIGITS.some((character) => text.includes(character))) throw new RangeError();
  return numbers;
}

/** Exact: 524,288 items of 32 bits at the most stay far below 2^53. */
export function sum(numbers: Int32Array): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

export const parseAndSum = (body: Uint8Array): number => sum(integers(body));
