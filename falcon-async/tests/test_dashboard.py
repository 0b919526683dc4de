"""What the shared tests cannot ask: the four reads of a dashboard run at once."""

import asyncio
from typing import Any

import psycopg
import pytest
from fakes import FakeConnection
from model import Connection, Cursor, Pool

from recipes.repository import Repository
from shared.errors import DatabaseUnavailable


class Meeting(Connection):
    """Answers a read of the dashboard when four have been asked."""

    def __init__(self, barrier: asyncio.Barrier) -> None:
        super().__init__()
        self.barrier = barrier

    async def execute(self, query: str, parameters: Any = (), *, prepare: bool | None = None) -> Cursor:
        cursor = await super().execute(query, parameters, prepare=prepare)
        if self.statements[-1][0].startswith("dashboard_"):
            await self.barrier.wait()
        return cursor


def test_the_reads_of_a_dashboard_run_at_once_on_connections_of_their_own() -> None:
    async def ask() -> list[FakeConnection]:
        connections: list[FakeConnection] = [Meeting(barrier) for barrier in [asyncio.Barrier(4)] for _ in range(4)]
        pool: Any = Pool(*connections)
        await asyncio.wait_for(Repository(pool, set_time_zone=False).dashboard("key"), 5)
        return connections

    for connection in asyncio.run(ask()):
        reads = [name for name, _ in connection.statements if name != "session"]
        assert len(reads) == 1


def test_a_read_that_fails_cancels_no_other() -> None:
    """To cancel a statement psycopg asks the database, for seconds if that is frozen."""
    ended: list[str] = []

    class Slow(Connection):
        async def execute(self, query: str, parameters: Any = (), *, prepare: bool | None = None) -> Cursor:
            cursor = await super().execute(query, parameters, prepare=prepare)
            name = self.statements[-1][0]
            if name == "dashboard_recipes":
                raise psycopg.errors._WaitTimeout("wait timeout expired")
            await asyncio.sleep(0.01)
            ended.append(name)
            return cursor

    pool: Any = Pool(*(Slow() for _ in range(4)))
    with pytest.raises(DatabaseUnavailable):
        asyncio.run(Repository(pool, set_time_zone=False).dashboard("key"))
    assert sorted(ended) == ["dashboard_events", "dashboard_notes", "dashboard_teams", "session"]


def test_with_one_connection_a_dashboard_works_still() -> None:
    async def ask() -> list[str]:
        connection = Connection()
        pool: Any = Pool(connection)
        await asyncio.wait_for(Repository(pool, set_time_zone=False).dashboard("key"), 5)
        return [name for name, _ in connection.statements]

    assert len(asyncio.run(ask())) == 5
