"""What becomes of a connection, and of a failure."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import asyncpg
import pytest

from recipes import database
from recipes.database import Database
from shared.config import Settings
from shared.errors import DatabaseUnavailable

ONE: dict[str, Any] = {"workers": "1", "db_pool_max": "1"}


class FakeConnection:
    def __init__(self, *, closed: bool = False) -> None:
        self.closed, self.terminated = closed, False

    def is_closed(self) -> bool:
        return self.closed

    def terminate(self) -> None:
        self.terminated = True


class FakePool:
    def __init__(self, connection: FakeConnection) -> None:
        self.connection = connection
        self.out = 0
        self.late_release = False

    async def acquire(self) -> FakeConnection:
        self.out += 1
        return self.connection

    async def release(self, connection: FakeConnection, timeout: float) -> None:
        self.out -= 1
        if self.late_release:
            raise TimeoutError


def with_pool(test: Callable[[Database, FakePool], Coroutine[Any, Any, None]], **connection: bool) -> FakePool:
    """Runs a test on one connection."""
    pool = FakePool(FakeConnection(**connection))

    async def run() -> None:
        opened: Any = Database(Settings(**ONE))
        opened._pool = pool
        await test(opened, pool)

    asyncio.run(run())
    assert pool.out == 0
    return pool


@pytest.mark.parametrize(
    "failure",
    [
        TimeoutError(),
        ConnectionRefusedError(),
        asyncpg.AdminShutdownError(),
        asyncpg.ConnectionDoesNotExistError(),
        asyncpg.TooManyConnectionsError(),
        asyncpg.ReadOnlySQLTransactionError(),
        asyncpg.InternalClientError(),
    ],
    ids=repr,
)
def test_an_outage(failure: Exception) -> None:
    async def test(database: Database, _: FakePool) -> None:
        with pytest.raises(DatabaseUnavailable) as raised:
            async with database.connection():
                raise failure
        assert raised.value.__cause__ is failure

    assert with_pool(test).connection.terminated is isinstance(failure, TimeoutError)


@pytest.mark.parametrize(
    "failure",
    [asyncpg.PostgresSyntaxError(), asyncpg.UndefinedTableError(), asyncpg.InterfaceError("misuse"), KeyError()],
)
def test_a_bug_is_no_outage(failure: Exception) -> None:
    async def test(database: Database, _: FakePool) -> None:
        with pytest.raises(type(failure)):
            async with database.connection():
                raise failure

    with_pool(test)


def test_what_the_driver_says_of_a_lost_connection_is_an_outage() -> None:
    async def test(database: Database, _: FakePool) -> None:
        with pytest.raises(DatabaseUnavailable):
            async with database.connection():
                raise asyncpg.InterfaceError("released")

    with_pool(test, closed=True)


def test_what_is_done_is_done_however_the_connection_ends() -> None:
    async def test(database: Database, pool: FakePool) -> None:
        pool.late_release = True
        async with database.connection():
            pass

    with_pool(test)


def test_first_come_first_served_and_a_wait_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "ACQUIRE_TIMEOUT_S", 0.05)
    served = []

    async def use(opened: Database, number: int) -> None:
        async with opened.connection():
            served.append(number)

    async def test(opened: Database, _: FakePool) -> None:
        async with opened.connection():
            with pytest.raises(DatabaseUnavailable):
                await use(opened, 0)
            first, second = (asyncio.create_task(use(opened, number)) for number in (1, 2))
            await asyncio.sleep(0)
        await use(opened, 3)
        await asyncio.gather(first, second)

    with_pool(test)
    assert served == [1, 2, 3]


def test_a_client_that_leaves_takes_no_connection_with_it() -> None:
    async def hold(opened: Database) -> None:
        async with opened.connection():
            await asyncio.sleep(9)

    async def test(opened: Database, _: FakePool) -> None:
        holding, waiting = (asyncio.create_task(hold(opened)) for _ in range(2))
        await asyncio.sleep(0.01)
        waiting.cancel()
        holding.cancel()
        await asyncio.gather(holding, waiting, return_exceptions=True)
        async with opened.connection():
            pass

    with_pool(test)
