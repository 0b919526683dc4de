"""How the shared tests drive this implementation."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Self

import pytest
from fakes import FakeConnection, FakePool, FakeRepository
from falcon.testing import TestClient

from recipes.main import assemble
from recipes.repository import Repository


class Connection(FakeConnection):
    def execute(self, query: str, parameters: Any = (), *, prepare: bool | None = None) -> Self:
        self.rows = self.run(query, parameters, prepare)
        return self

    def fetchall(self) -> list[Any]:
        return self.rows

    def transaction(self) -> AbstractContextManager[object]:
        return self.bounds()


class Pool(FakePool):
    getconn = FakePool.take
    putconn = FakePool.give


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
        return getattr(Repository(pool, set_time_zone=set_time_zone), method)(*arguments)

    return call


@pytest.fixture
def client(pool: Any) -> TestClient:
    repository: Any = FakeRepository()
    return TestClient(assemble(pool, repository))
