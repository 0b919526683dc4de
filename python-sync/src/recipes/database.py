"""One connection for the length of a request: from Django's pool, or opened for it."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from select import POLLIN, poll
from threading import BoundedSemaphore
from typing import cast

from django.db import Error, InterfaceError, InternalError, NotSupportedError, OperationalError, connection
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.backends.utils import CursorWrapper

from recipes.config import ACQUIRE_TIMEOUT_S, env
from recipes.errors import DatabaseUnavailable
from recipes.models import PoolUse

# What a server that is away or stopping does to a connection, in any of its states. Psycopg's InternalError: a
# farewell that arrives together with the answer to COMMIT is one result too many. NotSupportedError: a change of the
# schema left a prepared statement with a plan that does not fit; it goes with its connection.
UNAVAILABLE = (OperationalError, InternalError, NotSupportedError)

slots = BoundedSemaphore(env.pool_size)


@contextmanager
def slot() -> Iterator[None]:
    """What limits connections that no pool counts."""
    if not slots.acquire(timeout=ACQUIRE_TIMEOUT_S):
        raise OperationalError("every connection is in use")
    try:
        yield
    finally:
        slots.release()


@contextmanager
def open_cursor() -> Iterator[CursorWrapper]:
    """Raises DatabaseUnavailable. Gives the connection back when the queries are done, not when the answer is sent."""
    try:
        with nullcontext() if env.db_persistent else slot():
            try:
                connect()
                with connection.cursor() as cursor:
                    yield cursor
            except Error as error:
                # An InterfaceError is a bug, unless the connection was lost while it was used.
                lost = isinstance(error, InterfaceError) and is_lost()
                discard()
                if lost:
                    raise DatabaseUnavailable from error
                raise
            finally:
                connection.close()
    except UNAVAILABLE as error:
        raise DatabaseUnavailable from error


def connect() -> None:
    """Takes a connection, passing over those that the server closed while they were idle."""
    connection.ensure_connection()
    while is_readable(connection.connection.fileno()):
        discard()
        connection.ensure_connection()


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


def is_lost() -> bool:
    used = connection.connection
    return used is None or used.closed or is_readable(used.fileno())


def discard() -> None:
    """Closes psycopg's connection, which is not to be used again; its pool replaces it in the background."""
    if connection.connection:
        connection.connection.close()
        connection.close()
