"""How the shared tests drive this implementation."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

import pytest
from fakes import FakeConnection, FakePool, FakeRepository
from falcon.testing import TestClient

from recipes.main import assemble
from recipes.repository import Repository


class Cursor:
    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    async def fetchall(self) -> list[Any]:
        return self.rows


class Connection(FakeConnection):
    async def execute(self, query: str, parameters: Any = (), *, prepare: bool | None = None) -> Cursor:
        return Cursor(self.run(query, parameters, prepare))

    async def close(self) -> None:  # type: ignore[override]
        super().close()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Self]:
        with self.bounds():
            yield self


class Pool(FakePool):
    async def open(self, wait: bool = False, timeout: float = 30) -> None:
        pass

    async def close(self) -> None:
        pass

    async def getconn(self) -> FakeConnection:
        """Waits for one that is free, as long as it takes."""
        while not self.free and not self.failure:  # noqa: ASYNC110
            await asyncio.sleep(0)
        return self.take()

    async def putconn(self, connection: FakeConnection) -> None:
        self.give(connection)


class AsyncRepository:
    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def method(*arguments: Any) -> Any:
            return getattr(FakeRepository(), name)(*arguments)

        return method


@pytest.fixture
def connection() -> FakeConnection:
    return Connection()


@pytest.fixture
def pool(connection: FakeConnection) -> FakePool:
    return Pool(connection)


@pytest.fixture
def run(pool: Any) -> Callable[..., Any]:
    """Calls a method of the repository; set_time_zone: as it is made."""

    def call(method: str, *arguments: Any, set_time_zone: bool = False) -> Any:
        return asyncio.run(getattr(Repository(pool, set_time_zone=set_time_zone), method)(*arguments))

    return call


@pytest.fixture
def client(pool: Any) -> TestClient:
    repository: Any = AsyncRepository()
    return TestClient(assemble(pool, repository))
