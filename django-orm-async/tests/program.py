"""How the shared tests ask this program."""

import asyncio

import pytest
from django.test import AsyncClient
from fakes import Answer, Ask, AsyncRepository

from recipes import views


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.setattr(views, "repository", AsyncRepository())
    client = AsyncClient(raise_request_exception=False)

    def call(method: str, path: str, body: bytes = b"", session: str = "good") -> Answer:
        cookie = {"cookie": f"sessionid={session}"}

        async def asked() -> Answer:
            answer = await client.generic(method, path, body, "application/json", headers=cookie)
            return Answer(answer.status_code, answer.content, {k.lower(): v for k, v in answer.headers.items()})

        return asyncio.run(asked())

    return call
