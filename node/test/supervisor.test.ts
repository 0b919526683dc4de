import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import { poolShares } from "../src/supervisor.ts";

test("the shares of the pool are its sum, and the remainder goes to the first workers", () => {
  assert.deepEqual(poolShares(20, 3), [7, 7, 6]);
  assert.deepEqual(poolShares(5, 2), [3, 2]);
  assert.deepEqual(poolShares(4, 4), [1, 1, 1, 1]);
});

test("workers that die at once are replaced once a second", async () => {
  const parent = spawn(process.execPath, [new URL("dying.ts", import.meta.url).pathname]);
  setTimeout(() => parent.kill(), 2500);
  const ends = (await text(parent.stderr)).match(/worker \d+ ended with 3/g)?.length ?? 0;
  assert.ok(ends >= 2 && ends <= 6, `${ends} ends of two workers in 2.5 s`);
});
