"""How the shared tests ask this program."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fakes import Answer, Ask, FakeRepository
from starlette.applications import Starlette
from starlette.testclient import TestClient

from recipes.main import app


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[dict[str, Any]]:
    yield {"repository": FakeRepository()}


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    monkeypatch.setattr(app.router, "lifespan_context", lifespan)
    with TestClient(app, raise_server_exceptions=False) as client:

        def call(method: str, path: str, body: bytes = b"", session: str = "good") -> Answer:
            answer = client.request(method, path, content=body, headers={"Cookie": f"sessionid={session}"})
            return Answer(answer.status_code, answer.content, answer.headers)

        yield call
