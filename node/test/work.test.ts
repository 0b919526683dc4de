import assert from "node:assert/strict";
import { test } from "node:test";

import { createAdder } from "../src/offload.ts";
import { parseAndSum, sum } from "../src/work.ts";

const bytes = (text: string) => Buffer.from(text);

test("integers of 32 bits are added exactly", () => {
  for (const [text, total] of [
    ["[]", 0],
    [" [1, -2,\n3] ", 2],
    ["[2147483647,2147483647,-2147483648,-0]", 2147483646],
  ] as const) {
    assert.equal(parseAndSum(bytes(text)), total, text);
  }
  assert.equal(sum(new Int32Array(500_000).fill(-(2 ** 31))), -500_000 * 2 ** 31);
});

test("what is not JSON is told from JSON of another shape", () => {
  for (const text of ["", "[1,]", "[01]", "[1] x", "NaN", "\ufeff[1]", '"', "[".repeat(100_000)]) {
    assert.throws(() => parseAndSum(bytes(text)), SyntaxError, text.slice(0, 20));
  }
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  const others = ["null", "1", "{}", '{"__proto__":[]}', "[null]", "[true]", '["1"]', "[[1]]", "[{}]", deep];
  for (const text of [
    ...others,
    "[1e0]",
    "[1.0]",
    "[10E-1]",
    "[1.5]",
    "[2147483648]",
    "[-2147483649]",
    "[1e400]",
  ]) {
    assert.throws(() => parseAndSum(bytes(text)), RangeError, text.slice(0, 20));
  }
});

test("every setting of OFFLOAD gives the same answers", async (t) => {
  for (const OFFLOAD of ["none", "sum", "parse+sum"] as const) {
    const adder = createAdder({ OFFLOAD, THREADS: 1 });
    t.after(() => adder.close());
    assert.equal(await adder.add(bytes("[1,2,3]")), 6, OFFLOAD);
    await assert.rejects(async () => adder.add(bytes("[1")), { statusCode: 400 }, OFFLOAD);
    await assert.rejects(async () => adder.add(bytes('["1"]')), { statusCode: 422 }, OFFLOAD);
  }
});
