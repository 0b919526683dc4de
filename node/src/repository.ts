/** What recipes, notes and dashboards are in the database. */

import type { Config } from "./config.ts";
import type { Connection, Database } from "./database.ts";
import { NotFound, Unauthorized } from "./errors.ts";
import type { Dashboard, Person, Reaction, Recipe } from "./models.ts";

type Ingredient = Recipe["ingredients"][number];
type Event = Recipe["timeline"][number];

/** Content type 1 is a user, 20 a team; the schema of the database allows no other. */
interface RecipeRow extends Omit<Recipe, "owner" | "ingredients" | "steps" | "timeline"> {
  readonly object_id: number;
  readonly content_type_id: 1 | 20;
}

/** The editor comes from an outer join: all of it or nothing. */
interface NoteRow extends Omit<Event, "kind"> {
  readonly author_id: number;
  readonly author_email: string;
  readonly author_name: string | null;
  readonly editor_id: number | null;
  readonly editor_email: string;
  readonly editor_name: string | null;
}

/** One method for each use case. */
export class Repository {
  readonly #database: Database;
  readonly #setsTimeZone: boolean;
  readonly #pipelines: boolean;

  constructor(database: Database, timeZone: Config["DB_TIME_ZONE"], pipeline: Config["DB_PIPELINE"] = "0") {
    this.#database = database;
    this.#setsTimeZone = timeZone === "request";
    this.#pipelines = pipeline === "1";
  }

  /** A random recipe that the session's user may see. */
  async randomRecipe(sessionKey: string): Promise<Recipe> {
    return this.#database.use(async (connection) => {
      const user = await this.#sessionUser(connection, sessionKey);
      return completed(connection, await connection.query<RecipeRow>("recipe_random", user));
    });
  }

  /** The recipe of that id, if the session's user may see it. */
  async recipe(sessionKey: string, id: number): Promise<Recipe> {
    return this.#database.use(async (connection) => {
      const user = await this.#sessionUser(connection, sessionKey);
      return completed(connection, await connection.query<RecipeRow>("recipe_by_id", user, id));
    });
  }

  /** Writes a note and its event in one transaction; returns the note's id. */
  async addNote(sessionKey: string, recipeId: number, text: string): Promise<number> {
    return this.#database.use(async (connection) => {
      const user = await this.#sessionUser(connection, sessionKey);
      return connection.transaction(async () => {
        const [inserted] = await connection.query<{ id: number }>("note_insert", user, recipeId, text);
        if (inserted === undefined) throw new NotFound();
        await connection.query("event_insert", user, recipeId);
        return inserted.id;
      });
    });
  }

  /**
   * Four independent reads at once, each on a connection of its own. The session's connection goes back
   * first, so that no request holds one while it waits for another. Where reads are pipelined, that one has them all.
   */
  async dashboard(sessionKey: string): Promise<Dashboard> {
    if (this.#pipelines) {
      return this.#database.use(async (connection) =>
        dashboard(await this.#sessionUser(connection, sessionKey), (read) => read(connection)),
      );
    }
    const user = await this.#database.use((connection) => this.#sessionUser(connection, sessionKey));
    return dashboard(user, (read) => this.#database.use(read));
  }

  /** The session's user, with which every request begins. */
  async #sessionUser(connection: Connection, key: string): Promise<number> {
    if (this.#setsTimeZone) await connection.command("SET TIME ZONE 'UTC'");
    const [session] = await connection.query<{ user_id: number }>("session", key);
    if (session === undefined) throw new Unauthorized();
    return session.user_id;
  }
}

/** The four reads of a dashboard at once. lend: gives each its connection. */
async function dashboard(user: number, lend: Database["use"]): Promise<Dashboard> {
  const read = <Row extends object>(name: `dashboard_${"recipes" | "teams" | "notes" | "events"}`) =>
    lend((connection) => connection.query<Row>(name, user));
  const [recipes, teams, notes, events] = await Promise.all([
    read<Dashboard["recipes"][number]>("dashboard_recipes"),
    read<Dashboard["teams"][number]>("dashboard_teams"),
    read<Dashboard["notes"][number]>("dashboard_notes"),
    read<Dashboard["events"][number]>("dashboard_events"),
  ]);
  return { user_id: user, recipes, teams, notes, events };
}

/** Adds the parts: six statements, one after the other. The schema takes what it knows of each. */
async function completed(connection: Connection, [row]: readonly RecipeRow[]): Promise<Recipe> {
  if (row === undefined) throw new NotFound();
  const ingredients = await connection.query<Omit<Ingredient, "kind">>("ingredients", row.id);
  const steps = await connection.query<Recipe["steps"][number]>("steps", row.id);
  const sections = await connection.query<Omit<Ingredient, "kind">>("sections", row.id);
  const notes = await connection.query<NoteRow>("notes", row.id);
  const reactions = await connection.query<Reaction & { note_id: number }>("reactions", row.id);
  const events = await connection.query<Omit<Event, "kind">>("timeline_events", row.id);

  const reactionsOf = Map.groupBy(reactions, (reaction) => reaction.note_id);
  return {
    ...row,
    owner: { kind: row.content_type_id === 1 ? "user" : "team", id: row.object_id },
    ingredients: [
      ...ingredients.map((ingredient) => ({ kind: "ingredient" as const, ...ingredient })),
      ...sections.map((section) => ({ kind: "section" as const, ...section })),
    ],
    steps,
    timeline: [
      ...notes.map((note) => ({
        kind: "note" as const,
        ...note,
        created_by: { id: note.author_id, email: note.author_email, name: note.author_name },
        last_modified_by: editor(note),
        reactions: reactionsOf.get(note.id) ?? [],
      })),
      ...events.map((event) => ({ kind: "event" as const, ...event })),
    ],
  };
}

function editor({ editor_id: id, editor_email: email, editor_name: name }: NoteRow): Person | null {
  return id === null ? null : { id, email, name };
}
