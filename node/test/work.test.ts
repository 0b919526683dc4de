import assert from "node:assert/strict";
import { test } from "node:test";

import { BadRequest, Unprocessable } from "../src/errors.ts";
import { createAdder } from "../src/offload.ts";
import { integers, parseAndSum, sum } from "../src/work.ts";

const bytes = (text: string) => Buffer.from(text);

test("integers of 32 bits are added exactly", () => {
  for (const [text, total] of [
    ["[]", 0],
    [" [1, -2,\n3] ", 2],
    ["[2147483647,2147483647,-2147483648,-0]", 2147483646],
  ] as const) {
    assert.equal(sum(integers(bytes(text))), total, text);
  }
  assert.equal(sum(new Int32Array(500_000).fill(-(2 ** 31))), -500_000 * 2 ** 31);
});

test("what is not JSON is told from JSON of another shape", () => {
  for (const text of ["", "[1,]", "[01]", "[1] x", "NaN", "\ufeff[1]", '"', "[".repeat(100_000)]) {
    assert.throws(() => integers(bytes(text)), BadRequest, text.slice(0, 20));
  }
  assert.throws(() => integers(Uint8Array.of(0x5b, 0x22, 0xff, 0x22, 0x5d)), BadRequest);
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
    assert.throws(() => integers(bytes(text)), Unprocessable, text.slice(0, 20));
  }
});

test("every setting of OFFLOAD gives the same answers", async (t) => {
  for (const offload of ["none", "sum", "parse+sum"] as const) {
    const adder = createAdder({ offload, threads: 1 });
    t.after(() => adder.close());
    assert.equal(await adder.add(bytes("[1,2,3]")), 6, offload);
    await assert.rejects(async () => adder.add(bytes("[1")), { statusCode: 400 }, offload);
    await assert.rejects(async () => adder.add(bytes('["1"]')), { statusCode: 422 }, offload);
  }
});

test("a thread tells an error by its status", () => {
  assert.deepEqual(parseAndSum(bytes("[1]")), { total: 1 });
  assert.deepEqual(parseAndSum(bytes("[")), { status: 400 });
  assert.deepEqual(parseAndSum(bytes("{}")), { status: 422 });
});
