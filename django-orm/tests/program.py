"""How the shared tests ask this program."""

import pytest
from django.test import Client
from fakes import Answer, Ask, FakeRepository

from recipes import views


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.setattr(views, "repository", FakeRepository())
    client = Client(raise_request_exception=False)

    def call(method: str, path: str, body: bytes = b"", session: str = "good") -> Answer:
        cookie = {"cookie": f"sessionid={session}"}
        answer = client.generic(method, path, body, "application/json", headers=cookie)
        return Answer(answer.status_code, answer.content, {k.lower(): v for k, v in answer.headers.items()})

    return call
