import assert from "node:assert/strict";
import { test } from "node:test";

import { loadConfig } from "../src/config.ts";

test("empty and missing variables mean the defaults", () => {
  const config = loadConfig({ WORKERS: "", PORT: "", HOME: "/root" });
  assert.ok(config.WORKERS >= 1);
  assert.deepEqual([config.PORT, config.DB_POOL_MAX, config.DB_RESET], [8080, 20, "0"]);
});

test("values are converted", () => {
  const config = loadConfig({ DB_POOL_MAX: "5", DB_PREPARE: "0", OFFLOAD: "parse+sum" });
  assert.deepEqual([config.DB_POOL_MAX, config.DB_PREPARE, config.OFFLOAD], [5, "0", "parse+sum"]);
});

test("a bad value is refused by the name of its variable", () => {
  for (const [name, value] of [
    ["PORT", "http"],
    ["PORT", "65536"],
    ["WORKERS", "0"],
    ["THREADS", "1.5"],
    ["DB_POOL_MAX", "-1"],
    ["DB_RESET", "yes"],
    ["OFFLOAD", "maybe"],
    ["DATABASE_URL", "secret"],
  ] as const) {
    assert.throws(
      () => loadConfig({ [name]: value }),
      (error: Error) => error.message.startsWith(`env/${name} must`) && !error.message.includes("secret"),
      `${name}=${value}`,
    );
  }
});
