"""The dashboard with its four reads at once, each in a thread and on a connection of its own."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from asgiref.sync import sync_to_async

from recipes.database import open_cursor
from recipes.repository import fetch, find_user
from shared.config import settings
from shared.contract import DASHBOARD
from shared.models import Dashboard, Row, dashboard_from_rows

# As many threads as connections: another could only wait for one. They start with the first reads, after the fork.
readers = ThreadPoolExecutor(settings.pool_size, "dashboard")


def user_of(session_key: str) -> int:
    with open_cursor() as cursor:
        return find_user(cursor, session_key)


def read(query: str, user_id: int) -> list[Row]:
    with open_cursor() as cursor:
        return fetch(cursor, query, user_id)


async def dashboard(session_key: str) -> Dashboard:
    """Raises Unauthorized without a live session."""
    user_id = await sync_to_async(user_of)(session_key)
    # What is thread-sensitive, as by default, runs in the request's one thread, in turn.
    read_at_once = sync_to_async(read, thread_sensitive=False, executor=readers)
    reads = await asyncio.gather(*(read_at_once(f"dashboard_{name}", user_id) for name in DASHBOARD))
    return dashboard_from_rows(user_id, **dict(zip(DASHBOARD, reads, strict=True)))
