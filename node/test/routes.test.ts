import assert from "node:assert/strict";
import { test } from "node:test";

import type { InjectOptions } from "fastify";

import { Unavailable } from "../src/errors.ts";
import { build, COOKIE } from "./helper.ts";

const NOTES = "/api/v1/recipes/1/notes";

test("health, index and work have their types", async (t) => {
  const app = await build(t);
  const health = await app.inject("/healthz");
  assert.deepEqual([health.body, health.headers["content-type"]], ['{"status":"ok"}', "application/json"]);
  const index = await app.inject("/index.html");
  assert.equal(index.headers["content-type"], "text/html; charset=utf-8");
  const work = await app.inject({ method: "POST", url: "/work?delay_ms=1", payload: "[1,2]" });
  assert.deepEqual([work.body, work.headers["content-type"]], ["Sum: 3", "text/plain; charset=utf-8"]);
});

test("HEAD is GET without the body", async (t) => {
  const app = await build(t);
  const answer = await app.inject({ method: "HEAD", url: "/healthz" });
  assert.deepEqual([answer.statusCode, answer.body, answer.headers["content-length"]], [200, "", "15"]);
});

test("errors are JSON and checked in order", async (t) => {
  const app = await build(t);
  const huge = "[" + " ".repeat(1_048_576);
  for (const [method, url, headers, payload, status, error] of [
    ["GET", "/healthz/", {}, "", 404, "not found"],
    ["GET", "/HEALTHZ", {}, "", 404, "not found"],
    ["GET", "//", {}, "", 404, "not found"],
    ["GET", "/%FF", {}, "", 404, "not found"],
    ["POST", "/user/", {}, "", 404, "not found"],
    ["POST", "/api/v1/recipes/x", {}, huge, 405, "method not allowed"],
    ["GET", "/api/v1/recipes/x", {}, "", 400, "bad request"],
    ["GET", "/api/v1/recipes/%FF", COOKIE, "", 400, "bad request"],
    ["GET", `/api/v1/recipes/${"9".repeat(400)}`, COOKIE, "", 400, "bad request"],
    ["GET", "/api/v1/recipes/2147483648", COOKIE, "", 400, "bad request"],
    ["GET", "/api/v1/recipes/1", {}, "", 401, "unauthorized"],
    ["GET", "/api/v1/recipes/1", { cookie: "sessionid=%00" }, "", 401, "unauthorized"],
    ["GET", "/api/v1/dashboard", {}, "", 401, "unauthorized"],
    ["POST", "/api/v1/recipes/0/notes", {}, huge, 400, "bad request"],
    ["POST", NOTES, {}, huge, 401, "unauthorized"],
    ["POST", NOTES, COOKIE, huge, 413, "payload too large"],
    ["POST", "/work?delay_ms=", {}, huge, 400, "bad request"],
    ["POST", "/work?delay_ms=10001", {}, "[]", 400, "bad request"],
    ["POST", "/work?delay_ms=1&delay_ms=2", {}, "[]", 400, "bad request"],
    ["POST", "/work", {}, huge, 413, "payload too large"],
    ["POST", "/work", {}, "", 400, "bad request"],
    ["POST", "/work", { "content-type": ";" }, "{}", 422, "unprocessable content"],
  ] as const) {
    const answer = await app.inject({ method, url, headers, ...(payload && { payload }) } as InjectOptions);
    const what = `${method} ${url.slice(0, 60)}`;
    assert.equal(answer.statusCode, status, what);
    assert.equal(answer.body, JSON.stringify({ error }), what);
    assert.equal(answer.headers["content-type"], "application/json", what);
  }
});

test("other methods are refused with those that work", async (t) => {
  const app = await build(t);
  for (const [method, url, allow] of [
    ["POST", "/", "GET, HEAD"],
    ["OPTIONS", "/api/v1/dashboard", "GET, HEAD"],
    ["PROPFIND", "/api/v1/recipes/1", "GET, HEAD"],
    ["GET", NOTES, "POST"],
    ["HEAD", "/work", "POST"],
  ] as const) {
    const answer = await app.inject({ method: method as "GET", url });
    assert.deepEqual([answer.statusCode, answer.headers.allow], [405, allow], `${method} ${url}`);
  }
});

test("a note is exactly one text", async (t) => {
  const app = await build(t, { addNote: () => Promise.resolve(9) });
  const send = (payload: string | Buffer) =>
    app.inject({ method: "POST", url: NOTES, headers: COOKIE, payload: payload });
  for (const text of ["x", "🍲".repeat(10_000), "\n", "\u{10ffff}"]) {
    const answer = await send(JSON.stringify({ text }));
    assert.deepEqual([answer.statusCode, answer.body], [201, '{"id":9}']);
  }
  for (const payload of ["{", '{"text":"x"}}', Buffer.from('{"text":"\xff"}', "latin1"), "\ufeff{}"]) {
    assert.equal((await send(payload)).statusCode, 400, String(payload));
  }
  const others = ["null", "[]", "{}", '{"text":1}', '{"text":""}', '{"text":"x","y":1}', '{"text":["x"]}'];
  const characters = ['{"text":"\\u0000"}', '{"text":"\\ud800"}', '{"text":"\\udc00\\ud800"}'];
  const long = JSON.stringify({ text: "🍲".repeat(10_001) });
  for (const payload of [...others, ...characters, long, '{"text":"x","__proto__":{}}']) {
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
  assert.deepEqual([bug.statusCode, bug.body], [500, '{"error":"internal error"}']);
});
