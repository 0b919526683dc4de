/** Rows as node-postgres gives them, and what they become. */

import type { Note, Recipe } from "./models.ts";

type Event = Exclude<Recipe["timeline"][number], Note>;

export interface RecipeRow {
  readonly id: number;
  readonly name: string;
  readonly author: string | null;
  readonly source: string | null;
  readonly time: string;
  readonly servings: string;
  readonly edits: number;
  readonly created: string;
  readonly modified: string;
  readonly archived_at: string | null;
  readonly tags: string[];
  readonly object_id: number;
  readonly content_type_id: number;
}

interface Author {
  readonly id: number;
  readonly text: string;
  readonly created: string;
  readonly modified: string;
  readonly author_id: number;
  readonly author_email: string;
  readonly author_name: string | null;
}

interface Editor {
  readonly editor_id: number;
  readonly editor_email: string;
  readonly editor_name: string | null;
}

/** The editor comes from an outer join: all of it or nothing. */
export type NoteRow = Author & (Editor | { readonly [Column in keyof Editor]: null });

export interface ReactionRow {
  readonly id: number;
  readonly note_id: number;
  readonly emoji: string;
  readonly created_by_id: number;
  readonly created: string;
}

export interface EventRow {
  readonly id: number;
  readonly action: string;
  readonly created_by_id: number | null;
  readonly created: string;
}

/** Content type 1 is a user, 20 a team; the schema of the database allows no other. */
export function owner(row: RecipeRow): Recipe["owner"] {
  return { kind: row.content_type_id === 1 ? "user" : "team", id: row.object_id };
}

export function note(row: NoteRow, reactions: readonly ReactionRow[]): Note {
  return {
    kind: "note",
    id: row.id,
    text: row.text,
    created: row.created,
    modified: row.modified,
    created_by: { id: row.author_id, email: row.author_email, name: row.author_name },
    last_modified_by:
      row.editor_id === null ? null : { id: row.editor_id, email: row.editor_email, name: row.editor_name },
    reactions: reactions.map((reaction) => ({
      id: reaction.id,
      emoji: reaction.emoji,
      created_by_id: reaction.created_by_id,
      created: reaction.created,
    })),
  };
}

export function event(row: EventRow): Event {
  return {
    kind: "event",
    id: row.id,
    action: row.action,
    created_by_id: row.created_by_id,
    created: row.created,
  };
}
