"""One connection for the length of a request, and the thread waits for it."""

import atexit
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.abc import PQGen
from psycopg_pool import ConnectionPool, NullConnectionPool

from shared.config import Settings
from shared.database import OPENING_S, STATEMENT_TIMEOUT_S, is_away, is_readable, pool_options
from shared.errors import DatabaseUnavailable


class Connection(psycopg.Connection):
    """psycopg waits for an answer as long as it takes, unless this method is told otherwise."""

    def wait[T](self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = STATEMENT_TIMEOUT_S) -> T:
        return super().wait(gen, interval, timeout)


type Pool = ConnectionPool[Connection]


def discard_all(connection: Connection) -> None:
    connection.execute("DISCARD ALL", prepare=False)


def make_pool(settings: Settings) -> Pool:
    pool_type = ConnectionPool if settings.db_persistent else NullConnectionPool
    return pool_type(
        connection_class=Connection,
        reset=discard_all if settings.db_reset else None,
        **pool_options(settings, psycopg.RawCursor),
    )


def open_pool(pool: Pool) -> None:
    pool.open(wait=True, timeout=OPENING_S)
    atexit.register(pool.close)


@contextmanager
def connected(pool: Pool) -> Iterator[Connection]:
    """Raises DatabaseUnavailable. Passes over connections that the server closed while they were idle."""
    try:
        connection = pool.getconn()
        while is_readable(connection):
            connection.close()
            pool.putconn(connection)
            connection = pool.getconn()
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable from error
    try:
        yield connection
    except psycopg.Error as error:
        away = is_away(connection, error)
        connection.close()
        if away:
            raise DatabaseUnavailable from error
        raise
    finally:
        pool.putconn(connection)
