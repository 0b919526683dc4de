"""Connections to the database: from a pool, or one for each request."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import asyncpg

from recipes.config import Settings
from recipes.errors import DatabaseUnavailable

logger = logging.getLogger(__name__)

# Waiting for a free connection and opening it, together.
ACQUIRE_TIMEOUT_S = 1.5
STATEMENT_TIMEOUT_S = 2.0

# How long the end of a connection may take to be read after the farewell before it.
FAREWELL_S, LOOK_S = 0.1, 0.005

# Whatever asyncpg raises. TimeoutError is an OSError.
FAILURES = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
# SQLSTATEs of a server that is away, full, stopping, in trouble, or one that only reads, by their beginnings.
# https://www.postgresql.org/docs/17/errcodes-appendix.html
AWAY = ("08", "25006", "53", "57", "58", "XX")
# The server ends the connection with it. So do PgBouncer's errors, which are protocol violations all.
FAREWELLS = ("FATAL", "PANIC")

type Connection = asyncpg.Connection | asyncpg.pool.PoolConnectionProxy
type Connect = Callable[[], AbstractAsyncContextManager[Connection]]


@asynccontextmanager
async def open_connections(settings: Settings) -> AsyncIterator[Connect]:
    """Yields what opens a connection, as the settings say."""
    slots = asyncio.Semaphore(settings.pool_size)
    if settings.db_persistent:
        async with create_pool(settings) as pool:
            yield lambda: guarded(from_pool(slots, pool))
    else:
        options = connect_options(settings)
        yield lambda: guarded(one_for_this_request(slots, options))


def connect_options(settings: Settings) -> dict[str, Any]:
    return {
        "dsn": str(settings.database_url),
        "timeout": ACQUIRE_TIMEOUT_S,
        "command_timeout": STATEMENT_TIMEOUT_S,
        "statement_cache_size": 100 if settings.db_prepare else 0,
        # Prepared once for the life of the connection, not again every five minutes.
        "max_cached_statement_lifetime": 0,
        # As the server spells it: at asyncpg's `utf-8` PgBouncer sends a SET for every new connection.
        "server_settings": {"client_encoding": "UTF8"},
    }


def create_pool(settings: Settings) -> asyncpg.Pool:
    return asyncpg.create_pool(
        # As many at the start as at the most: no request waits for a login, none is closed for being idle.
        min_size=settings.pool_size,
        max_size=settings.pool_size,
        max_inactive_connection_lifetime=0,
        # None is replaced for being used, either: that would be a login and every prepare within a request.
        max_queries=sys.maxsize,
        reset=None if settings.db_reset else keep_session,
        **connect_options(settings),
    )


async def keep_session(_: Connection) -> None:
    """Instead of asyncpg's reset on release, a statement per request: ours leave nothing behind in the session."""


@asynccontextmanager
async def from_pool(slots: asyncio.Semaphore, pool: asyncpg.Pool) -> AsyncIterator[Connection]:
    """First come, first served. That is the semaphore's doing: from asyncpg's queue a newcomer takes the connection for
    which a waiting request was woken, and that one goes to the end of the line, where some wait beyond their time."""
    async with asyncio.timeout(ACQUIRE_TIMEOUT_S) as waiting, slots:
        connection = await pool.acquire()
        waiting.reschedule(None)
        try:
            yield connection
        finally:
            await given_up(pool.release(connection, timeout=ACQUIRE_TIMEOUT_S))


@asynccontextmanager
async def one_for_this_request(slots: asyncio.Semaphore, options: dict[str, Any]) -> AsyncIterator[Connection]:
    async with asyncio.timeout(ACQUIRE_TIMEOUT_S) as waiting, slots:
        connection = await asyncpg.connect(**options)
        waiting.reschedule(None)
        try:
            yield connection
        finally:
            await given_up(connection.close(timeout=ACQUIRE_TIMEOUT_S))


async def given_up(end: Awaitable[None]) -> None:
    """What the request did is done, whether its connection ends well or not: asyncpg aborts one that does not."""
    try:
        await end
    except FAILURES as error:
        logger.warning("a connection was not given back: %r", error)


@asynccontextmanager
async def guarded(acquired: AbstractAsyncContextManager[Connection]) -> AsyncIterator[Connection]:
    """Turns a database that is away into DatabaseUnavailable, and never reuses a connection that failed."""
    reached = False
    try:
        async with acquired as connection:
            reached = True
            try:
                yield connection
            except FAILURES as error:
                try:
                    away = await is_away(connection, error)
                finally:
                    # The pool has taken one back already that was lost.
                    with suppress(asyncpg.InterfaceError):
                        connection.terminate()
                if away:
                    raise DatabaseUnavailable from error
                raise
    except (OSError, asyncpg.PostgresError) as error:
        if reached:
            raise
        raise DatabaseUnavailable from error


async def is_away(connection: Connection, error: Exception) -> bool:
    """Whether a failed statement means that the database is away, stopping, full or slow, and is no mistake of ours.

    asyncpg's own errors are mistakes, unless the connection ended with them: after a farewell to an idle connection,
    whose end has not been read yet, the next statement is an InternalClientError.
    """
    if isinstance(error, OSError):
        return True
    if not isinstance(error, asyncpg.PostgresError):
        return await is_lost(connection)
    if (error.severity_en or error.severity) in FAREWELLS:
        return True
    # A change of the schema left a prepared statement with a plan that does not fit; asyncpg prepares it anew, but not
    # within a transaction. A message that does not fit the statement is of class 08, and our mistake.
    if isinstance(error, asyncpg.InvalidCachedStatementError):
        return True
    return (error.sqlstate or "").startswith(AWAY) and not isinstance(error, asyncpg.ProtocolViolationError)


async def is_lost(connection: Connection) -> bool:
    try:
        for _ in range(round(FAREWELL_S / LOOK_S)):
            if connection.is_closed():
                return True
            await asyncio.sleep(LOOK_S)
    except asyncpg.InterfaceError:
        # The pool has taken it back, as it does with one that was lost.
        return True
    return False
