"""The contract's queries: eight statements for a recipe, one after the other, on one connection."""

import re

from django.db.backends.utils import CursorWrapper

from recipes.config import QUERIES
from recipes.database import open_cursor
from recipes.errors import NotFound, Unauthorized
from recipes.models import Recipe, Row


def named_placeholders(query: str) -> str:
    """`$1` as psycopg writes it: `%(p1)s`."""
    return re.sub(r"\$(\d+)", r"%(p\1)s", query.replace("%", "%%"))


queries = {file.stem: named_placeholders(file.read_text()) for file in QUERIES.glob("*.sql")}


def random_recipe(session_key: str) -> Recipe:
    return find_recipe(session_key, "recipe_random")


def recipe_by_id(session_key: str, recipe_id: int) -> Recipe:
    return find_recipe(session_key, "recipe_by_id", recipe_id)


def find_recipe(session_key: str, query: str, *arguments: int) -> Recipe:
    """Raises Unauthorized without a live session, NotFound if its user sees no such recipe."""
    with open_cursor() as cursor:
        session = fetch(cursor, "session", session_key)
        if not session:
            raise Unauthorized
        user_id = session[0][0]
        recipes = fetch(cursor, query, user_id, *arguments)
        if not recipes:
            raise NotFound
        recipe = recipes[0]
        parts = {
            name: fetch(cursor, name, recipe[0])
            for name in ("ingredients", "steps", "sections", "notes", "reactions", "timeline_events")
        }
    return Recipe.from_rows(recipe, **parts)


def fetch(cursor: CursorWrapper, name: str, *arguments: int | str) -> list[Row]:
    cursor.execute(queries[name], {f"p{number}": value for number, value in enumerate(arguments, 1)})
    rows: list[Row] = cursor.fetchall()
    return rows
