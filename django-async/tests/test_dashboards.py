"""The four reads of a dashboard."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from rows import DASHBOARD_ROWS

from recipes import dashboards
from shared.models import Row, dashboard_from_rows


def test_four_reads_at_once_on_a_connection_each(monkeypatch: pytest.MonkeyPatch) -> None:
    together, taken = threading.Barrier(4, timeout=5), list[list[str]]()

    @contextmanager
    def open_cursor() -> Iterator[list[str]]:
        taken.append([])
        yield taken[-1]

    def find_user(cursor: list[str], session_key: str) -> int:
        cursor.append(session_key)
        return 1

    def fetch(cursor: list[str], query: str, user_id: int) -> list[Row]:
        cursor.append(query)
        together.wait()
        rows: list[Row] = DASHBOARD_ROWS[query.removeprefix("dashboard_")]
        return rows

    for name, fake in (("open_cursor", open_cursor), ("find_user", find_user), ("fetch", fetch)):
        monkeypatch.setattr(dashboards, name, fake)
    assert asyncio.run(dashboards.dashboard("key")) == dashboard_from_rows(1, **DASHBOARD_ROWS)
    assert sorted(len(one) for one in taken) == [1] * 5
