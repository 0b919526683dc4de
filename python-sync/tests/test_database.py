"""When a connection is passed over or given up."""

import os
from collections.abc import Iterator
from unittest.mock import MagicMock

import psycopg
import pytest
from django.db import Error, InterfaceError, InternalError, NotSupportedError, OperationalError, ProgrammingError

from recipes import database
from recipes.database import open_cursor, pool_use, set_time_zone
from recipes.errors import DatabaseUnavailable, NotFound
from recipes.models import PoolUse

KINDS = (OperationalError, InternalError, NotSupportedError, ProgrammingError, InterfaceError)


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


def told(kind: type[psycopg.Error], state: str, severity: str = "ERROR", function: str = "") -> psycopg.Error:
    """What the server says."""
    field = psycopg.pq.DiagnosticField
    fields = {field.SQLSTATE: state, field.SEVERITY: severity, field.SOURCE_FUNCTION: function}
    return kind(state, info={name: text.encode() for name, text in fields.items()})


def of_django(cause: psycopg.Error) -> Error:
    """As Django hands it on."""
    names = {kind.__name__ for kind in type(cause).__mro__}
    error = next(kind for kind in KINDS if kind.__name__ in names)(*cause.args)
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "cause",
    [
        told(psycopg.errors.AdminShutdown, "57P01", "FATAL"),
        told(psycopg.errors.ProtocolViolation, "08P01", "FATAL"),
        told(psycopg.errors.IdleInTransactionSessionTimeout, "25P03", "FATAL"),
        told(psycopg.errors.QueryCanceled, "57014"),
        told(psycopg.errors.DiskFull, "53100"),
        told(psycopg.errors.ReadOnlySqlTransaction, "25006"),
        told(psycopg.errors.FeatureNotSupported, "0A000", function="RevalidateCachedQuery"),
        psycopg.errors._WaitTimeout("wait timeout expired"),
    ],
    ids=repr,
)
def test_a_database_that_is_away_is_an_outage(connection: MagicMock, cause: psycopg.Error) -> None:
    error = of_django(cause)
    with pytest.raises(DatabaseUnavailable) as raised, open_cursor():
        raise error
    assert raised.value.__cause__ is error
    connection.connection.close.assert_called_once_with()


def test_whoever_gets_no_connection_is_told_of_an_outage(connection: MagicMock) -> None:
    connection.ensure_connection.side_effect = OperationalError("couldn't get a connection after 1.50 sec")
    with pytest.raises(DatabaseUnavailable), open_cursor():
        pass


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


@pytest.mark.parametrize(
    "cause",
    [
        told(psycopg.errors.SyntaxError, "42601"),
        told(psycopg.errors.DeadlockDetected, "40P01"),
        told(psycopg.errors.StatementTooComplex, "54001"),
        told(psycopg.errors.LockNotAvailable, "55P03"),
        told(psycopg.errors.FeatureNotSupported, "0A000"),
        told(psycopg.errors.InvalidSqlStatementName, "26000"),
        told(psycopg.errors.InFailedSqlTransaction, "25P02"),
        told(psycopg.errors.ProtocolViolation, "08P01"),
        psycopg.OperationalError("sending query failed: another command is already in progress"),
        psycopg.InternalError("got no result from the query"),
        psycopg.InterfaceError("the cursor is closed"),
    ],
    ids=repr,
)
def test_a_bug_is_not_mistaken_for_an_outage(connection: MagicMock, cause: psycopg.Error) -> None:
    error = of_django(cause)
    with pytest.raises(type(error)), open_cursor():
        raise error
    connection.connection.close.assert_called_once_with()


@pytest.mark.parametrize(
    "error",
    [
        InterfaceError("connection already closed"),
        of_django(psycopg.OperationalError("consuming input failed: server closed the connection unexpectedly")),
        of_django(psycopg.InternalError("received 2 results from command 'COMMIT'")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_connection_that_was_lost_is_an_outage(connection: MagicMock, error: Error) -> None:
    connection.connection.closed = True
    with pytest.raises(DatabaseUnavailable), open_cursor():
        raise error


def test_a_connection_that_was_lost_in_a_transaction_is_an_outage(connection: MagicMock, pipe: tuple[int, int]) -> None:
    """Django opens another one as it leaves the transaction, and that one is fine."""

    def lose() -> None:
        connection.connection.closed = True
        connection.connection = MagicMock(closed=False)
        connection.connection.fileno.return_value = pipe[0]
        raise of_django(psycopg.OperationalError("consuming input failed: server closed the connection unexpectedly"))

    with pytest.raises(DatabaseUnavailable), open_cursor():
        lose()


def test_a_connection_that_the_server_closed_is_passed_over(connection: MagicMock, pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"terminating connection due to administrator command")
    dead = connection.connection
    dead.close.side_effect = lambda: os.read(pipe[0], 100)
    with open_cursor():
        pass
    dead.close.assert_called_once_with()
    assert connection.ensure_connection.call_count == 2
