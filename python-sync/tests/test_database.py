"""What becomes of a connection, and of a failure."""

import os
from collections.abc import Iterator
from unittest.mock import MagicMock, Mock

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError

from recipes import database
from recipes.database import check_connection, open_cursor, pool_use
from shared.errors import DatabaseUnavailable, NotFound


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    connection = MagicMock()
    monkeypatch.setattr(database, "connection", connection)
    return connection


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    os.close(ends[0])


@pytest.mark.parametrize("error", [NotFound(), ProgrammingError("a typo"), InterfaceError("misuse"), KeyError()])
def test_what_is_no_outage_gives_the_connection_back(connection: MagicMock, error: Exception) -> None:
    with pytest.raises(type(error)), open_cursor():
        raise error
    connection.close.assert_called_once_with()


def test_an_outage(connection: MagicMock) -> None:
    with pytest.raises(DatabaseUnavailable) as raised, open_cursor():
        raise OperationalError("the server is away")
    assert "away" in str(raised.value.__cause__)
    connection.close.assert_called_once_with()


def test_no_more_connections_than_slots_without_a_pool(connection: MagicMock, monkeypatch: pytest.MonkeyPatch) -> None:
    slots = Mock(acquire=Mock(return_value=False))
    monkeypatch.setattr(database, "slots", slots)
    monkeypatch.setattr(database, "settings", Mock(db_persistent=False))
    with pytest.raises(DatabaseUnavailable), open_cursor():
        pass
    slots.release.assert_not_called()
    slots.acquire.return_value = True
    with pytest.raises(NotFound), open_cursor():
        raise NotFound
    slots.release.assert_called_once_with()


def test_an_idle_connection_that_has_ended_is_not_used(connection: MagicMock, pipe: tuple[int, int]) -> None:
    idle = Mock(fileno=Mock(return_value=pipe[0]))
    check_connection(idle)
    connection.pool.drain.assert_not_called()
    os.close(pipe[1])
    with pytest.raises(psycopg.OperationalError):
        check_connection(idle)
    connection.pool.drain.assert_called_once_with()


@pytest.mark.parametrize(
    ("stats", "use"),
    [
        ({"pool_size": 20}, {"checkouts": 0, "wait_us": 0}),
        ({"requests_num": 9, "requests_wait_ms": 31}, {"checkouts": 9, "wait_us": 31_000}),
    ],
)
def test_what_the_pool_has_counted(connection: MagicMock, stats: dict[str, int], use: dict[str, int]) -> None:
    connection.pool.get_stats.return_value = stats
    assert pool_use() == use
