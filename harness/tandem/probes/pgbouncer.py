"""PgBouncer's own statistics, from its admin console."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import dict_row

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
            f"host={address} port=6432 dbname=pgbouncer user=postgres password={password} connect_timeout=2",
            autocommit=True,
            row_factory=dict_row,
            prepare_threshold=None,
        )

    def _show(self, what: str) -> list[dict[str, Any]]:
        # The console speaks the simple protocol only, which psycopg uses for a query without parameters.
        return self._connection.execute(f"SHOW {what}".encode()).fetchall()

    def read(self) -> PoolerCounters:
        stats = next((row for row in self._show("STATS") if row["database"] == DATABASE), None)
        pools = [row for row in self._show("POOLS") if row["database"] == DATABASE]
        return PoolerCounters(
            queries=int(stats["total_query_count"]) if stats else 0,
            wait_us=int(stats["total_wait_time"]) if stats else 0,
            clients_waiting=sum(int(row["cl_waiting"]) for row in pools),
            servers_active=sum(int(row["sv_active"]) for row in pools),
        )

    def connected(self) -> Counter[str]:
        """Address -> its connections right now, but for those of the harness itself."""
        clients = [row for row in self._show("CLIENTS") if row["database"] == DATABASE]
        return Counter(str(row["addr"]) for row in clients if row["user"] != "postgres")

    def changed_settings(self) -> dict[str, str]:
        """The settings that are not the program's own defaults."""
        return {str(r["key"]): str(r["value"]) for r in self._show("CONFIG") if r["value"] != r["default"]}

    def version(self) -> str:
        return str(self._show("VERSION")[0]["version"])

    def close(self) -> None:
        self._connection.close()
