"""Which statements run and in which order, and what becomes of the connection."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from fakes import FakeConnection, FakePool
from rows import DASHBOARD_ROWS, ROWS

from shared.errors import DatabaseUnavailable, NotFound, Unauthorized
from shared.models import dashboard_from_rows, recipe_from_rows
from shared.queries import DASHBOARD, PARTS, SET_TIME_ZONE

type Run = Callable[..., Any]

USES = pytest.mark.parametrize(
    "use",
    [("random_recipe", "key"), ("recipe_by_id", "key", 7), ("write_note", "key", 7, "text"), ("dashboard", "key")],
    ids=lambda use: use[0],
)


def told(kind: type[psycopg.Error], state: str, severity: str = "ERROR", function: str = "") -> psycopg.Error:
    """What the server says."""
    field = psycopg.pq.DiagnosticField
    fields = {field.SQLSTATE: state, field.SEVERITY: severity, field.SOURCE_FUNCTION: function}
    return kind(state, info={name: text.encode() for name, text in fields.items()})


def test_eight_statements(run: Run, connection: FakeConnection, pool: FakePool) -> None:
    assert run("recipe_by_id", "key", 7) == recipe_from_rows(**ROWS)
    assert connection.statements == [
        ("session", ("key",)),
        ("recipe_by_id", (1, 7)),
        *((part, (7,)) for part in PARTS),
    ]
    assert pool.taken == 1


def test_random_recipe_asks_for_the_user_only(run: Run, connection: FakeConnection) -> None:
    run("random_recipe", "key")
    assert connection.statements[1] == ("recipe_random", (1,))


@USES
def test_a_request_sets_the_time_zone_first_and_once_if_asked_to(
    run: Run, connection: FakeConnection, use: tuple[Any, ...]
) -> None:
    run(*use)
    plain = connection.statements.copy()
    connection.statements.clear()
    run(*use, set_time_zone=True)
    assert connection.statements == [(SET_TIME_ZONE, ()), *plain]
    assert connection.unprepared == [SET_TIME_ZONE]


@USES
def test_no_session_ends_after_one_statement(
    run: Run, connection: FakeConnection, pool: FakePool, use: tuple[Any, ...]
) -> None:
    connection.tables["session"] = []
    with pytest.raises(Unauthorized):
        run(*use)
    assert len(connection.statements) == 1
    assert pool.free == [connection]


def test_no_recipe_ends_after_two_statements(run: Run, connection: FakeConnection) -> None:
    connection.tables["recipe_by_id"] = []
    with pytest.raises(NotFound):
        run("recipe_by_id", "key", 7)
    assert len(connection.statements) == 2


def test_a_note_and_its_event_are_one_transaction(run: Run, connection: FakeConnection) -> None:
    assert run("write_note", "key", 7, "text") == 9
    assert connection.statements == [
        ("session", ("key",)),
        ("BEGIN", None),
        ("note_insert", (1, 7, "text")),
        ("event_insert", (1, 7)),
        ("COMMIT", None),
    ]


def test_a_note_on_no_recipe_is_rolled_back(run: Run, connection: FakeConnection, pool: FakePool) -> None:
    connection.tables["note_insert"] = []
    with pytest.raises(NotFound):
        run("write_note", "key", 7, "text")
    assert [name for name, _ in connection.statements] == ["session", "BEGIN", "note_insert", "ROLLBACK"]
    assert pool.free == [connection]


def test_a_dashboard_is_five_statements(run: Run, connection: FakeConnection) -> None:
    assert run("dashboard", "key") == dashboard_from_rows(1, **DASHBOARD_ROWS)
    assert [name for name, _ in connection.statements] == ["session", *(f"dashboard_{name}" for name in DASHBOARD)]


@pytest.mark.parametrize(
    "failure",
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
@USES
def test_a_connection_that_failed_is_not_used_again(
    run: Run, connection: FakeConnection, pool: FakePool, use: tuple[Any, ...], failure: Exception
) -> None:
    connection.failure = failure
    with pytest.raises(DatabaseUnavailable) as raised:
        run(*use)
    assert raised.value.__cause__ is failure
    assert connection.closed
    assert pool.free == []


@pytest.mark.parametrize(
    "failure",
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
        psycopg.InterfaceError("misuse"),
    ],
    ids=repr,
)
def test_a_bug_is_not_mistaken_for_an_outage(run: Run, connection: FakeConnection, failure: Exception) -> None:
    connection.failure = failure
    with pytest.raises(type(failure)):
        run("recipe_by_id", "key", 7)
    assert connection.closed


@pytest.mark.parametrize(
    "failure",
    [
        psycopg.InterfaceError("the connection is closed"),
        psycopg.OperationalError("consuming input failed: server closed the connection unexpectedly"),
        psycopg.InternalError("received 2 results from command 'COMMIT'"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_the_driver_says_of_a_closed_connection_is_an_outage(
    run: Run, connection: FakeConnection, failure: Exception
) -> None:
    connection.failure, connection.closed = failure, True
    with pytest.raises(DatabaseUnavailable):
        run("recipe_by_id", "key", 7)


def test_a_pool_without_a_free_connection(run: Run, pool: FakePool) -> None:
    pool.failure = psycopg.OperationalError("couldn't get a connection after 1.50 sec")
    with pytest.raises(DatabaseUnavailable):
        run("recipe_by_id", "key", 7)


def test_a_connection_that_the_server_closed_is_not_used(run: Run, connection: FakeConnection, pool: FakePool) -> None:
    spare = type(connection)()
    connection.hear(b"terminating connection due to administrator command")
    pool.free.append(spare)
    assert run("recipe_by_id", "key", 7) == recipe_from_rows(**ROWS)
    assert connection.closed
    assert connection.statements == []
    assert pool.free == [spare]
