"""The tables as SQLAlchemy's ORM knows them. https://docs.sqlalchemy.org/en/21/orm/declarative_tables.html"""

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import ARRAY, DateTime, ForeignKey, Text, func
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

USER_CONTENT_TYPE, TEAM_CONTENT_TYPE = 1, 20


class Base(DeclarativeBase):
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: DateTime(timezone=True),
        str: Text(),
        list[str]: ARRAY(Text()),
    }


class User(Base):
    __tablename__ = "core_myuser"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str]
    name: Mapped[str | None]


class Session(Base):
    __tablename__ = "user_sessions_session"

    session_key: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[int]
    expire_date: Mapped[datetime]


class Membership(Base):
    __tablename__ = "core_membership"

    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int]
    user_id: Mapped[int]
    is_active: Mapped[bool]


class Ingredient(Base):
    __tablename__ = "core_ingredient"
    kind = "ingredient"

    id: Mapped[int] = mapped_column(primary_key=True)
    recipe_id: Mapped[int] = mapped_column(ForeignKey("core_recipe.id"))
    position: Mapped[str]
    quantity: Mapped[str]
    name: Mapped[str]
    description: Mapped[str]
    deleted_at: Mapped[datetime | None] = mapped_column(deferred=True)


class Section(Base):
    __tablename__ = "core_section"
    kind = "section"

    id: Mapped[int] = mapped_column(primary_key=True)
    recipe_id: Mapped[int] = mapped_column(ForeignKey("core_recipe.id"))
    position: Mapped[str]
    title: Mapped[str]
    deleted_at: Mapped[datetime | None] = mapped_column(deferred=True)


class Step(Base):
    __tablename__ = "core_step"

    id: Mapped[int] = mapped_column(primary_key=True)
    recipe_id: Mapped[int] = mapped_column(ForeignKey("core_recipe.id"))
    position: Mapped[str]
    text: Mapped[str]
    deleted_at: Mapped[datetime | None] = mapped_column(deferred=True)


class Reaction(Base):
    __tablename__ = "core_reaction"

    id: Mapped[int] = mapped_column(primary_key=True)
    note_id: Mapped[int] = mapped_column(ForeignKey("core_note.id"))
    emoji: Mapped[str]
    created_by_id: Mapped[int]
    created: Mapped[datetime]


class Note(Base):
    __tablename__ = "core_note"
    kind = "note"

    id: Mapped[int] = mapped_column(primary_key=True)
    recipe_id: Mapped[int] = mapped_column(ForeignKey("core_recipe.id"))
    text: Mapped[str]
    created: Mapped[datetime] = mapped_column(default=func.now())
    modified: Mapped[datetime] = mapped_column(default=func.now())
    created_by_id: Mapped[int] = mapped_column(ForeignKey("core_myuser.id"))
    last_modified_by_id: Mapped[int | None] = mapped_column(ForeignKey("core_myuser.id"))
    deleted_at: Mapped[datetime | None] = mapped_column(deferred=True)

    created_by: Mapped[User] = relationship(foreign_keys=created_by_id, lazy="raise")
    last_modified_by: Mapped[User | None] = relationship(foreign_keys=last_modified_by_id, lazy="raise")
    reactions: Mapped[list[Reaction]] = relationship(order_by=(Reaction.created, Reaction.id), lazy="raise")


class Event(Base):
    __tablename__ = "timeline_event"
    kind = "event"

    id: Mapped[int] = mapped_column(primary_key=True)
    recipe_id: Mapped[int] = mapped_column(ForeignKey("core_recipe.id"))
    action: Mapped[str]
    created: Mapped[datetime] = mapped_column(default=func.now())
    created_by_id: Mapped[int | None]
    deleted_at: Mapped[datetime | None] = mapped_column(deferred=True)


class Recipe(Base):
    __tablename__ = "core_recipe"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    author: Mapped[str | None]
    source: Mapped[str | None]
    time: Mapped[str]
    servings: Mapped[str]
    edits: Mapped[int]
    created: Mapped[datetime]
    modified: Mapped[datetime]
    archived_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None] = mapped_column(deferred=True)
    tags: Mapped[list[str]]
    object_id: Mapped[int]
    content_type_id: Mapped[int]

    ingredient_rows: Mapped[list[Ingredient]] = relationship(
        order_by=(Ingredient.position.collate("C"), Ingredient.id), lazy="raise"
    )
    steps: Mapped[list[Step]] = relationship(order_by=(Step.position.collate("C"), Step.id), lazy="raise")
    sections: Mapped[list[Section]] = relationship(order_by=(Section.position.collate("C"), Section.id), lazy="raise")
    notes: Mapped[list[Note]] = relationship(order_by=(Note.created, Note.id), lazy="raise")
    events: Mapped[list[Event]] = relationship(order_by=(Event.created.desc(), Event.id.desc()), lazy="raise")

    @property
    def owner(self) -> dict[str, Any]:
        return {"kind": "user" if self.content_type_id == USER_CONTENT_TYPE else "team", "id": self.object_id}

    @property
    def ingredients(self) -> list[Ingredient | Section]:
        return [*self.ingredient_rows, *self.sections]

    @property
    def timeline(self) -> list[Note | Event]:
        return [*self.notes, *self.events]
