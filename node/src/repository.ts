/** What recipes, notes and dashboards are in the database. */

import type { Config } from "./config.ts";
import type { Connection, Database } from "./database.ts";
import { NotFound, Unauthorized } from "./errors.ts";
import type { Dashboard, Recipe } from "./models.ts";
import { type EventRow, type NoteRow, type ReactionRow, type RecipeRow, event, note, owner } from "./rows.ts";

type Ingredient = Extract<Recipe["ingredients"][number], { kind: "ingredient" }>;
type Section = Extract<Recipe["ingredients"][number], { kind: "section" }>;

/** One method for each use case. */
export class Repository {
  readonly #database: Database;
  readonly #setsTimeZone: boolean;

  constructor(database: Database, timeZone: Config["timeZone"]) {
    this.#database = database;
    this.#setsTimeZone = timeZone === "request";
  }

  /** A random recipe that the session's user may see. */
  async randomRecipe(sessionKey: string): Promise<Recipe> {
    return this.#database.use(async (connection) => {
      const user = await this.#sessionUser(connection, sessionKey);
      return completed(connection, await connection.query<RecipeRow>("recipe_random", [user]));
    });
  }

  /** The recipe of that id, if the session's user may see it. */
  async recipe(sessionKey: string, id: number): Promise<Recipe> {
    return this.#database.use(async (connection) => {
      const user = await this.#sessionUser(connection, sessionKey);
      return completed(connection, await connection.query<RecipeRow>("recipe_by_id", [user, id]));
    });
  }

  /** Writes a note and its event in one transaction; returns the note's id. */
  async addNote(sessionKey: string, recipeId: number, text: string): Promise<number> {
    return this.#database.use(async (connection) => {
      const user = await this.#sessionUser(connection, sessionKey);
      return connection.transaction(async () => {
        const [inserted] = await connection.query<{ id: number }>("note_insert", [user, recipeId, text]);
        if (inserted === undefined) throw new NotFound();
        await connection.query("event_insert", [user, recipeId]);
        return inserted.id;
      });
    });
  }

  /**
   * Four independent reads at once, each on a connection of its own. The session's connection goes back
   * first, so that no request holds one while it waits for another.
   */
  async dashboard(sessionKey: string): Promise<Dashboard> {
    const user = await this.#database.use((connection) => this.#sessionUser(connection, sessionKey));
    const read = <Row extends object>(name: `dashboard_${"recipes" | "teams" | "notes" | "events"}`) =>
      this.#database.use((connection) => connection.query<Row>(name, [user]));
    const [recipes, teams, notes, events] = await Promise.all([
      read<Dashboard["recipes"][number]>("dashboard_recipes"),
      read<Dashboard["teams"][number]>("dashboard_teams"),
      read<Dashboard["notes"][number]>("dashboard_notes"),
      read<Dashboard["events"][number]>("dashboard_events"),
    ]);
    return { user_id: user, recipes, teams, notes, events };
  }

  /** The session's user, with which every request begins. */
  async #sessionUser(connection: Connection, key: string): Promise<number> {
    if (this.#setsTimeZone) await connection.command("SET TIME ZONE 'UTC'");
    const [session] = await connection.query<{ user_id: number }>("session", [key]);
    if (session === undefined) throw new Unauthorized();
    return session.user_id;
  }
}

/** Adds the parts: six statements, one after the other. */
async function completed(connection: Connection, [row]: readonly RecipeRow[]): Promise<Recipe> {
  if (row === undefined) throw new NotFound();
  const id = [row.id];
  const ingredients = await connection.query<Omit<Ingredient, "kind">>("ingredients", id);
  const steps = await connection.query<Recipe["steps"][number]>("steps", id);
  const sections = await connection.query<Omit<Section, "kind">>("sections", id);
  const notes = await connection.query<NoteRow>("notes", id);
  const reactions = await connection.query<ReactionRow>("reactions", id);
  const events = await connection.query<EventRow>("timeline_events", id);

  const reactionsOf = Map.groupBy(reactions, (reaction) => reaction.note_id);
  return {
    id: row.id,
    name: row.name,
    author: row.author,
    source: row.source,
    time: row.time,
    servings: row.servings,
    edits: row.edits,
    created: row.created,
    modified: row.modified,
    archived_at: row.archived_at,
    tags: row.tags,
    owner: owner(row),
    ingredients: [
      ...ingredients.map((ingredient) => ({ kind: "ingredient" as const, ...ingredient })),
      ...sections.map((section) => ({ kind: "section" as const, ...section })),
    ],
    steps,
    timeline: [...notes.map((row) => note(row, reactionsOf.get(row.id) ?? [])), ...events.map(event)],
  };
}
