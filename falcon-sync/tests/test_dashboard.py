"""What the shared tests cannot ask: one connection is enough for a dashboard, and its reads are in turn."""

from typing import Any

from model import Connection, Pool

from recipes.repository import Repository


def test_a_dashboard_takes_one_connection() -> None:
    pool: Any = Pool(Connection())
    Repository(pool, set_time_zone=False).dashboard("key")
    assert pool.taken == 1
