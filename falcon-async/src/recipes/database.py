"""One connection for the length of a request, and the event loop waits for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
from psycopg.abc import PQGen
from psycopg_pool import AsyncConnectionPool, AsyncNullConnectionPool

from shared.config import Settings
from shared.database import OPENING_S, STATEMENT_TIMEOUT_S, is_away, is_readable, pool_options
from shared.errors import DatabaseUnavailable


class Connection(psycopg.AsyncConnection):
    """psycopg waits for an answer as long as it takes, unless this method is told otherwise."""

    async def wait[T](self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = STATEMENT_TIMEOUT_S) -> T:
        return await super().wait(gen, interval, timeout)


type Pool = AsyncConnectionPool[Connection]


async def discard_all(connection: Connection) -> None:
    await connection.execute("DISCARD ALL", prepare=False)


def make_pool(settings: Settings) -> Pool:
    pool_type = AsyncConnectionPool if settings.db_persistent else AsyncNullConnectionPool
    return pool_type(
        connection_class=Connection,
        reset=discard_all if settings.db_reset else None,
        **pool_options(settings, psycopg.AsyncRawCursor),
    )


async def open_pool(pool: Pool) -> None:
    await pool.open(wait=True, timeout=OPENING_S)


@asynccontextmanager
async def connected(pool: Pool) -> AsyncIterator[Connection]:
    """Raises DatabaseUnavailable. Passes over connections that the server closed while they were idle."""
    try:
        connection = await pool.getconn()
        while is_readable(connection):
            await connection.close()
            await pool.putconn(connection)
            connection = await pool.getconn()
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable from error
    try:
        yield connection
    except psycopg.Error as error:
        away = is_away(connection, error)
        await connection.close()
        if away:
            raise DatabaseUnavailable from error
        raise
    finally:
        await pool.putconn(connection)
