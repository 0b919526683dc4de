"""How connections to the database are opened, pooled and given up."""

from select import POLLIN, poll
from typing import Any

import psycopg
from psycopg._cursor_base import BaseCursor
from psycopg.adapt import AdaptersMap
from psycopg.types.numeric import Int4Dumper

from shared.config import Settings
from shared.models import PoolUse

# Waiting for a free connection.
ACQUIRE_TIMEOUT_S = 1.5
STATEMENT_TIMEOUT_S = 2.0
# At the start, for all connections of a pool.
OPENING_S = 10.0

# SQLSTATEs of a server that is away, full, stopping, in trouble, or one that only reads, by their beginnings.
# https://www.postgresql.org/docs/17/errcodes-appendix.html
AWAY = ("08", "25006", "53", "57", "58", "XX")
# Of class 08, but a message that does not fit the statement is a mistake of this program.
PROTOCOL_VIOLATION = "08P01"
# The server ends the connection with it. So do PgBouncer's errors, which are protocol violations all.
FAREWELLS = ("FATAL", "PANIC")

adapters = AdaptersMap(psycopg.adapters)
# Ids, as the schema has them. psycopg's own choice depends on the value, and prepares a statement for each.
adapters.register_dumper(int, Int4Dumper)


def connect_options(settings: Settings, cursor: type[BaseCursor[Any, Any]]) -> dict[str, Any]:
    """https://www.postgresql.org/docs/17/libpq-connect.html#LIBPQ-PARAMKEYWORDS and psycopg's own."""
    return {
        # BEGIN is sent for a transaction only.
        "autocommit": True,
        "context": adapters,
        # Takes `$1`, so that the contract's statements are sent as they are.
        "cursor_factory": cursor,
        # Prepared on first use, or never. https://www.psycopg.org/psycopg3/docs/advanced/prepare.html
        "prepare_threshold": 0 if settings.db_prepare else None,
        # 2 s is libpq's least.
        "connect_timeout": 2,
        "tcp_user_timeout": 2000,
        "options": "-c statement_timeout=2000",
    }


def pool_options(settings: Settings, cursor: type[BaseCursor[Any, Any]]) -> dict[str, Any]:
    """cursor: psycopg's raw one of the model. https://www.psycopg.org/psycopg3/docs/api/pool.html"""
    options: dict[str, Any] = {
        "conninfo": str(settings.database_url),
        "kwargs": connect_options(settings, cursor),
        "max_size": settings.pool_size,
        "timeout": ACQUIRE_TIMEOUT_S,
        # Gives up a lost place soon, so that the next request tries again at once when the database is back.
        "reconnect_timeout": 1,
        "open": False,
    }
    if settings.db_persistent:
        # As many at the start as at the most: no request waits for a login.
        return {**options, "min_size": settings.pool_size}
    # A pool that keeps nothing; what comes back is too old for whoever waits, too.
    return {**options, "max_lifetime": 0}


def is_readable(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    """On an idle connection that is the end of the file, or the server's reason for it. Asks the kernel only."""
    poller = poll()
    poller.register(connection.fileno(), POLLIN)
    return bool(poller.poll(0))


def is_away(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any], error: psycopg.Error) -> bool:
    """Whether a failed statement means that the database is away, stopping, full or slow, and is no mistake of ours.

    psycopg's OperationalError means either: https://www.psycopg.org/psycopg3/docs/api/errors.html
    """
    told, state = error.diag, error.diag.sqlstate or error.sqlstate
    if not state:
        # It is psycopg that complains: of the server, if it is late, or if the connection has ended.
        return isinstance(error, psycopg.errors._WaitTimeout) or connection.closed or is_readable(connection)
    if (told.severity_nonlocalized or told.severity) in FAREWELLS:
        return True
    # A change of the schema left a prepared statement with a plan that does not fit; it goes with its connection.
    if told.source_function == "RevalidateCachedQuery":
        return True
    return state.startswith(AWAY) and state != PROTOCOL_VIOLATION


def pool_use(stats: dict[str, int]) -> PoolUse:
    """What a pool has counted; it counts waits in whole milliseconds, rounded down.

    https://www.psycopg.org/psycopg3/docs/advanced/pool.html#pool-stats
    """
    # What never happened has no key.
    return {"checkouts": stats.get("requests_num", 0), "wait_us": 1000 * stats.get("requests_wait_ms", 0)}
