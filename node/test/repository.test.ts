import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import type { Database } from "../src/database.ts";
import { type Recipe, time } from "../src/models.ts";
import { CONTRACT } from "../src/queries.ts";
import { Repository } from "../src/repository.ts";
import { build, COOKIE } from "./helper.ts";

const GOLDEN = readFileSync(new URL("golden/recipe-1.json", CONTRACT), "utf8");
const MOMENT = "2024-06-01T12:00:00Z";

/** Answers statements with rows and notes their names. */
function fake(
  rows: Readonly<Record<string, readonly object[]>>,
  timeZone: "connection" | "request" = "connection",
  pipeline: "0" | "1" = "0",
) {
  const log: string[] = [];
  const lent: object[] = [];
  const connection = {
    query(name: string) {
      log.push(name);
      return Promise.resolve(rows[name] ?? []);
    },
    command(text: string) {
      log.push(text);
      return Promise.resolve();
    },
    async transaction<T>(work: () => Promise<T>) {
      log.push("begin");
      const result = await work();
      log.push("commit");
      return result;
    },
  };
  const database = {
    use<T>(work: (one: typeof connection) => Promise<T>) {
      lent.push(connection);
      return work(connection);
    },
  };
  return { log, lent, repository: new Repository(database as unknown as Database, timeZone, pipeline) };
}

test("times are cut to whole seconds", () => {
  assert.equal(time("2024-06-01 12:00:00.999+00"), "2024-06-01T12:00:00Z");
  assert.equal(time("1969-12-31 23:59:58.5+00"), "1969-12-31T23:59:58Z");
  assert.equal(time("2024-06-01 14:00:00.999+02"), "2024-06-01T12:00:00Z");
});

test("the schema writes a golden recipe byte for byte", async (t) => {
  const app = await build(t, { recipe: () => Promise.resolve(JSON.parse(GOLDEN) as Recipe) });
  const answer = await app.inject({ url: "/api/v1/recipes/1", headers: COOKIE });
  assert.equal(answer.body, GOLDEN);
});

test("a recipe is eight statements and its parts are in order", async () => {
  const row = {
    id: 7,
    created: MOMENT,
    modified: MOMENT,
    archived_at: null,
    content_type_id: 20,
    object_id: 3,
  };
  const { log, repository } = fake({
    session: [{ user_id: 1 }],
    recipe_by_id: [row],
    ingredients: [{ id: 1 }],
    sections: [{ id: 2 }],
    notes: [
      { id: 3, created: MOMENT, modified: MOMENT, author_id: 1, editor_id: null },
      { id: 4, created: MOMENT, modified: MOMENT, author_id: 1, editor_id: 2, editor_name: null },
    ],
    reactions: [{ id: 6, note_id: 4, created: MOMENT }],
    timeline_events: [{ id: 5, created: MOMENT }],
  });
  const recipe = await repository.recipe("key", 7);
  assert.deepEqual(recipe.owner, { kind: "team", id: 3 });
  assert.deepEqual(
    [...recipe.ingredients, ...recipe.timeline].map(({ kind, id }) => `${kind} ${id}`),
    ["ingredient 1", "section 2", "note 3", "note 4", "event 5"],
  );
  const [first, second] = recipe.timeline;
  assert.ok(first?.kind === "note" && second?.kind === "note");
  assert.deepEqual([first.last_modified_by, first.reactions?.length], [null, 0]);
  assert.deepEqual([second.last_modified_by?.id, second.reactions?.[0]?.id], [2, 6]);
  const parts = ["ingredients", "steps", "sections", "notes", "reactions", "timeline_events"];
  assert.deepEqual(log, ["session", "recipe_by_id", ...parts]);
});

test("what is refused stops where it is refused", async () => {
  const unknown = fake({});
  await assert.rejects(unknown.repository.addNote("key", 1, "text"), { statusCode: 401 });
  assert.deepEqual(unknown.log, ["session"]);
  const hidden = fake({ session: [{ user_id: 1 }] });
  await assert.rejects(hidden.repository.addNote("key", 1, "text"), { statusCode: 404 });
  assert.deepEqual(hidden.log, ["session", "begin", "note_insert"]);
  await assert.rejects(hidden.repository.randomRecipe("key"), { statusCode: 404 });
});

test("a note and its event are one transaction", async () => {
  const { log, repository } = fake({ session: [{ user_id: 1 }], note_insert: [{ id: 9 }] });
  assert.equal(await repository.addNote("key", 1, "text"), 9);
  assert.deepEqual(log, ["session", "begin", "note_insert", "event_insert", "commit"]);
});

test("a request sets the time zone first and once if asked to", async () => {
  const rows = { session: [{ user_id: 1 }], note_insert: [{ id: 9 }] };
  for (const use of [
    (repository: Repository) => repository.addNote("key", 1, "text"),
    (repository: Repository) => repository.dashboard("key"),
  ]) {
    const [plain, zoned] = [fake(rows), fake(rows, "request")];
    await use(plain.repository);
    await use(zoned.repository);
    assert.deepEqual(zoned.log, ["SET TIME ZONE 'UTC'", ...plain.log]);
  }
});

test("a dashboard takes five connections, and one where its reads are pipelined", async () => {
  const rows = { session: [{ user_id: 1 }] };
  const [apart, pipelined] = [fake(rows), fake(rows, "connection", "1")];
  assert.deepEqual(await apart.repository.dashboard("key"), await pipelined.repository.dashboard("key"));
  assert.deepEqual(apart.log, pipelined.log);
  assert.deepEqual([apart.lent.length, pipelined.lent.length], [5, 1]);
});
