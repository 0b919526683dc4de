"""The application under ASGI, without a server and without a database."""

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError
from django.test import AsyncClient
from gunicorn.app.wsgiapp import WSGIApplication
from rows import BODY, DASHBOARD_BODY, DASHBOARD_ROWS, ROWS

from recipes import dashboards, handlers, repository
from recipes.asgi_worker import AsgiWorker
from recipes.config import INDEX, MAX_BODY, env
from recipes.database import slots
from recipes.errors import DatabaseUnavailable, NotFound, Unauthorized
from recipes.models import Recipe, recipe_from_rows

GOOD = {"cookie": "sessionid=good"}
NOTE = '{"text":"Crème"}'.encode()


def fake_recipe(session_key: str, recipe_id: int = 7) -> Recipe:
    if session_key != "good":
        raise Unauthorized
    if recipe_id == 503:
        raise DatabaseUnavailable from TimeoutError()
    if recipe_id == 500:
        raise RuntimeError("a bug")
    if recipe_id != 7:
        raise NotFound
    return recipe_from_rows(**ROWS)


def fake_note(session_key: str, recipe_id: int, text: str) -> int:
    fake_recipe(session_key, recipe_id)
    assert text == "Crème"
    return 9


class Meeting:
    """The reads of a dashboard, each answered when four have been asked; and who took which connection."""

    def __init__(self) -> None:
        self.barrier = threading.Barrier(4, timeout=5)
        self.taken: list[list[str]] = []
        self.failing: str | None = None

    @contextmanager
    def open_cursor(self) -> Iterator[list[str]]:
        self.taken.append([])
        yield self.taken[-1]

    def find_user(self, cursor: list[str], session_key: str) -> int:
        fake_recipe(session_key)
        cursor.append("session")
        return 1

    def fetch(self, cursor: list[str], query: str, user_id: int) -> Any:
        cursor.append(query)
        self.barrier.wait()
        if query == self.failing:
            raise DatabaseUnavailable from OperationalError("gone")
        assert user_id == 1
        return DASHBOARD_ROWS[query.removeprefix("dashboard_")]


@pytest.fixture
def meeting(monkeypatch: pytest.MonkeyPatch) -> Meeting:
    meeting = Meeting()
    for name in ("open_cursor", "find_user", "fetch"):
        monkeypatch.setattr(dashboards, name, getattr(meeting, name))
    return meeting


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch, meeting: Meeting) -> AsyncClient:
    monkeypatch.setattr(repository, "random_recipe", fake_recipe)
    monkeypatch.setattr(repository, "recipe_by_id", fake_recipe)
    monkeypatch.setattr(repository, "write_note", fake_note)
    return AsyncClient(raise_request_exception=False)


def ask(client: AsyncClient, method: str, path: str, body: bytes = b"", headers: Any = None) -> Any:
    return asyncio.run(
        client.generic(method, path, body, content_type="text/css", headers=headers)  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "answer"),
    [
        ("GET", "/", b"", 200, INDEX),
        ("HEAD", "/", b"", 200, b""),
        ("POST", "/", b"", 405, b'{"error":"method not allowed"}'),
        ("GET", "/healthz", b"", 200, b'{"status":"ok"}'),
        ("GET", "/healthz/", b"", 404, b'{"error":"not found"}'),
        ("GET", "/api/v1/recipes", b"", 200, BODY),
        ("GET", "/api/v1/recipes/7", b"", 200, BODY),
        ("HEAD", "/api/v1/recipes/7", b"", 200, b""),
        ("GET", "/api/v1/dashboard", b"", 200, DASHBOARD_BODY),
        ("POST", "/api/v1/recipes/7/notes", NOTE, 201, b'{"id":9}'),
        ("POST", "/api/v1/recipes/8/notes", NOTE, 404, b'{"error":"not found"}'),
        ("POST", "/api/v1/recipes/7/notes", b"{}", 422, b'{"error":"unprocessable content"}'),
        ("POST", "/api/v1/recipes/7/notes", b" " * (MAX_BODY + 1), 413, b'{"error":"payload too large"}'),
        ("GET", "/api/v1/recipes/0", b"", 400, b'{"error":"bad request"}'),
        ("GET", "/api/v1/recipes/503", b"", 503, b'{"error":"database unavailable"}'),
        ("GET", "/api/v1/recipes/500", b"", 500, b'{"error":"internal error"}'),
        ("POST", "/work?delay_ms=0", b"[1,2]", 200, b"Sum: 3"),
        ("POST", "/work", b"[", 400, b'{"error":"bad request"}'),
        ("POST", "/work", b" " * (MAX_BODY + 1), 413, b'{"error":"payload too large"}'),
        ("POST", "/work?delay_ms=1&delay_ms=1", b"[1]", 400, b'{"error":"bad request"}'),
    ],
)
def test_answers(client: AsyncClient, method: str, path: str, body: bytes, status: int, answer: bytes) -> None:
    response = ask(client, method, path, body, GOOD)
    assert (response.status_code, response.content) == (status, answer)


@pytest.mark.parametrize("path", ["/api/v1/recipes", "/api/v1/dashboard"])
def test_no_session(client: AsyncClient, path: str) -> None:
    assert ask(client, "GET", path).status_code == 401


def test_the_reads_of_a_dashboard_are_at_once_on_connections_of_their_own(
    client: AsyncClient, meeting: Meeting
) -> None:
    """In turn they would wait at the barrier until it breaks."""
    assert ask(client, "GET", "/api/v1/dashboard", headers=GOOD).status_code == 200
    assert meeting.taken[0] == ["session"]
    assert sorted(meeting.taken[1:]) == [[f"dashboard_{name}"] for name in sorted(DASHBOARD_ROWS)]


def test_a_read_that_fails_is_the_answer(client: AsyncClient, meeting: Meeting) -> None:
    meeting.failing = "dashboard_teams"
    response = ask(client, "GET", "/api/v1/dashboard", headers=GOOD)
    assert (response.status_code, response.json()) == (503, {"error": "database unavailable"})


@pytest.mark.parametrize(("path", "on_loop"), [("/", True), ("/healthz", True), ("/api/v1/recipes", False)])
def test_what_asks_no_database_runs_on_the_loop(
    client: AsyncClient, monkeypatch: pytest.MonkeyPatch, path: str, on_loop: bool
) -> None:
    seen: list[bool] = []
    for kind in ("JSONResponse", "HTMLResponse"):
        made = getattr(handlers, kind)

        def noted(*arguments: Any, made: Any = made) -> Any:
            seen.append(threading.current_thread() is threading.main_thread())
            return made(*arguments)

        monkeypatch.setattr(handlers, kind, noted)
    ask(client, "GET", path, headers=GOOD)
    assert seen == [on_loop]


def test_work_waits_for_others_on_the_loop(client: AsyncClient) -> None:
    async def both() -> float:
        began = asyncio.get_running_loop().time()
        asked = [client.generic("POST", "/work?delay_ms=200", b"[1]", content_type="text/css") for _ in range(5)]
        assert [answer.content for answer in await asyncio.gather(*asked)] == [b"Sum: 1"] * 5
        return asyncio.get_running_loop().time() - began

    assert 0.2 <= asyncio.run(both()) < 0.6


def test_a_read_has_a_thread_for_each_connection() -> None:
    assert dashboards.readers._max_workers == env.pool_size == slots._initial_value  # type: ignore[attr-defined]


def test_gunicorn_takes_the_other_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    given = ["--config", "python:recipes.server", "--worker-class", "recipes.asgi_worker.AsgiWorker"]
    monkeypatch.setattr(sys, "argv", ["gunicorn", *given])
    config = WSGIApplication().cfg
    assert config.worker_class is AsgiWorker
    assert (config.settings["wsgi_app"].get(), config.keepalive) == ("recipes.main:app", 75)
