import assert from "node:assert/strict";
import { test } from "node:test";

import pg from "pg";

import { Connection } from "../src/database.ts";

/** A connection whose statements end with this error. */
function failing(error: Error): Connection {
  const client = { query: () => Promise.reject(error) };
  return new Connection(client as unknown as pg.PoolClient, true);
}

function sqlError(code: string): Error {
  return Object.assign(new pg.DatabaseError("as the server said", 0, "error"), { code });
}

test("a database that is away or slow is 503, and the connection is not used again", async () => {
  for (const error of [new Error("Query read timeout"), sqlError("57P01"), sqlError("57014")]) {
    const connection = failing(error);
    await assert.rejects(connection.query("session", "key"), { statusCode: 503, cause: error });
    assert.ok(connection.broken);
  }
});

test("a bug stays what it is, which is 500", async () => {
  for (const error of [new TypeError(), sqlError("42601"), sqlError("42P01"), sqlError("22021")]) {
    await assert.rejects(failing(error).query("session", "key"), error);
  }
});
