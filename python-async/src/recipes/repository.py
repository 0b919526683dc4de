"""The contract's statements: one after the other on one connection, save the four reads of a dashboard."""

import asyncio

from recipes.database import Connection, Database
from shared.config import settings
from shared.contract import DASHBOARD, PARTS, QUERIES, SET_TIME_ZONE
from shared.errors import NotFound, Unauthorized
from shared.models import Dashboard, Recipe, Row, dashboard_from_rows, recipe_from_rows


class Repository:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def random_recipe(self, session_key: str) -> Recipe:
        """Raises Unauthorized without a live session, NotFound if its user sees no recipe."""
        return await self._recipe(session_key, "recipe_random")

    async def recipe_by_id(self, session_key: str, recipe_id: int) -> Recipe:
        """Raises Unauthorized without a live session, NotFound if its user sees no such recipe."""
        return await self._recipe(session_key, "recipe_by_id", recipe_id)

    async def write_note(self, session_key: str, recipe_id: int, text: str) -> int:
        """The new note's id, once it is stored with its event; raises as `recipe_by_id`."""
        async with self._database.connection() as connection:
            user_id = await find_user(connection, session_key)
            async with connection.transaction():
                note_id: int | None = await connection.fetchval(QUERIES["note_insert"], user_id, recipe_id, text)
                if note_id is None:
                    raise NotFound
                # Not `execute`, which would never prepare it.
                await connection.fetch(QUERIES["event_insert"], user_id, recipe_id)
        return note_id

    async def dashboard(self, session_key: str) -> Dashboard:
        """Raises Unauthorized without a live session."""
        async with self._database.connection() as connection:
            user_id = await find_user(connection, session_key)
        reads = await asyncio.gather(*(self._read(f"dashboard_{name}", user_id) for name in DASHBOARD))
        return dashboard_from_rows(user_id, **dict(zip(DASHBOARD, reads, strict=True)))

    async def _recipe(self, session_key: str, query: str, *arguments: int) -> Recipe:
        async with self._database.connection() as connection:
            user_id = await find_user(connection, session_key)
            recipe = await connection.fetchrow(QUERIES[query], user_id, *arguments)
            if recipe is None:
                raise NotFound
            parts = {name: await connection.fetch(QUERIES[name], recipe["id"]) for name in PARTS}
        return recipe_from_rows(recipe, **parts)

    async def _read(self, query: str, user_id: int) -> list[Row]:
        async with self._database.connection() as connection:
            return await connection.fetch(QUERIES[query], user_id)


async def find_user(connection: Connection, session_key: str) -> int:
    """What every request begins with; raises Unauthorized."""
    if settings.db_time_zone == "request":
        # A simple query: one round trip, and nothing to prepare.
        await connection.execute(SET_TIME_ZONE)
    user_id: int | None = await connection.fetchval(QUERIES["session"], session_key)
    if user_id is None:
        raise Unauthorized
    return user_id
