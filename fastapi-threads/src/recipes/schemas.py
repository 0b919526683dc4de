"""What goes in and out, checked and written by Pydantic. https://fastapi.tiangolo.com/tutorial/response-model/"""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

# In whole seconds; Pydantic writes UTC as `Z`.
Time = Annotated[datetime, AfterValidator(lambda at: at.replace(microsecond=0))]
Number = Annotated[int, Field(strict=True, ge=-(2**31), le=2**31 - 1)]


class Out(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class Owner(Out):
    kind: Literal["user", "team"]
    id: int


class Ingredient(Out):
    kind: Literal["ingredient"]
    id: int
    position: str
    quantity: str
    name: str
    description: str


class Section(Out):
    kind: Literal["section"]
    id: int
    position: str
    title: str


class Step(Out):
    id: int
    position: str
    text: str


class Person(Out):
    id: int
    email: str
    name: str | None


class Reaction(Out):
    id: int
    emoji: str
    created_by_id: int
    created: Time


class Note(Out):
    kind: Literal["note"]
    id: int
    text: str
    created: Time
    modified: Time
    created_by: Person
    last_modified_by: Person | None
    reactions: list[Reaction]


class Event(Out):
    kind: Literal["event"]
    id: int
    action: str
    created_by_id: int | None
    created: Time


class Recipe(Out):
    id: int
    name: str
    author: str | None
    source: str | None
    time: str
    servings: str
    edits: int
    created: Time
    modified: Time
    archived_at: Time | None
    tags: list[str]
    owner: Owner
    ingredients: list[Annotated[Ingredient | Section, Field(discriminator="kind")]]
    steps: list[Step]
    timeline: list[Annotated[Note | Event, Field(discriminator="kind")]]


class NewNote(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    text: str = Field(min_length=1, max_length=10_000, pattern=r"^[^\x00]*$")


class Written(BaseModel):
    id: int


class Health(BaseModel):
    status: Literal["ok"] = "ok"
