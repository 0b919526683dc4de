"""How the shared tests ask this program."""

from typing import Any
from unittest.mock import AsyncMock

import pytest
from fakes import Answer, Ask, AsyncRepository
from falcon.testing import TestClient

from recipes.main import assemble


@pytest.fixture
def ask() -> Ask:
    repository: Any = AsyncRepository()
    client = TestClient(assemble(AsyncMock(), repository))

    def call(method: str, path: str, body: bytes = b"", session: str = "good") -> Answer:
        path, _, query = path.partition("?")
        cookie = {"Cookie": f"sessionid={session}"}
        answer = client.simulate_request(method, path, query_string=query, body=body, headers=cookie)
        return Answer(answer.status_code, answer.content, answer.headers)

    return call
