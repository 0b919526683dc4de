"""One connection for the length of a request: from Django's pool, or opened for it."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from select import POLLIN, poll
from threading import BoundedSemaphore
from typing import cast

import psycopg
from django.db import Error, OperationalError, connection
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.backends.utils import CursorWrapper

from recipes.config import ACQUIRE_TIMEOUT_S, env
from recipes.errors import DatabaseUnavailable
from recipes.models import PoolUse

# SQLSTATEs of a server that is away, full, stopping, in trouble, or one that only reads, by their beginnings.
# https://www.postgresql.org/docs/17/errcodes-appendix.html
AWAY = ("08", "25006", "53", "57", "58", "XX")
# Of class 08, but a message that does not fit the statement is a mistake of this program.
PROTOCOL_VIOLATION = "08P01"
# The server ends the connection with it. So do PgBouncer's errors, which are protocol violations all.
FAREWELLS = ("FATAL", "PANIC")

slots = BoundedSemaphore(env.pool_size)


@contextmanager
def slot() -> Iterator[None]:
    """What limits connections that no pool counts."""
    if not slots.acquire(timeout=ACQUIRE_TIMEOUT_S):
        raise DatabaseUnavailable from TimeoutError("every connection is in use")
    try:
        yield
    finally:
        slots.release()


@contextmanager
def open_cursor() -> Iterator[CursorWrapper]:
    """Raises DatabaseUnavailable. Gives the connection back when the queries are done, not when the answer is sent."""
    used = None
    with nullcontext() if env.db_persistent else slot():
        try:
            used = connect()
            with connection.cursor() as cursor:
                yield cursor
        except Error as error:
            away = is_away(error, used)
            discard()
            if away:
                raise DatabaseUnavailable from error
            raise
        finally:
            connection.close()


def connect() -> psycopg.Connection[tuple[object, ...]]:
    """Takes and returns a connection that the server has not closed while it was idle. Raises DatabaseUnavailable."""
    try:
        connection.ensure_connection()
        while is_readable(connection.connection.fileno()):
            discard()
            connection.ensure_connection()
    except OperationalError as error:
        raise DatabaseUnavailable from error
    return cast("psycopg.Connection[tuple[object, ...]]", connection.connection)


def pool_use() -> PoolUse:
    """What the pool has counted since this process started; it counts waits in whole milliseconds, rounded down.

    https://www.psycopg.org/psycopg3/docs/advanced/pool.html#pool-stats
    """
    stats: dict[str, int] = cast(DatabaseWrapper, connection).pool.get_stats()
    # What never happened has no key.
    return {"checkouts": stats.get("requests_num", 0), "wait_us": 1000 * stats.get("requests_wait_ms", 0)}


def set_time_zone() -> None:
    """A simple query, never prepared: pg_stat_statements counts a prepared SET the first time only."""
    with connection.wrap_database_errors:
        connection.connection.execute("SET TIME ZONE 'UTC'", prepare=False)


def is_readable(descriptor: int) -> bool:
    """On an idle connection that is the end of the file, or the server's reason for it. Asks the kernel only."""
    poller = poll()
    poller.register(descriptor, POLLIN)
    return bool(poller.poll(0))


def is_away(error: Error, used: psycopg.Connection[tuple[object, ...]] | None) -> bool:
    """Whether a failed statement means that the database is away, stopping, full or slow, and is no mistake of ours.
    used: the connection that it failed on. Where that breaks in a transaction, Django has opened another one by now.

    Django's errors have psycopg's as their causes, of which OperationalError means either:
    https://www.psycopg.org/psycopg3/docs/api/errors.html
    """
    cause = error.__cause__
    state = cause.diag.sqlstate or cause.sqlstate if isinstance(cause, psycopg.Error) else None
    if not isinstance(cause, psycopg.Error) or not state:
        # It is psycopg or Django that complains: of the server, if it is late, or if the connection has ended.
        return isinstance(cause, psycopg.errors._WaitTimeout) or has_ended(used)
    if (cause.diag.severity_nonlocalized or cause.diag.severity) in FAREWELLS:
        return True
    # A change of the schema left a prepared statement with a plan that does not fit; it goes with its connection.
    if cause.diag.source_function == "RevalidateCachedQuery":
        return True
    return state.startswith(AWAY) and state != PROTOCOL_VIOLATION


def has_ended(used: psycopg.Connection[tuple[object, ...]] | None) -> bool:
    return used is None or used.closed or is_readable(used.fileno())


def discard() -> None:
    """Closes psycopg's connection, which is not to be used again; its pool replaces it in the background."""
    if connection.connection:
        connection.connection.close()
        connection.close()
