"""The contract's statements, one after the other, on one connection for a request."""

import re

from django.db import transaction
from django.db.backends.utils import CursorWrapper

from recipes.config import QUERIES, env
from recipes.database import open_cursor, set_time_zone
from recipes.errors import NotFound, Unauthorized
from recipes.models import Dashboard, Recipe, Row, dashboard_from_rows, recipe_from_rows


def named_placeholders(query: str) -> str:
    """`$1` as psycopg writes it: `%(p1)s`."""
    return re.sub(r"\$(\d+)", r"%(p\1)s", query.replace("%", "%%"))


DASHBOARD = ("recipes", "teams", "notes", "events")
queries = {file.stem: named_placeholders(file.read_text()) for file in QUERIES.glob("*.sql")}


def random_recipe(session_key: str) -> Recipe:
    """Raises Unauthorized without a live session, NotFound if its user sees no recipe."""
    return find_recipe(session_key, "recipe_random")


def recipe_by_id(session_key: str, recipe_id: int) -> Recipe:
    """Raises Unauthorized without a live session, NotFound if its user sees no such recipe."""
    return find_recipe(session_key, "recipe_by_id", recipe_id)


def find_recipe(session_key: str, query: str, *arguments: int) -> Recipe:
    with open_cursor() as cursor:
        user_id = find_user(cursor, session_key)
        recipes = fetch(cursor, query, user_id, *arguments)
        if not recipes:
            raise NotFound
        recipe = recipes[0]
        parts = {
            name: fetch(cursor, name, recipe[0])
            for name in ("ingredients", "steps", "sections", "notes", "reactions", "timeline_events")
        }
    return recipe_from_rows(recipe, **parts)


def write_note(session_key: str, recipe_id: int, text: str) -> int:
    """The new note's id, once it is stored with its event; raises as `recipe_by_id`."""
    with open_cursor() as cursor:
        user_id = find_user(cursor, session_key)
        with transaction.atomic():
            notes = fetch(cursor, "note_insert", user_id, recipe_id, text)
            if not notes:
                raise NotFound
            execute(cursor, "event_insert", user_id, recipe_id)
    note_id: int = notes[0][0]
    return note_id


def dashboard(session_key: str) -> Dashboard:
    """Raises Unauthorized without a live session."""
    with open_cursor() as cursor:
        user_id = find_user(cursor, session_key)
        parts = {name: fetch(cursor, f"dashboard_{name}", user_id) for name in DASHBOARD}
    return dashboard_from_rows(user_id, **parts)


def find_user(cursor: CursorWrapper, session_key: str) -> int:
    """What every request begins with."""
    if env.db_time_zone == "request":
        set_time_zone()
    sessions = fetch(cursor, "session", session_key)
    if not sessions:
        raise Unauthorized
    user_id: int = sessions[0][0]
    return user_id


def fetch(cursor: CursorWrapper, name: str, *arguments: int | str) -> list[Row]:
    execute(cursor, name, *arguments)
    rows: list[Row] = cursor.fetchall()
    return rows


def execute(cursor: CursorWrapper, name: str, *arguments: int | str) -> None:
    cursor.execute(queries[name], {f"p{number}": value for number, value in enumerate(arguments, 1)})
