"""Connections to the database, from a pool."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from shared.config import Settings
from shared.errors import DatabaseUnavailable

# Waiting for a free connection.
ACQUIRE_TIMEOUT_S = 1.5
STATEMENT_TIMEOUT_S = 2.0

type Connection = PoolConnectionProxy[asyncpg.Record]

# The database is away, stopping, full, slow or only reads. TimeoutError is an OSError.
OUTAGES = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.PostgresSystemError,
    asyncpg.ReadOnlySQLTransactionError,
    # A change of the schema, in a transaction: elsewhere asyncpg prepares the statement anew.
    asyncpg.InvalidCachedStatementError,
    # The server's last words to an idle connection, read as the answer to the statement that came after them.
    asyncpg.InternalClientError,
)


class Database:
    """First come, first served. That is the semaphore's doing: from asyncpg's queue a newcomer takes the connection for
    which a waiting request was woken, and that one goes to the end of the line, where some wait beyond their time."""

    def __init__(self, settings: Settings) -> None:
        self._slots = asyncio.Semaphore(settings.pool_size)
        self._options = pool_options(settings)

    async def open(self) -> None:
        self._pool = await asyncpg.create_pool(**self._options)

    async def close(self) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Raises DatabaseUnavailable."""
        try:
            async with asyncio.timeout(ACQUIRE_TIMEOUT_S) as waiting, self._slots:
                connection = await self._pool.acquire()
                waiting.reschedule(None)
                try:
                    yield connection
                except TimeoutError:
                    # asyncpg would first ask the database to cancel the statement, and wait for that.
                    connection.terminate()
                    raise
                except asyncpg.InterfaceError as error:
                    if is_lost(connection):
                        raise ConnectionResetError from error
                    raise
                finally:
                    # What the request did is done, however its connection ends: asyncpg keeps none that ends badly.
                    with suppress(*OUTAGES):
                        await self._pool.release(connection, timeout=ACQUIRE_TIMEOUT_S)
        except OUTAGES as error:
            raise DatabaseUnavailable from error


def is_lost(connection: Connection) -> bool:
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:
        # The pool has taken it back.
        return True


def pool_options(settings: Settings) -> dict[str, Any]:
    """https://magicstack.github.io/asyncpg/current/api/index.html"""
    return {
        "dsn": settings.database_url,
        # As many at the start as at the most: no request waits for a login. Or one for each request.
        "min_size": settings.pool_size if settings.db_persistent else 0,
        "max_size": settings.pool_size,
        # None is replaced for being used or idle: that would be a login, and every prepare, within a request.
        "max_queries": sys.maxsize if settings.db_persistent else 1,
        "max_inactive_connection_lifetime": 0,
        "reset": None if settings.db_reset else keep_session,
        "timeout": ACQUIRE_TIMEOUT_S,
        "command_timeout": STATEMENT_TIMEOUT_S,
        "statement_cache_size": 100 if settings.db_prepare else 0,
        # Prepared once for the life of the connection, not again every five minutes.
        "max_cached_statement_lifetime": 0,
        # As the server spells it: at asyncpg's `utf-8` PgBouncer sends a SET for every new connection.
        "server_settings": {"client_encoding": "UTF8"},
    }


async def keep_session(_: Connection) -> None:
    """Instead of asyncpg's reset on release, a statement per request: ours leave nothing behind in the session."""
