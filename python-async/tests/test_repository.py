"""Which statements run, in which order, and when a connection is given up."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest
from rows import ROWS

from recipes.config import QUERIES
from recipes.database import Connection, guarded
from recipes.errors import DatabaseUnavailable, NotFound, Unauthorized
from recipes.models import Recipe
from recipes.repository import Repository, read_queries

pytestmark = pytest.mark.anyio

NAME_OF = {text: name for name, text in read_queries(QUERIES).items()}
PARTS = ["ingredients", "steps", "sections", "notes", "reactions", "timeline_events"]


class Row(tuple[Any, ...]):
    """As asyncpg's Record: a tuple whose columns have names too."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(0 if key == "id" else key)


class FakeConnection:
    def __init__(self, session: int | None = 1, recipe: tuple[Any, ...] | None = ROWS["recipe"]) -> None:
        self.session, self.recipe = session, recipe
        self.statements: list[tuple[str, Any]] = []
        self.terminated = False

    async def fetchval(self, query: str, *arguments: Any) -> int | None:
        self.statements.append((NAME_OF[query], arguments))
        return self.session

    async def fetchrow(self, query: str, *arguments: Any) -> Row | None:
        self.statements.append((NAME_OF[query], arguments))
        return Row(self.recipe) if self.recipe else None

    async def fetch(self, query: str, *arguments: Any) -> Any:
        self.statements.append((NAME_OF[query], arguments))
        return ROWS[NAME_OF[query]]

    def terminate(self) -> None:
        self.terminated = True


def repository(connection: Any) -> Repository:
    return Repository(lambda: guarded(given(connection)), read_queries(QUERIES))


@asynccontextmanager
async def given(connection: Any) -> AsyncIterator[Connection]:
    yield connection


async def test_eight_statements_on_one_connection() -> None:
    connection = FakeConnection()
    recipe = await repository(connection).recipe_by_id("key", 7)
    assert recipe == Recipe.from_rows(**ROWS)
    assert connection.statements == [
        ("session", ("key",)),
        ("recipe_by_id", (1, 7)),
        *((part, (7,)) for part in PARTS),
    ]


async def test_random_recipe_asks_for_the_user_only() -> None:
    connection = FakeConnection()
    await repository(connection).random_recipe("key")
    assert connection.statements[1] == ("recipe_random", (1,))


async def test_no_session_ends_after_one_statement() -> None:
    connection = FakeConnection(session=None)
    with pytest.raises(Unauthorized):
        await repository(connection).recipe_by_id("key", 7)
    assert len(connection.statements) == 1
    assert not connection.terminated


async def test_no_recipe_ends_after_two_statements() -> None:
    connection = FakeConnection(recipe=None)
    with pytest.raises(NotFound):
        await repository(connection).recipe_by_id("key", 7)
    assert len(connection.statements) == 2


@pytest.mark.parametrize(
    "error",
    [
        ConnectionResetError(),
        TimeoutError(),
        asyncpg.InterfaceError("connection is closed"),
        asyncpg.AdminShutdownError(),
        asyncpg.ProtocolViolationError(),
        asyncpg.TooManyConnectionsError(),
        asyncpg.InvalidSQLStatementNameError(),
    ],
)
async def test_a_connection_that_failed_is_not_used_again(error: Exception) -> None:
    connection = FakeConnection()
    with pytest.raises(DatabaseUnavailable) as raised:
        async with guarded(given(connection)):
            raise error
    assert raised.value.__cause__ is error
    assert connection.terminated


async def test_a_bug_is_not_mistaken_for_an_outage() -> None:
    with pytest.raises(asyncpg.UndefinedTableError):
        async with guarded(given(FakeConnection())):
            raise asyncpg.UndefinedTableError
