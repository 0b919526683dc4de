/**
 * The bodies of the contract. One schema of each is both the TypeScript type and, through
 * fast-json-stringify, the serialiser: keys leave in the order in which they are here.
 */

import { type Static, type TSchema, Type } from "typebox";

const nullable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, nullable: true });

const Id = Type.Integer();
const Text = Type.String();
/** RFC 3339 in UTC with whole seconds; `time` makes it where rows are read. */
const Time = Type.String();

const Person = Type.Object({ id: Id, email: Text, name: nullable(Text) });
export type Person = Static<typeof Person>;

const Reaction = Type.Object({ id: Id, emoji: Text, created_by_id: Id, created: Time });
export type Reaction = Static<typeof Reaction>;

/**
 * Ingredients and sections in one list, notes and events in another: one schema with what either may have, because
 * fast-json-stringify leaves out what is undefined, and asks Ajv about each item of an `anyOf`. The keys that are not
 * optional leave first.
 */
const Ingredient = Type.Object({
  kind: Type.Enum(["ingredient", "section"]),
  id: Id,
  position: Text,
  quantity: Type.Optional(Text),
  name: Type.Optional(Text),
  description: Type.Optional(Text),
  title: Type.Optional(Text),
});
const Event = Type.Object({
  kind: Type.Enum(["note", "event"]),
  id: Id,
  text: Type.Optional(Text),
  action: Type.Optional(Text),
  created_by_id: Type.Optional(nullable(Id)),
  created: Type.Optional(Time),
  modified: Type.Optional(Time),
  created_by: Type.Optional(Person),
  last_modified_by: Type.Optional(nullable(Person)),
  reactions: Type.Optional(Type.Array(Reaction)),
});

export const Recipe = Type.Object({
  id: Id,
  name: Text,
  author: nullable(Text),
  source: nullable(Text),
  time: Text,
  servings: Text,
  edits: Id,
  created: Time,
  modified: Time,
  archived_at: nullable(Time),
  tags: Type.Array(Text),
  owner: Type.Object({ kind: Type.Enum(["user", "team"]), id: Id }),
  ingredients: Type.Array(Ingredient),
  steps: Type.Array(Type.Object({ id: Id, position: Text, text: Text })),
  timeline: Type.Array(Event),
});
export type Recipe = Static<typeof Recipe>;

export const Dashboard = Type.Object({
  user_id: Id,
  recipes: Type.Array(Type.Object({ id: Id, name: Text, modified: Time })),
  teams: Type.Array(Type.Object({ id: Id, name: Text, members: Id })),
  notes: Type.Array(Type.Object({ id: Id, recipe_id: Id, text: Text, created: Time })),
  events: Type.Array(Type.Object({ id: Id, recipe_id: Id, action: Text, created: Time })),
});
export type Dashboard = Static<typeof Dashboard>;

/** Length and pattern count code points; the class of lone surrogates matches no pair. */
export const NewNote = Type.Object(
  { text: Type.String({ minLength: 1, maxLength: 10_000, pattern: "^[^\\u0000\\ud800-\\udfff]*$" }) },
  { additionalProperties: false },
);
export type NewNote = Static<typeof NewNote>;

/** Digits without a sign or leading zero, up to the largest `integer` of PostgreSQL. */
export const RecipeId = Type.Object({ id: Type.String({ format: "recipe-id" }) });
export type RecipeId = Static<typeof RecipeId>;
export const isRecipeId = (text: string) => /^[1-9]\d*$/.test(text) && Number(text) < 2 ** 31;

/** Milliseconds from 0 to 10,000. */
export const Delay = Type.Object({
  delay_ms: Type.Optional(Type.String({ pattern: "^0*(\\d{1,4}|10000)$" })),
});
export type Delay = Static<typeof Delay>;

export const Created = Type.Object({ id: Id });
export const Health = Type.Object({ status: Text });

/**
 * A moment as the contract writes it, from PostgreSQL's text; fractions of a second are cut off. Connections are in UTC,
 * so that no Date is needed; a moment in another time zone goes through one.
 */
export function time(moment: string): string {
  if (moment[10] === " " && moment.endsWith("+00")) return `${moment.slice(0, 10)}T${moment.slice(11, 19)}Z`;
  return `${new Date(moment).toISOString().slice(0, 19)}Z`;
}
