"""The contract's queries: eight statements for a recipe, one after the other, on one connection."""

from collections.abc import Mapping
from pathlib import Path

from recipes.database import Connect
from recipes.errors import NotFound, Unauthorized
from recipes.models import Recipe


def read_queries(folder: Path) -> dict[str, str]:
    """The text of every query by its file's name."""
    return {file.stem: file.read_text() for file in folder.glob("*.sql")}


class Repository:
    def __init__(self, connect: Connect, queries: Mapping[str, str]) -> None:
        self._connect = connect
        self._queries = queries

    async def random_recipe(self, session_key: str) -> Recipe:
        return await self._recipe(session_key, "recipe_random")

    async def recipe_by_id(self, session_key: str, recipe_id: int) -> Recipe:
        return await self._recipe(session_key, "recipe_by_id", recipe_id)

    async def _recipe(self, session_key: str, query: str, *arguments: int) -> Recipe:
        """Raises Unauthorized without a live session, NotFound if its user sees no such recipe."""
        queries = self._queries
        async with self._connect() as connection:
            user_id = await connection.fetchval(queries["session"], session_key)
            if user_id is None:
                raise Unauthorized
            recipe = await connection.fetchrow(queries[query], user_id, *arguments)
            if recipe is None:
                raise NotFound
            parts = {
                name: await connection.fetch(queries[name], recipe["id"])
                for name in ("ingredients", "steps", "sections", "notes", "reactions", "timeline_events")
            }
        return Recipe.from_rows(recipe, **parts)
