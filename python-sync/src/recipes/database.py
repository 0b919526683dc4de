"""One connection for the length of a request: from Django's pool, or opened for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from select import POLLIN, poll
from threading import BoundedSemaphore
from typing import cast

import psycopg
from django.db import OperationalError, connection
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.backends.utils import CursorWrapper

from shared.config import settings
from shared.errors import DatabaseUnavailable

# What limits connections that no pool counts.
slots = BoundedSemaphore(settings.pool_size)


@contextmanager
def open_cursor() -> Iterator[CursorWrapper]:
    """Raises DatabaseUnavailable. Gives the connection back when the queries are done, not when the answer is sent."""
    if not settings.db_persistent and not slots.acquire(timeout=1.5):
        raise DatabaseUnavailable from TimeoutError("every connection is in use")
    try:
        with connection.cursor() as cursor:
            yield cursor
    except OperationalError as error:
        raise DatabaseUnavailable from error
    finally:
        connection.close()
        if not settings.db_persistent:
            slots.release()


def django_database() -> DatabaseWrapper:
    return cast(DatabaseWrapper, connection)


def check_connection(idle: psycopg.Connection) -> None:
    """For the pool, before it hands a connection on. It asks the kernel: an idle one has nothing to read but its end.

    Django's CONN_HEALTH_CHECKS would ask the server, in each request.
    """
    poller = poll()
    poller.register(idle.fileno(), POLLIN)
    if poller.poll(0):
        # The others have ended too, as a rule.
        django_database().pool.drain()
        raise psycopg.OperationalError("the server closed an idle connection")


def pool_use() -> dict[str, int]:
    """What the pool has counted since this process started; it counts waits in whole milliseconds, rounded down.

    https://www.psycopg.org/psycopg3/docs/advanced/pool.html#pool-stats
    """
    stats: dict[str, int] = django_database().pool.get_stats()
    # What never happened has no key.
    return {"checkouts": stats.get("requests_num", 0), "wait_us": 1000 * stats.get("requests_wait_ms", 0)}
