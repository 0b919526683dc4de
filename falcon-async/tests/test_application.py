"""What Granian tells of odd clients, and what they are answered."""

import asyncio
from typing import Any

import pytest
from fakes import FakePool
from model import AsyncRepository

from recipes.main import assemble

DISCONNECT = {"type": "http.disconnect"}


def ask(pool: FakePool, events: list[dict[str, Any]], method: str, path: str, version: str = "1.1") -> Any:
    """The status and the body of the answer."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return events.pop(0)

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    async def run() -> None:
        repository: Any = AsyncRepository()
        scope: dict[str, Any] = {"type": "http", "http_version": version, "method": method, "path": path}
        scope |= {"asgi": {"version": "3.0"}, "query_string": b"", "headers": [(b"host", b"app")]}
        scope |= {"client": ("::1", 1), "server": ("::1", 2)}
        given: Any = pool
        await assemble(given, repository)(scope, receive, send)

    asyncio.run(run())
    return sent[0]["status"], b"".join(event["body"] for event in sent[1:])


@pytest.mark.parametrize("version", ["1", "1.0", "1.1"])
def test_old_clients_are_served(pool: FakePool, version: str) -> None:
    events = [{"type": "http.request", "body": b"", "more_body": False}]
    assert ask(pool, events, "GET", "/healthz", version) == (200, b'{"status":"ok"}')


@pytest.mark.parametrize(
    "events",
    [[DISCONNECT], [{"type": "http.request", "body": b"[1,2]", "more_body": True}, DISCONNECT]],
    ids=["at once", "later"],
)
def test_a_body_that_breaks_off_is_refused(pool: FakePool, events: list[dict[str, Any]]) -> None:
    assert ask(pool, list(events), "POST", "/work") == (400, b'{"error":"bad request"}')
