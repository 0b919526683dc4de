/** Fastify and node-postgres, as short as they allow. */

import { readFileSync, readdirSync } from "node:fs";

import cookie from "@fastify/cookie";
import Fastify from "fastify";
import pg from "pg";

const CONTRACT = new URL("contract/", import.meta.url);
const QUERIES = new URL("sql/queries/", CONTRACT);
const SQL = Object.fromEntries(
  readdirSync(QUERIES).map((file) => {
    const name = file.replace(".sql", "");
    return [name, { name, text: readFileSync(new URL(file, QUERIES), "utf8") }];
  }),
);
const PAGE = readFileSync(new URL("golden/index.html", CONTRACT));

pg.types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, (text) => `${text.slice(0, 10)}T${text.slice(11, 19)}Z`);
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.DB_POOL_MAX),
  // The time limits that node has.
  connectionTimeoutMillis: 1500,
  query_timeout: 2000,
});
const app = Fastify({ keepAliveTimeout: 75_000 });
app.register(cookie);
app.get("/healthz", () => "ok");
app.get("/", (_request, reply) => reply.type("text/html; charset=utf-8").send(PAGE));
app.get("/api/v1/recipes", async (request, reply) => {
  const client = await pool.connect();
  const rows = async (name, ...values) => (await client.query(SQL[name], values)).rows;
  try {
    const [{ user_id: user }] = await rows("session", request.cookies.sessionid);
    const [{ object_id: owner, content_type_id: type, ...recipe }] = await rows("recipe_random", user);
    const ingredients = await rows("ingredients", recipe.id);
    const steps = await rows("steps", recipe.id);
    const sections = await rows("sections", recipe.id);
    const notes = await rows("notes", recipe.id);
    const reactions = Map.groupBy(await rows("reactions", recipe.id), (reaction) => reaction.note_id);
    const events = await rows("timeline_events", recipe.id);
    const body = JSON.stringify({
      ...recipe,
      owner: { kind: type === 1 ? "user" : "team", id: owner },
      ingredients: [
        ...ingredients.map((row) => ({ kind: "ingredient", ...row })),
        ...sections.map((row) => ({ kind: "section", ...row })),
      ],
      steps,
      timeline: [
        ...notes.map((row) => ({
          kind: "note",
          id: row.id,
          text: row.text,
          created: row.created,
          modified: row.modified,
          created_by: { id: row.author_id, email: row.author_email, name: row.author_name },
          last_modified_by: row.editor_id && { id: row.editor_id, email: row.editor_email, name: row.editor_name },
          reactions: (reactions.get(row.id) ?? []).map(({ note_id: _, ...reaction }) => reaction),
        })),
        ...events.map((row) => ({ kind: "event", ...row })),
      ],
    });
    return reply.type("application/json").send(body);
  } finally {
    client.release();
  }
});
await app.listen({ host: "0.0.0.0", port: 8080 });
for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => app.close().then(() => process.exit(0)));
