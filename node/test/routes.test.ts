import assert from "node:assert/strict";
import { test } from "node:test";

import type { InjectOptions } from "fastify";

import { Unavailable } from "../src/errors.ts";
import { build, COOKIE } from "./helper.ts";

const NOTES = "/api/v1/recipes/1/notes";
const HUGE = "[" + " ".repeat(1_048_576);

test("health, index and work have their bodies and types", async (t) => {
  const app = await build(t);
  for (const [method, url, payload, type, body] of [
    ["GET", "/healthz", undefined, "application/json", '{"status":"ok"}'],
    ["HEAD", "/healthz", undefined, "application/json", ""],
    ["GET", "/index.html", undefined, "text/html", undefined],
    ["POST", "/work?delay_ms=1", "[1,2]", "text/plain", "Sum: 3"],
  ] as const) {
    const answer = await app.inject({ method, url, ...(payload && { payload }) });
    assert.equal(answer.headers["content-type"], `${type}; charset=utf-8`);
    if (body !== undefined) assert.equal(answer.body, body);
  }
});

test("errors are JSON of one form", async (t) => {
  const app = await build(t);
  for (const [method, url, headers, payload, status, error] of [
    ["GET", "/healthz/", {}, "", 404, "not found"],
    ["GET", "/api/v1/recipes/%FF", COOKIE, "", 400, "bad request"],
    ["POST", "/api/v1/recipes/x", {}, HUGE, 405, "method not allowed"],
    ["DELETE", "/work", {}, "", 405, "method not allowed"],
    ["HEAD", NOTES, COOKIE, "", 405, undefined],
    ["GET", "/api/v1/recipes/x", {}, "", 400, "bad request"],
    ["GET", "/api/v1/recipes/01", COOKIE, "", 400, "bad request"],
    ["GET", "/api/v1/recipes/2147483648", COOKIE, "", 400, "bad request"],
    ["GET", "/api/v1/recipes/1", {}, "", 401, "unauthorized"],
    ["GET", "/api/v1/recipes/1", { cookie: "sessionid=%00" }, "", 401, "unauthorized"],
    ["GET", "/api/v1/dashboard", {}, "", 401, "unauthorized"],
    ["POST", NOTES, COOKIE, HUGE, 413, "payload too large"],
    ["POST", "/work?delay_ms=", {}, "[]", 400, "bad request"],
    ["POST", "/work?delay_ms=10001", {}, "[]", 400, "bad request"],
    ["POST", "/work?delay_ms=1&delay_ms=2", {}, "[]", 400, "bad request"],
    ["POST", "/work", {}, HUGE, 413, "payload too large"],
    ["POST", "/work", {}, "", 400, "bad request"],
    ["POST", "/work", { "content-type": "text/html" }, "{}", 422, "unprocessable content"],
  ] as const) {
    const answer = await app.inject({ method, url, headers, ...(payload && { payload }) } as InjectOptions);
    const what = `${method} ${url}`;
    assert.equal(answer.statusCode, status, what);
    if (error) assert.equal(answer.body, JSON.stringify({ error }), what);
    assert.equal(answer.headers["content-type"], "application/json; charset=utf-8", what);
  }
});

test("a note is exactly one text", async (t) => {
  const app = await build(t, { addNote: () => Promise.resolve(9) });
  const send = (payload: string) =>
    app.inject({
      method: "POST",
      url: NOTES,
      headers: { ...COOKIE, "content-type": "text/plain" },
      ...(payload && { payload }),
    });
  for (const text of ["x", "🍲".repeat(10_000), "\n", "\u{10ffff}"]) {
    const answer = await send(JSON.stringify({ text }));
    assert.deepEqual([answer.statusCode, answer.body], [201, '{"id":9}']);
  }
  for (const payload of ["", "{", '{"text":"x"}}']) {
    assert.equal((await send(payload)).statusCode, 400, payload);
  }
  const others = ["null", "[]", "{}", '{"text":1}', '{"text":""}', '{"text":"x","y":1}', '{"text":["x"]}'];
  const characters = ['{"text":"\\u0000"}', '{"text":"\\ud800"}', '{"text":"\\udc00\\ud800"}'];
  const long = JSON.stringify({ text: "🍲".repeat(10_001) });
  for (const payload of [...others, ...characters, long]) {
    assert.equal((await send(payload)).statusCode, 422, payload.slice(0, 40));
  }
});

test("a database that is away is 503, and a bug is told to nobody but the log", async (t) => {
  const app = await build(t, {
    dashboard: () => Promise.reject(new Unavailable()),
    randomRecipe: () => Promise.reject(new TypeError("secret")),
  });
  const away = await app.inject({ url: "/api/v1/dashboard", headers: COOKIE });
  assert.deepEqual([away.statusCode, away.body], [503, '{"error":"database unavailable"}']);
  const bug = await app.inject({ url: "/api/v1/recipes", headers: COOKIE });
  assert.deepEqual([bug.statusCode, bug.body], [500, '{"error":"internal server error"}']);
});
