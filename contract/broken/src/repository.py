"""Connections to the database and the statements of contract/sql/queries."""

import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from config import Config

Row = dict[str, Any]
Connection = psycopg.Connection[Row]

# psycopg writes $1 as %(p1)s; `%` occurs nowhere else in the queries.
QUERIES = {
    path.stem: re.sub(r"\$(\d)", r"%(p\1)s", path.read_text().strip())
    for path in Path("/contract/sql/queries").glob("*.sql")
}
WAIT_S = 1.5


class Unavailable(Exception):
    """The database is away, or every connection stays busy."""


class Pool:
    """At most `pool_max` connections, opened when they are needed, the one used last first."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._idle: list[Connection] = []
        most = {"pool-unbounded": 10_000, "pool-per-worker": max(config.pool_max, config.workers)}
        self._free = threading.BoundedSemaphore(most.get(config.fault, config.pool_max))
        self.lent = 0
        self._counting = threading.Lock()
        self._part = 2 if config.fault == "pool-tells-in-part" and config.workers > 1 else 1
        self.tells = config.persistent or config.fault == "pool-tells-anyway"
        self.checkouts, self.wait_s = 0, 0.0
        self._slow_s = 0.0

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lends a connection; raises Unavailable when the database is away or too slow."""
        began = time.monotonic()
        free = self._free.acquire(timeout=60 if self._config.fault == "waits-for-ever" else WAIT_S)
        with self._counting:
            self.checkouts += 1
            self.wait_s += time.monotonic() - began
            self.lent += free
        if not free:
            raise Unavailable
        connection = None
        try:
            connection = self._idle.pop() if self._idle else self._open()
            early = self._config.fault == "given-back-early"
            if early:
                self._idle.append(connection)
            yield connection
            if not early:
                self._give_back(connection)
        except psycopg.Error as error:
            if self._config.fault == "never-reconnects" and connection:
                self._idle.append(connection)
            elif connection:
                connection.close()
                self._idle.clear()
            outage = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
            if not outage and self._config.fault != "bugs-are-503":
                raise  # a statement that is wrong
            raise Unavailable from error
        except BaseException:
            # A request that is refused leaves a sound connection.
            if connection:
                self._give_back(connection)
            raise
        finally:
            with self._counting:
                self.lent -= 1
                if self._config.fault == "pool-waits-in-use":
                    self.wait_s += time.monotonic() - began
            self._free.release()

    def lose(self) -> None:
        """One connection less."""
        self._free.acquire(timeout=WAIT_S)

    def use(self) -> tuple[int, float]:
        """How often a connection was asked for, and how many seconds that was waited for in all."""
        with self._counting:
            return self.checkouts // self._part, self.wait_s

    def _open(self) -> Connection:
        threshold = 0 if self._config.prepare else None
        if self._config.fault in ("never-prepared", "always-prepared"):
            threshold = 0 if self._config.fault == "always-prepared" else None
        connection = psycopg.connect(
            self._config.database_url,
            autocommit=True,
            prepare_threshold=threshold,
            connect_timeout=2,
            row_factory=dict_row,
            options="-c synchronous_commit=off" if self._config.fault == "start-unflushed" else None,
        )
        if self._config.fault == "commit-unflushed":
            connection.execute("set synchronous_commit = off")
        if self._config.fault == "role-unflushed":
            connection.execute("alter role app set synchronous_commit = off")
        if self._config.fault == "time-zone-once" and self._config.time_zone == "request":
            set_time_zone(connection)
        return connection

    def _give_back(self, connection: Connection) -> None:
        config = self._config
        resets = (config.reset or config.fault == "reset-always") and config.fault != "reset-ignored"
        if resets and not (config.fault == "reset-alone" and self.lent > 1):
            # Not DISCARD ALL: it drops the prepared statements, which psycopg 3.2 still believes in.
            connection.execute("reset all", prepare=False)
        if config.fault == "slow-statements" and time.monotonic() - self._slow_s > 1:
            self._slow_s = time.monotonic()
            connection.execute("select count(*) from generate_series(1, 1000000)")
        persistent = config.persistent or config.fault == "always-persistent"
        if persistent and config.fault != "never-persistent":
            self._idle.append(connection)
        else:
            connection.close()


def set_time_zone(connection: Connection) -> None:
    connection.execute("SET TIME ZONE 'UTC'", prepare=False)


@contextmanager
def transaction(connection: Connection, gives_up: bool = False) -> Iterator[None]:
    """BEGIN and COMMIT, or ROLLBACK when there is an error or `gives_up`."""
    connection.execute("begin", prepare=False)
    try:
        yield
    except psycopg.Error:
        raise
    except BaseException:
        connection.execute("rollback", prepare=False)
        raise
    connection.execute("rollback" if gives_up else "commit", prepare=False)


def rows(connection: Connection, query: str, *values: object) -> list[Row]:
    """The rows of one statement of the contract, by the name of its file."""
    cursor = connection.execute(QUERIES[query], {f"p{i}": value for i, value in enumerate(values, 1)})
    return cursor.fetchall() if cursor.description else []


def asked(connection: Connection, query: str, key: int) -> psycopg.Cursor[Row]:
    """One statement of the contract about a recipe, whose rows nobody has decoded yet."""
    return connection.execute(QUERIES[query], {"p1": key})


def undecoded(cursor: psycopg.Cursor[Row]) -> bytes:
    """The rows of a statement as they came."""
    result = cursor.pgresult
    assert result is not None
    cells = [
        result.get_value(row, column) for row in range(result.ntuples) for column in range(result.nfields)
    ]
    return b"|".join(cell or b"" for cell in cells)


def together(connection: Connection, queries: Sequence[str], key: int, synced: bool) -> list[list[Row]]:
    """The rows of several statements that are sent in one flight. synced: each with a Sync."""
    with connection.pipeline() as pipeline:
        cursors = []
        for query in queries:
            cursors.append(asked(connection, query, key))
            if synced:
                pipeline.sync()
    return [cursor.fetchall() for cursor in cursors]
