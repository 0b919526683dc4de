"""The contract's statements: one after the other on one connection, save the four reads of a dashboard."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from recipes.database import Connect, Connection
from recipes.errors import NotFound, Unauthorized
from recipes.models import Dashboard, Recipe, Row, dashboard_from_rows, recipe_from_rows

SET_TIME_ZONE = "SET TIME ZONE 'UTC'"


def read_queries(folder: Path) -> dict[str, str]:
    """The text of every query by its file's name."""
    return {file.stem: file.read_text() for file in folder.glob("*.sql")}


class Repository:
    def __init__(self, connect: Connect, queries: Mapping[str, str], *, set_time_zone: bool = False) -> None:
        self._connect = connect
        self._queries = queries
        self._set_time_zone = set_time_zone

    async def random_recipe(self, session_key: str) -> Recipe:
        """Raises Unauthorized without a live session, NotFound if its user sees no recipe."""
        return await self._recipe(session_key, "recipe_random")

    async def recipe_by_id(self, session_key: str, recipe_id: int) -> Recipe:
        """Raises Unauthorized without a live session, NotFound if its user sees no such recipe."""
        return await self._recipe(session_key, "recipe_by_id", recipe_id)

    async def write_note(self, session_key: str, recipe_id: int, text: str) -> int:
        """The new note's id, once it is stored with its event; raises as `recipe_by_id`."""
        async with self._connect() as connection:
            user_id = await self._user(connection, session_key)
            async with connection.transaction():
                note_id: int | None = await connection.fetchval(self._queries["note_insert"], user_id, recipe_id, text)
                if note_id is None:
                    raise NotFound
                # Not `execute`, which would never prepare it.
                await connection.fetch(self._queries["event_insert"], user_id, recipe_id)
        return note_id

    async def dashboard(self, session_key: str) -> Dashboard:
        """Raises Unauthorized without a live session."""
        async with self._connect() as connection:
            user_id = await self._user(connection, session_key)
        try:
            async with asyncio.TaskGroup() as group:
                reads = {
                    name: group.create_task(self._read(f"dashboard_{name}", user_id))
                    for name in ("recipes", "teams", "notes", "events")
                }
        except ExceptionGroup as errors:
            # One answer for a request: the first error, as without a group.
            raise errors.exceptions[0] from errors.exceptions[0].__cause__
        return dashboard_from_rows(user_id, **{name: read.result() for name, read in reads.items()})

    async def _recipe(self, session_key: str, query: str, *arguments: int) -> Recipe:
        queries = self._queries
        async with self._connect() as connection:
            user_id = await self._user(connection, session_key)
            recipe = await connection.fetchrow(queries[query], user_id, *arguments)
            if recipe is None:
                raise NotFound
            parts = {
                name: await connection.fetch(queries[name], recipe["id"])
                for name in ("ingredients", "steps", "sections", "notes", "reactions", "timeline_events")
            }
        return recipe_from_rows(recipe, **parts)

    async def _user(self, connection: Connection, session_key: str) -> int:
        """What every request begins with."""
        if self._set_time_zone:
            # A simple query: one round trip, and nothing to prepare.
            await connection.execute(SET_TIME_ZONE)
        user_id: int | None = await connection.fetchval(self._queries["session"], session_key)
        if user_id is None:
            raise Unauthorized
        return user_id

    async def _read(self, query: str, user_id: int) -> list[Row]:
        async with self._connect() as connection:
            return await connection.fetch(self._queries[query], user_id)
