import assert from "node:assert/strict";
import { test } from "node:test";

import { ConfigError, loadConfig } from "../src/config.ts";

test("empty and missing variables mean the defaults", () => {
  const config = loadConfig({ WORKERS: "", PORT: "", HOME: "/root" });
  assert.equal(config.port, 8080);
  assert.ok(config.workers >= 1);
  assert.deepEqual(
    [config.poolMax, config.persistent, config.reset, config.timeZone, config.offload],
    [20, true, false, "connection", "none"],
  );
});

test("values are converted", () => {
  const config = loadConfig({ DB_POOL_MAX: "5", DB_PREPARE: "0", OFFLOAD: "parse+sum", LOG_LEVEL: "debug" });
  assert.deepEqual(
    [config.poolMax, config.prepare, config.offload, config.logLevel],
    [5, false, "parse+sum", "debug"],
  );
});

test("a bad value is one line that names the variable", () => {
  for (const [name, value] of [
    ["PORT", "http"],
    ["PORT", "0"],
    ["PORT", "65536"],
    ["WORKERS", "many"],
    ["WORKERS", "0"],
    ["THREADS", "1.5"],
    ["DB_POOL_MAX", "-1"],
    ["DB_RESET", "yes"],
    ["DB_TIME_ZONE", "UTC"],
    ["LOG_LEVEL", "loud"],
    ["OFFLOAD", "maybe"],
    ["DATABASE_URL", "nonsense"],
    ["DATABASE_URL", "postgresql://app:secret@[db/tandem"],
  ] as const) {
    assert.throws(
      () => loadConfig({ [name]: value }),
      (error: unknown) =>
        error instanceof ConfigError &&
        error.message.startsWith(`${name} must`) &&
        !/\n|secret/.test(error.message),
      `${name}=${value}`,
    );
  }
});
