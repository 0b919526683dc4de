"""When a connection is passed over or given up."""

import os
from collections.abc import Iterator
from unittest.mock import MagicMock

import pytest
from django.db import Error, InterfaceError, InternalError, NotSupportedError, OperationalError, ProgrammingError

from recipes import database
from recipes.database import open_cursor, pool_use, set_time_zone
from recipes.errors import DatabaseUnavailable, NotFound
from recipes.models import PoolUse


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch, pipe: tuple[int, int]) -> MagicMock:
    connection = MagicMock()
    connection.connection.fileno.return_value = pipe[0]
    connection.connection.closed = False
    monkeypatch.setattr(database, "connection", connection)
    return connection


def test_an_answer_gives_the_connection_back(connection: MagicMock) -> None:
    with pytest.raises(NotFound), open_cursor():
        raise NotFound
    connection.connection.close.assert_not_called()
    connection.close.assert_called_once_with()


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("terminating connection due to administrator command"),
        InternalError("received 2 results from command 'COMMIT'"),
        NotSupportedError("cached plan must not change result type"),
    ],
)
def test_a_connection_that_failed_is_not_used_again(connection: MagicMock, error: Error) -> None:
    with pytest.raises(DatabaseUnavailable) as raised, open_cursor():
        raise error
    assert raised.value.__cause__ is error
    connection.connection.close.assert_called_once_with()


@pytest.mark.parametrize(
    ("stats", "use"),
    [
        ({"pool_size": 20}, {"checkouts": 0, "wait_us": 0}),
        ({"requests_num": 9, "requests_queued": 2, "requests_wait_ms": 31}, {"checkouts": 9, "wait_us": 31_000}),
    ],
)
def test_what_the_pool_has_counted(connection: MagicMock, stats: dict[str, int], use: PoolUse) -> None:
    connection.pool.get_stats.return_value = stats
    assert pool_use() == use


def test_the_time_zone_is_set_unprepared(connection: MagicMock) -> None:
    with open_cursor():
        set_time_zone()
    connection.connection.execute.assert_called_once_with("SET TIME ZONE 'UTC'", prepare=False)


@pytest.mark.parametrize("error", [ProgrammingError("syntax error"), InterfaceError("the cursor is closed")])
def test_a_bug_is_not_mistaken_for_an_outage(connection: MagicMock, error: Error) -> None:
    with pytest.raises(type(error)), open_cursor():
        raise error
    connection.connection.close.assert_called_once_with()


def test_a_connection_that_was_lost_is_an_outage(connection: MagicMock) -> None:
    connection.connection.closed = True
    with pytest.raises(DatabaseUnavailable), open_cursor():
        raise InterfaceError("the connection is closed")


def test_a_connection_that_the_server_closed_is_passed_over(connection: MagicMock, pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"terminating connection due to administrator command")
    dead = connection.connection
    dead.close.side_effect = lambda: os.read(pipe[0], 100)
    with open_cursor():
        pass
    dead.close.assert_called_once_with()
    assert connection.ensure_connection.call_count == 2
