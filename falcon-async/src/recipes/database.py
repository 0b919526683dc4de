"""Connections to the database, from a pool of psycopg's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from select import POLLIN, poll
from typing import Any

import psycopg
from psycopg.adapt import AdaptersMap
from psycopg.types.numeric import Int4Dumper
from psycopg_pool import AsyncConnectionPool, AsyncNullConnectionPool

from shared.config import Settings
from shared.errors import DatabaseUnavailable

type Connection = psycopg.AsyncConnection[tuple[Any, ...]]

adapters = AdaptersMap(psycopg.adapters)
# Ids, as the schema has them. psycopg's own choice depends on the value, and prepares a statement for each.
adapters.register_dumper(int, Int4Dumper)


class Database:
    def __init__(self, settings: Settings) -> None:
        kind = AsyncConnectionPool if settings.db_persistent else AsyncNullConnectionPool
        # https://www.psycopg.org/psycopg3/docs/api/pool.html
        self._pool: AsyncConnectionPool[Connection] = kind(
            settings.database_url,
            # As many at the start as at the most: no request waits for a login. Or one for each request.
            min_size=settings.pool_size if settings.db_persistent else 0,
            max_size=settings.pool_size,
            max_lifetime=3600 if settings.db_persistent else 0,
            # For a free connection.
            timeout=1.5,
            # Gives up a lost place soon, so that the next request tries again at once when the database is back.
            reconnect_timeout=1,
            check=self._check,
            reset=discard_all if settings.db_reset else None,
            open=False,
            kwargs={
                # BEGIN is sent for a transaction only.
                "autocommit": True,
                "context": adapters,
                # Takes `$1`, so that the contract's statements are sent as they are.
                "cursor_factory": psycopg.AsyncRawCursor,
                # On first use, or never. https://www.psycopg.org/psycopg3/docs/advanced/prepare.html
                "prepare_threshold": 0 if settings.db_prepare else None,
                # https://www.postgresql.org/docs/17/libpq-connect.html#LIBPQ-PARAMKEYWORDS; 2 s is the least.
                "connect_timeout": 2,
                "tcp_user_timeout": 2000,
            },
        )

    async def open(self) -> None:
        await self._pool.open(wait=True, timeout=10)

    async def close(self) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Raises DatabaseUnavailable."""
        try:
            async with self._pool.connection() as connection:
                yield connection
        except psycopg.OperationalError as error:
            raise DatabaseUnavailable from error

    def use(self) -> dict[str, int]:
        """What the pool has counted; it counts waits in whole milliseconds, rounded down.

        https://www.psycopg.org/psycopg3/docs/advanced/pool.html#pool-stats
        """
        stats = self._pool.get_stats()
        # What never happened has no key.
        return {"checkouts": stats.get("requests_num", 0), "wait_us": 1000 * stats.get("requests_wait_ms", 0)}

    async def _check(self, idle: Connection) -> None:
        """Before the pool hands a connection on. It asks the kernel: an idle one has nothing to read but its end.

        psycopg's own check would ask the server, in each request.
        """
        poller = poll()
        poller.register(idle.fileno(), POLLIN)
        if poller.poll(0):
            # The others have ended too, as a rule.
            await self._pool.drain()
            raise psycopg.OperationalError("the server closed an idle connection")


async def discard_all(connection: Connection) -> None:
    await connection.execute("DISCARD ALL", prepare=False)
