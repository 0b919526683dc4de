"""What the API serves. The order of the fields is the order of the keys in its JSON.

Rows of the contract's queries have their columns in this order too.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Self

USER_CONTENT_TYPE = 1

# A tuple, or whatever a driver has in its place.
type Row = Any


@dataclass(slots=True)
class Owner:
    kind: Literal["user", "team"]
    id: int


@dataclass(slots=True)
class Ingredient:
    kind: Literal["ingredient"] = field(default="ingredient", init=False)
    id: int
    position: str
    quantity: str
    name: str
    description: str


@dataclass(slots=True)
class Section:
    kind: Literal["section"] = field(default="section", init=False)
    id: int
    position: str
    title: str


@dataclass(slots=True)
class Step:
    id: int
    position: str
    text: str


@dataclass(slots=True)
class Person:
    id: int
    email: str
    name: str | None


@dataclass(slots=True)
class Reaction:
    id: int
    emoji: str
    created_by_id: int
    created: datetime


@dataclass(slots=True)
class Note:
    kind: Literal["note"] = field(default="note", init=False)
    id: int
    text: str
    created: datetime
    modified: datetime
    created_by: Person
    last_modified_by: Person | None
    reactions: list[Reaction]

    @classmethod
    def from_row(cls, row: Row, reactions: list[Reaction]) -> Self:
        note_id, text, created, modified, *people = row
        author, editor = people[:3], people[3:]
        last_modified_by = None if editor[0] is None else Person(*editor)
        return cls(note_id, text, created, modified, Person(*author), last_modified_by, reactions)


@dataclass(slots=True)
class Event:
    kind: Literal["event"] = field(default="event", init=False)
    id: int
    action: str
    created_by_id: int | None
    created: datetime


@dataclass(slots=True)
class Recipe:
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

    @classmethod
    def from_rows(
        cls,
        recipe: Row,
        *,
        ingredients: Iterable[Row],
        steps: Iterable[Row],
        sections: Iterable[Row],
        notes: Iterable[Row],
        reactions: Iterable[Row],
        timeline_events: Iterable[Row],
    ) -> Self:
        *columns, object_id, content_type_id = recipe
        reactions_of: dict[int, list[Reaction]] = {}
        for reaction_id, note_id, *rest in reactions:
            reactions_of.setdefault(note_id, []).append(Reaction(reaction_id, *rest))
        nested: list[Any] = [
            Owner("user" if content_type_id == USER_CONTENT_TYPE else "team", object_id),
            [Ingredient(*row) for row in ingredients] + [Section(*row) for row in sections],
            [Step(*row) for row in steps],
            [Note.from_row(row, reactions_of.get(row[0], [])) for row in notes]
            + [Event(*row) for row in timeline_events],
        ]
        return cls(*columns, *nested)


@dataclass(slots=True)
class OwnRecipe:
    id: int
    name: str
    modified: datetime


@dataclass(slots=True)
class Team:
    id: int
    name: str
    members: int


@dataclass(slots=True)
class RecentNote:
    id: int
    recipe_id: int
    text: str
    created: datetime


@dataclass(slots=True)
class RecentEvent:
    id: int
    recipe_id: int
    action: str
    created: datetime


@dataclass(slots=True)
class Dashboard:
    user_id: int
    recipes: list[OwnRecipe]
    teams: list[Team]
    notes: list[RecentNote]
    events: list[RecentEvent]

    @classmethod
    def from_rows(
        cls, user_id: int, *, recipes: Iterable[Row], teams: Iterable[Row], notes: Iterable[Row], events: Iterable[Row]
    ) -> Self:
        return cls(
            user_id,
            [OwnRecipe(*row) for row in recipes],
            [Team(*row) for row in teams],
            [RecentNote(*row) for row in notes],
            [RecentEvent(*row) for row in events],
        )
