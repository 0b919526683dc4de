/** The statements of the contract, read from its files once, at the start. */

import { readFileSync } from "node:fs";

const NAMES = [
  "session",
  "recipe_random",
  "recipe_by_id",
  "ingredients",
  "steps",
  "sections",
  "notes",
  "reactions",
  "timeline_events",
  "note_insert",
  "event_insert",
  "dashboard_recipes",
  "dashboard_teams",
  "dashboard_notes",
  "dashboard_events",
] as const;

export type QueryName = (typeof NAMES)[number];

/** The folder is as far from `dist` in the image as from `src` in the repository. */
export const CONTRACT = new URL("../../contract/", import.meta.url);

export const SQL = Object.fromEntries(
  NAMES.map((name) => [name, readFileSync(new URL(`sql/queries/${name}.sql`, CONTRACT), "utf8")]),
) as Readonly<Record<QueryName, string>>;
