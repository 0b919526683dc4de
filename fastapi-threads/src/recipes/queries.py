"""What the application asks the database, in the words of the ORM."""

from sqlalchemy import ColumnElement, Select, and_, func, or_, select, union_all
from sqlalchemy.orm import joinedload, selectinload

from recipes.models import (
    TEAM_CONTENT_TYPE,
    USER_CONTENT_TYPE,
    Event,
    Ingredient,
    Membership,
    Note,
    Recipe,
    Section,
    Session,
    Step,
)

# One statement for each part of a recipe, without what was deleted.
# https://docs.sqlalchemy.org/en/21/orm/queryguide/relationships.html#adding-criteria-to-loader-options
PARTS = (
    selectinload(Recipe.ingredient_rows.and_(Ingredient.deleted_at.is_(None))),
    selectinload(Recipe.steps.and_(Step.deleted_at.is_(None))),
    selectinload(Recipe.sections.and_(Section.deleted_at.is_(None))),
    selectinload(Recipe.notes.and_(Note.deleted_at.is_(None))).options(
        joinedload(Note.created_by, innerjoin=True),
        joinedload(Note.last_modified_by),
        selectinload(Note.reactions),
    ),
    selectinload(Recipe.events.and_(Event.deleted_at.is_(None))),
)


def user_of(session_key: str) -> Select[int]:
    return select(Session.user_id).where(Session.session_key == session_key, Session.expire_date > func.now())


def random_recipe(user_id: int) -> Select[Recipe]:
    """Any of those that the user sees."""
    own = select(Recipe.id).where(
        Recipe.content_type_id == USER_CONTENT_TYPE, Recipe.object_id == user_id, Recipe.deleted_at.is_(None)
    )
    of_teams = (
        select(Recipe.id)
        .join(
            Membership,
            and_(Recipe.content_type_id == TEAM_CONTENT_TYPE, Recipe.object_id == Membership.team_id),
        )
        .where(Membership.user_id == user_id, Membership.is_active, Recipe.deleted_at.is_(None))
    )
    visible = union_all(own, of_teams).subquery()
    chosen = select(visible.c.id).order_by(func.random()).limit(1).scalar_subquery()
    return select(Recipe).where(Recipe.id == chosen).options(*PARTS)


def recipe_by_id(user_id: int, recipe_id: int) -> Select[Recipe]:
    return select(Recipe).where(*_visible(user_id, recipe_id)).options(*PARTS)


def visible_recipe(user_id: int, recipe_id: int) -> Select[int]:
    return select(Recipe.id).where(*_visible(user_id, recipe_id))


def _visible(user_id: int, recipe_id: int) -> tuple[ColumnElement[bool], ...]:
    in_team = select(Membership.id).where(
        Membership.user_id == user_id, Membership.team_id == Recipe.object_id, Membership.is_active
    )
    return (
        Recipe.id == recipe_id,
        Recipe.deleted_at.is_(None),
        or_(
            and_(Recipe.content_type_id == USER_CONTENT_TYPE, Recipe.object_id == user_id),
            and_(Recipe.content_type_id == TEAM_CONTENT_TYPE, in_team.exists()),
        ),
    )
