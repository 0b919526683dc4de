import assert from "node:assert/strict";
import { test } from "node:test";

import { pauseMs, poolShares } from "../src/supervisor.ts";

test("the shares of the pool are its sum, and the remainder goes to the first workers", () => {
  assert.deepEqual(poolShares(20, 3), [7, 7, 6]);
  assert.deepEqual(poolShares(5, 2), [3, 2]);
  assert.deepEqual(poolShares(4, 4), [1, 1, 1, 1]);
});

test("a worker that dies at once is replaced after a pause, one that lived at once", () => {
  assert.deepEqual([0, 50, 1000, 60_000].map(pauseMs), [1000, 950, 0, 0]);
});
