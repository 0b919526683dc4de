"""Connections to the database: from a pool, or one for each request."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import asyncpg

from recipes.config import Settings
from recipes.errors import DatabaseUnavailable

# Waiting for a free connection and opening it, together.
ACQUIRE_TIMEOUT_S = 1.5
STATEMENT_TIMEOUT_S = 2.0

# What a server that is away, stopping or full does to a connection, in any of its states. TimeoutError is an OSError.
UNAVAILABLE = (
    OSError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.PostgresSystemError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.InvalidSQLStatementNameError,
    asyncpg.InvalidTransactionStateError,
)

type Connection = asyncpg.Connection | asyncpg.pool.PoolConnectionProxy
type Connect = Callable[[], AbstractAsyncContextManager[Connection]]


@asynccontextmanager
async def open_connections(settings: Settings) -> AsyncIterator[Connect]:
    """Yields what opens a connection, as the settings say."""
    options: dict[str, Any] = {
        "dsn": str(settings.database_url),
        "timeout": ACQUIRE_TIMEOUT_S,
        "command_timeout": STATEMENT_TIMEOUT_S,
        "statement_cache_size": 100 if settings.db_prepare else 0,
        # Prepared once for the life of the connection, not again every five minutes.
        "max_cached_statement_lifetime": 0,
        # As the server spells it: at asyncpg's `utf-8` PgBouncer sends a SET for every new connection.
        "server_settings": {"client_encoding": "UTF8"},
    }
    if not settings.db_persistent:
        slots = asyncio.Semaphore(settings.pool_size)
        yield lambda: guarded(one_for_this_request(slots, options))
        return
    # As many at the start as at the most: no request waits for a login, none is closed for being idle.
    async with asyncpg.create_pool(
        min_size=settings.pool_size,
        max_size=settings.pool_size,
        max_inactive_connection_lifetime=0,
        reset=None if settings.db_reset else keep_session,
        **options,
    ) as pool:
        yield lambda: guarded(pool.acquire(timeout=ACQUIRE_TIMEOUT_S))


async def keep_session(_: Connection) -> None:
    """Instead of asyncpg's reset on release, a statement per request: ours leave nothing behind in the session."""


@asynccontextmanager
async def one_for_this_request(slots: asyncio.Semaphore, options: dict[str, Any]) -> AsyncIterator[Connection]:
    async with asyncio.timeout(ACQUIRE_TIMEOUT_S) as waiting, slots:
        connection = await asyncpg.connect(**options)
        waiting.reschedule(None)
        try:
            yield connection
        finally:
            await connection.close(timeout=ACQUIRE_TIMEOUT_S)


@asynccontextmanager
async def guarded(acquired: AbstractAsyncContextManager[Connection]) -> AsyncIterator[Connection]:
    """Turns a database that is away into DatabaseUnavailable, and never reuses a connection that failed."""
    try:
        async with acquired as connection:
            try:
                yield connection
            except UNAVAILABLE:
                # The pool has taken one back already that was lost.
                with suppress(asyncpg.InterfaceError):
                    connection.terminate()
                raise
    except UNAVAILABLE as error:
        raise DatabaseUnavailable from error
