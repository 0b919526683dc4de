"""The contract's statements: one after the other on one connection, save the four reads of a dashboard."""

import asyncio

from recipes.database import Connection, Pool, connected
from shared.errors import NotFound, Unauthorized
from shared.models import Dashboard, Recipe, Row, dashboard_from_rows, recipe_from_rows
from shared.queries import DASHBOARD, PARTS, QUERIES, SET_TIME_ZONE


class Repository:
    def __init__(self, pool: Pool, *, set_time_zone: bool) -> None:
        self._pool = pool
        self._set_time_zone = set_time_zone

    async def random_recipe(self, session_key: str) -> Recipe:
        """Raises Unauthorized without a live session, NotFound if its user sees no recipe."""
        return await self._recipe(session_key, "recipe_random")

    async def recipe_by_id(self, session_key: str, recipe_id: int) -> Recipe:
        """Raises Unauthorized without a live session, NotFound if its user sees no such recipe."""
        return await self._recipe(session_key, "recipe_by_id", recipe_id)

    async def write_note(self, session_key: str, recipe_id: int, text: str) -> int:
        """The new note's id, once it is stored with its event; raises as `recipe_by_id`."""
        async with connected(self._pool) as connection:
            user_id = await self._user(connection, session_key)
            async with connection.transaction():
                notes = await fetch(connection, "note_insert", user_id, recipe_id, text)
                if not notes:
                    raise NotFound
                await connection.execute(QUERIES["event_insert"], (user_id, recipe_id))
        note_id: int = notes[0][0]
        return note_id

    async def dashboard(self, session_key: str) -> Dashboard:
        """Raises Unauthorized without a live session."""
        async with connected(self._pool) as connection:
            user_id = await self._user(connection, session_key)
        # All of them end, in the time that a statement has: to cancel one, psycopg would first ask the database.
        reads = await asyncio.gather(
            *(self._read(f"dashboard_{name}", user_id) for name in DASHBOARD), return_exceptions=True
        )
        rows: dict[str, list[Row]] = {}
        for name, read in zip(DASHBOARD, reads, strict=True):
            if isinstance(read, BaseException):
                raise read
            rows[name] = read
        return dashboard_from_rows(user_id, **rows)

    async def _recipe(self, session_key: str, query: str, *arguments: int) -> Recipe:
        async with connected(self._pool) as connection:
            user_id = await self._user(connection, session_key)
            recipes = await fetch(connection, query, user_id, *arguments)
            if not recipes:
                raise NotFound
            recipe = recipes[0]
            parts = {name: await fetch(connection, name, recipe[0]) for name in PARTS}
        return recipe_from_rows(recipe, **parts)

    async def _user(self, connection: Connection, session_key: str) -> int:
        """What every request begins with."""
        if self._set_time_zone:
            await connection.execute(SET_TIME_ZONE, prepare=False)
        sessions = await fetch(connection, "session", session_key)
        if not sessions:
            raise Unauthorized
        user_id: int = sessions[0][0]
        return user_id

    async def _read(self, query: str, user_id: int) -> list[Row]:
        async with connected(self._pool) as connection:
            return await fetch(connection, query, user_id)


async def fetch(connection: Connection, query: str, *arguments: int | str) -> list[Row]:
    cursor = await connection.execute(QUERIES[query], arguments)
    return await cursor.fetchall()
