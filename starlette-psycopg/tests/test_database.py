"""What becomes of a connection, and of a failure."""

import asyncio
import os
from typing import Any
from unittest.mock import AsyncMock, MagicMock, Mock

import psycopg
import pytest
from psycopg_pool import AsyncNullConnectionPool

from recipes.database import Database
from shared.config import Settings
from shared.errors import DatabaseUnavailable


async def use(failure: Exception) -> None:
    database: Any = Database(Settings())
    database._pool = MagicMock()
    database._pool.connection().__aexit__.return_value = False
    async with database.connection():
        raise failure


@pytest.mark.parametrize("failure", [psycopg.OperationalError("lost"), psycopg.errors.QueryCanceled("late")], ids=str)
def test_an_outage(failure: Exception) -> None:
    with pytest.raises(DatabaseUnavailable) as raised:
        asyncio.run(use(failure))
    assert raised.value.__cause__ is failure


def test_a_bug_is_no_outage() -> None:
    with pytest.raises(psycopg.errors.UndefinedTable):
        asyncio.run(use(psycopg.errors.UndefinedTable("a typo")))


def test_an_idle_connection_that_has_ended_is_not_used() -> None:
    async def test(client: int, server: int) -> None:
        database: Any = Database(Settings())
        database._pool = AsyncMock()
        idle = Mock(fileno=Mock(return_value=client))
        await database._check(idle)
        database._pool.drain.assert_not_called()
        os.close(server)
        with pytest.raises(psycopg.OperationalError):
            await database._check(idle)
        database._pool.drain.assert_awaited_once_with()
        os.close(client)

    asyncio.run(test(*os.pipe()))


def test_a_pool_keeps_all_its_connections_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    async def pool() -> Any:
        database: Any = Database(Settings())
        return database._pool

    monkeypatch.setenv("WORKERS", "2")
    kept = asyncio.run(pool())
    assert (kept.min_size, kept.max_size) == (10, 10)
    monkeypatch.setenv("DB_PERSISTENT", "0")
    fresh = asyncio.run(pool())
    assert isinstance(fresh, AsyncNullConnectionPool)
    assert (fresh.max_lifetime, fresh.max_size) == (0, 10)
