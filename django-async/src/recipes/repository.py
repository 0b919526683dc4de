"""The contract's statements, one after the other, on one connection for a request."""

import re

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from recipes.database import open_cursor
from shared.config import settings
from shared.contract import PARTS, QUERIES, SET_TIME_ZONE
from shared.errors import NotFound, Unauthorized
from shared.models import Recipe, Row, recipe_from_rows

# `$1` as psycopg writes it: `%(p1)s`.
queries = {name: re.sub(r"\$(\d+)", r"%(p\1)s", query.replace("%", "%%")) for name, query in QUERIES.items()}


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
        parts = {name: fetch(cursor, name, recipes[0][0]) for name in PARTS}
    return recipe_from_rows(recipes[0], **parts)


def write_note(session_key: str, recipe_id: int, text: str) -> int:
    """The new note's id, once it is stored with its event; raises as `recipe_by_id`."""
    with open_cursor() as cursor:
        user_id = find_user(cursor, session_key)
        with transaction.atomic():
            notes = fetch(cursor, "note_insert", user_id, recipe_id, text)
            if not notes:
                raise NotFound
            execute(cursor, "event_insert", user_id, recipe_id)
    return int(notes[0][0])


def find_user(cursor: CursorWrapper, session_key: str) -> int:
    """What every request begins with."""
    if settings.db_time_zone == "request":
        # A simple query, never prepared: pg_stat_statements counts a prepared SET the first time only.
        with connection.wrap_database_errors:
            connection.connection.execute(SET_TIME_ZONE, prepare=False)
    sessions = fetch(cursor, "session", session_key)
    if not sessions:
        raise Unauthorized
    return int(sessions[0][0])


def fetch(cursor: CursorWrapper, name: str, *arguments: int | str) -> list[Row]:
    execute(cursor, name, *arguments)
    rows: list[Row] = cursor.fetchall()
    return rows


def execute(cursor: CursorWrapper, name: str, *arguments: int | str) -> None:
    cursor.execute(queries[name], {f"p{number}": value for number, value in enumerate(arguments, 1)})
