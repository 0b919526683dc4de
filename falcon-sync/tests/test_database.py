"""What becomes of a connection, and of a failure."""

import os
from collections.abc import Iterator
from typing import Any
from unittest.mock import MagicMock, Mock

import psycopg
import pytest
from psycopg_pool import NullConnectionPool

from recipes.database import Database, adapters
from shared.config import Settings
from shared.errors import DatabaseUnavailable


@pytest.fixture
def database() -> Any:
    database = Database(Settings())
    database._pool = MagicMock()
    return database


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    os.close(ends[0])


@pytest.mark.parametrize("failure", [psycopg.OperationalError("lost"), psycopg.errors.QueryCanceled("late")], ids=str)
def test_an_outage(database: Any, failure: Exception) -> None:
    database._pool.connection().__exit__.return_value = False
    with pytest.raises(DatabaseUnavailable) as raised, database.connection():
        raise failure
    assert raised.value.__cause__ is failure


def test_a_bug_is_no_outage(database: Any) -> None:
    database._pool.connection().__exit__.return_value = False
    with pytest.raises(psycopg.errors.UndefinedTable), database.connection():
        raise psycopg.errors.UndefinedTable("a typo")


def test_an_idle_connection_that_has_ended_is_not_used(database: Any, pipe: tuple[int, int]) -> None:
    idle = Mock(fileno=Mock(return_value=pipe[0]))
    database._check(idle)
    database._pool.drain.assert_not_called()
    os.close(pipe[1])
    with pytest.raises(psycopg.OperationalError):
        database._check(idle)
    database._pool.drain.assert_called_once_with()


def test_a_pool_keeps_all_its_connections_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKERS", "2")
    kept: Any = Database(Settings())
    assert (kept._pool.min_size, kept._pool.max_size) == (10, 10)
    monkeypatch.setenv("DB_PERSISTENT", "0")
    fresh: Any = Database(Settings())
    assert isinstance(fresh._pool, NullConnectionPool)
    assert (fresh._pool.max_lifetime, fresh._pool.max_size) == (0, 10)


@pytest.mark.parametrize(
    ("stats", "use"),
    [
        ({"pool_size": 20}, {"checkouts": 0, "wait_us": 0}),
        ({"requests_num": 9, "requests_wait_ms": 31}, {"checkouts": 9, "wait_us": 31_000}),
    ],
)
def test_what_the_pool_has_counted(database: Any, stats: dict[str, int], use: dict[str, int]) -> None:
    database._pool.get_stats.return_value = stats
    assert database.use() == use


@pytest.mark.parametrize("number", [1, 40_000, 2**31 - 1])
def test_an_id_has_one_type_whatever_its_value(number: int) -> None:
    dumped = psycopg.adapt.Transformer.from_context(Mock(adapters=adapters, connection=None))
    dumped.dump_sequence([number], [psycopg.adapt.PyFormat.AUTO])
    assert dumped.types == (psycopg.adapters.types["int4"].oid,)
