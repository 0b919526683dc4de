"""What pools of database connections tell of themselves: the application's own, at `GET /pool` (contract/README.md), and
PgBouncer, on its admin console."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
from psycopg.rows import dict_row
from pydantic import TypeAdapter, ValidationError

PORT = 8080
TIMEOUT_S = 5
"""Right after an overload the application may still be busy with what nobody waits for any more."""


@dataclass(frozen=True)
class PoolCounters:
    checkouts: int
    wait_us: int


@dataclass(frozen=True)
class PoolUse:
    """The pool's counters just before and just after a load."""

    before: PoolCounters
    after: PoolCounters

    @property
    def wait_ms(self) -> float | None:
        """Mean wait per checkout; None without any, or where the counters began anew in between."""
        checkouts = self.after.checkouts - self.before.checkouts
        wait_us = self.after.wait_us - self.before.wait_us
        return wait_us / checkouts / 1e3 if checkouts > 0 and wait_us >= 0 else None


def read_pool(address: str) -> PoolCounters | None:
    """The counters since the application's start; None where it does not tell with these settings (404), or not in
    time: that costs a window this figure and nothing else. address: of the application's container.

    Raises httpx.HTTPStatusError with another status, KeyError for a body of another shape.
    """
    url, once = f"http://{address}:{PORT}/pool", {"Connection": "close"}  # one that stays may keep a thread
    try:
        answer = httpx.get(url, headers=once, timeout=TIMEOUT_S, trust_env=False)
    except httpx.TransportError:
        return None
    if answer.status_code == 404:
        return None
    text = answer.raise_for_status().text
    try:
        return TypeAdapter(PoolCounters).validate_json(text, strict=True)
    except ValidationError:
        raise KeyError(f"GET /pool returned {text[:100]!r}") from None


DATABASE = "tandem"


@dataclass(frozen=True)
class PoolerCounters:
    queries: int
    wait_us: int
    clients_waiting: int
    servers_active: int


class PgBouncer:
    def __init__(self, address: str, password: str) -> None:
        self._connection = psycopg.connect(
            f"host={address} port=6432 dbname=pgbouncer user=console password={password} connect_timeout=10",
            autocommit=True,
            row_factory=dict_row,
            prepare_threshold=None,
        )

    def _show(self, what: str) -> list[dict[str, Any]]:
        # The console speaks the simple protocol only, which psycopg uses for a query without parameters.
        return self._connection.execute(f"SHOW {what}".encode()).fetchall()

    def read(self) -> PoolerCounters:
        def summed(what: str, *columns: str) -> list[int]:
            rows = [row for row in self._show(what) if row["database"] == DATABASE]
            return [sum(int(row[column]) for row in rows) for column in columns]

        used = summed("STATS", "total_query_count", "total_wait_time")
        return PoolerCounters(*used, *summed("POOLS", "cl_waiting", "sv_active"))

    def connected(self) -> Counter[tuple[str, str]]:
        """Address and role -> its connections right now, to whichever database."""
        return Counter((str(row["addr"]), str(row["user"])) for row in self._show("CLIENTS"))

    def changed_settings(self) -> dict[str, str]:
        """The settings that are not the program's own defaults."""
        return {str(r["key"]): str(r["value"]) for r in self._show("CONFIG") if r["value"] != r["default"]}

    def version(self) -> str:
        return str(self._show("VERSION")[0]["version"])

    def close(self) -> None:
        self._connection.close()
