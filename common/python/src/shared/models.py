"""What the API serves: dictionaries, as orjson writes those several times faster than objects with slots.

The order of the keys is the order in which they are written. Rows of the contract's queries have their columns in the
order in which they are taken here.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal, TypedDict

import orjson

USER_CONTENT_TYPE = 1

# A tuple, or whatever a driver has in its place.
type Row = Any
type Rows = Iterable[Row]


class Owner(TypedDict):
    kind: Literal["user", "team"]
    id: int


class Ingredient(TypedDict):
    kind: Literal["ingredient"]
    id: int
    position: str
    quantity: str
    name: str
    description: str


class Section(TypedDict):
    kind: Literal["section"]
    id: int
    position: str
    title: str


class Step(TypedDict):
    id: int
    position: str
    text: str


class Person(TypedDict):
    id: int
    email: str
    name: str | None


class Reaction(TypedDict):
    id: int
    emoji: str
    created_by_id: int
    created: datetime


class Note(TypedDict):
    kind: Literal["note"]
    id: int
    text: str
    created: datetime
    modified: datetime
    created_by: Person
    last_modified_by: Person | None
    reactions: list[Reaction]


class Event(TypedDict):
    kind: Literal["event"]
    id: int
    action: str
    created_by_id: int | None
    created: datetime


class Recipe(TypedDict):
    id: int
    name: str
    author: str | None
    source: str | None
    time: str
    servings: str
    edits: int
    created: datetime
    modified: datetime
    archived_at: datetime | None
    tags: list[str]
    owner: Owner
    ingredients: list[Ingredient | Section]
    steps: list[Step]
    timeline: list[Note | Event]


class Dashboard(TypedDict):
    user_id: int
    recipes: list[dict[str, Any]]
    teams: list[dict[str, Any]]
    notes: list[dict[str, Any]]
    events: list[dict[str, Any]]


def to_json(content: object) -> bytes:
    """Times are written in UTC with `Z`, in whole seconds."""
    return orjson.dumps(content, option=orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS)


def recipe_from_rows(
    recipe: Row, *, ingredients: Rows, steps: Rows, sections: Rows, notes: Rows, reactions: Rows, timeline_events: Rows
) -> Recipe:
    key, name, author, source, time, servings, edits, created, modified, archived_at, tags, object_id, type_id = recipe
    reactions_of: dict[int, list[Reaction]] = {}
    for reaction_id, note_id, emoji, by, at in reactions:
        reaction: Reaction = {"id": reaction_id, "emoji": emoji, "created_by_id": by, "created": at}
        reactions_of.setdefault(note_id, []).append(reaction)
    parts: list[Ingredient | Section] = [
        {"kind": "ingredient", "id": i, "position": p, "quantity": q, "name": n, "description": d}
        for i, p, q, n, d in ingredients
    ]
    parts += [{"kind": "section", "id": i, "position": p, "title": t} for i, p, t in sections]
    timeline: list[Note | Event] = [note_from_row(row, reactions_of.get(row[0], [])) for row in notes]
    timeline += [
        {"kind": "event", "id": i, "action": a, "created_by_id": by, "created": at} for i, a, by, at in timeline_events
    ]
    return {
        "id": key,
        "name": name,
        "author": author,
        "source": source,
        "time": time,
        "servings": servings,
        "edits": edits,
        "created": created,
        "modified": modified,
        "archived_at": archived_at,
        "tags": tags,
        "owner": {"kind": "user" if type_id == USER_CONTENT_TYPE else "team", "id": object_id},
        "ingredients": parts,
        "steps": [{"id": i, "position": p, "text": t} for i, p, t in steps],
        "timeline": timeline,
    }


def note_from_row(row: Row, reactions: list[Reaction]) -> Note:
    key, text, created, modified, author_id, author_email, author_name, editor_id, editor_email, editor_name = row
    editor: Person = {"id": editor_id, "email": editor_email, "name": editor_name}
    return {
        "kind": "note",
        "id": key,
        "text": text,
        "created": created,
        "modified": modified,
        "created_by": {"id": author_id, "email": author_email, "name": author_name},
        "last_modified_by": None if editor_id is None else editor,
        "reactions": reactions,
    }


def dashboard_from_rows(user_id: int, *, recipes: Rows, teams: Rows, notes: Rows, events: Rows) -> Dashboard:
    return {
        "user_id": user_id,
        "recipes": [{"id": i, "name": n, "modified": at} for i, n, at in recipes],
        "teams": [{"id": i, "name": n, "members": m} for i, n, m in teams],
        "notes": [{"id": i, "recipe_id": r, "text": t, "created": at} for i, r, t, at in notes],
        "events": [{"id": i, "recipe_id": r, "action": a, "created": at} for i, r, a, at in events],
    }
