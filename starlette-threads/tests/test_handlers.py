"""The application without a server and without a database."""

import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

import pytest
from fakes import FakeRepository
from rows import BODY, DASHBOARD_BODY
from starlette.applications import Starlette
from starlette.testclient import TestClient

from recipes import handlers, main
from recipes.config import INDEX

GOOD = {"cookie": "sessionid=good"}
NOTE = '{"text":"Crème"}'.encode()


@pytest.fixture
def client() -> Iterator[TestClient]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[dict[str, Any]]:
        main.limit_threads(2)
        yield {"repository": FakeRepository()}

    with TestClient(main.build(lifespan), raise_server_exceptions=False) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "answer"),
    [
        ("GET", "/", b"", 200, INDEX),
        ("GET", "/healthz", b"", 200, b'{"status":"ok"}'),
        ("GET", "/api/v1/recipes", b"", 200, BODY),
        ("GET", "/api/v1/recipes/7", b"", 200, BODY),
        ("GET", "/api/v1/dashboard", b"", 200, DASHBOARD_BODY),
        ("POST", "/api/v1/recipes/7/notes", NOTE, 201, b'{"id":9}'),
        ("POST", "/api/v1/recipes/8/notes", NOTE, 404, b'{"error":"not found"}'),
        ("POST", "/api/v1/recipes/7/notes", b"{}", 422, b'{"error":"unprocessable content"}'),
        ("GET", "/api/v1/recipes/0", b"", 400, b'{"error":"bad request"}'),
        ("GET", "/api/v1/recipes/503", b"", 503, b'{"error":"database unavailable"}'),
        ("GET", "/api/v1/recipes/500", b"", 500, b'{"error":"internal error"}'),
        ("POST", "/work?delay_ms=0", b"[1,2]", 200, b"Sum: 3"),
        ("POST", "/work", b"[", 400, b'{"error":"bad request"}'),
        ("POST", "/work?delay_ms=x", b"[1]", 400, b'{"error":"bad request"}'),
    ],
)
def test_answers(client: TestClient, method: str, path: str, body: bytes, status: int, answer: bytes) -> None:
    response = client.request(method, path, content=body, headers=GOOD)
    assert (response.status_code, response.content) == (status, answer)


def test_no_session(client: TestClient) -> None:
    assert client.get("/api/v1/recipes").status_code == 401


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/healthz"), ("GET", "/api/v1/recipes"), ("POST", "/work"), ("GET", "/")]
)
def test_handlers_run_in_threads_of_the_pool(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, method: str, path: str
) -> None:
    names: list[str] = []
    for kind in ("JSONResponse", "PlainTextResponse", "HTMLResponse"):
        made = getattr(handlers, kind)

        def noted(*arguments: Any, made: Any = made) -> Any:
            names.append(threading.current_thread().name)
            return made(*arguments)

        monkeypatch.setattr(handlers, kind, noted)
    client.request(method, path, content=b"[1]", headers=GOOD)
    assert names == ["AnyIO worker thread"]


def test_no_more_at_once_than_threads(client: TestClient) -> None:
    with ThreadPoolExecutor(4) as pool:
        began = monotonic()
        asked = [pool.submit(client.post, "/work?delay_ms=200", content=b"[1]") for _ in range(4)]
        assert [answer.result().text for answer in asked] == ["Sum: 1"] * 4
        assert monotonic() - began >= 0.4
