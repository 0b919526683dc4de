"""The application without a server and without a database."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from rows import BODY, ROWS
from starlette.applications import Starlette
from starlette.testclient import TestClient

from recipes.errors import DatabaseUnavailable, NotFound, Unauthorized
from recipes.main import build
from recipes.models import Recipe


class FakeRepository:
    async def random_recipe(self, session_key: str) -> Recipe:
        return await self.recipe_by_id(session_key, 7)

    async def recipe_by_id(self, session_key: str, recipe_id: int) -> Recipe:
        if session_key != "good":
            raise Unauthorized
        if recipe_id == 503:
            raise DatabaseUnavailable from TimeoutError()
        if recipe_id == 500:
            raise RuntimeError("a bug")
        if recipe_id != 7:
            raise NotFound
        return Recipe.from_rows(**ROWS)


@pytest.fixture
def client() -> Iterator[TestClient]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[dict[str, Any]]:
        yield {"repository": FakeRepository()}

    with TestClient(build(lifespan), raise_server_exceptions=False, follow_redirects=False) as client:
        yield client


GOOD = {"cookie": "theme=dark; sessionid=good"}


@pytest.mark.parametrize("path", ["/api/v1/recipes", "/api/v1/recipes/7"])
def test_recipe(client: TestClient, path: str) -> None:
    response = client.get(path, headers=GOOD)
    assert (response.status_code, response.content) == (200, BODY)
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/recipes", "/api/v1/recipes/7"])
def test_head_is_get_without_body(client: TestClient, path: str) -> None:
    assert client.head(path, headers=GOOD).status_code == 200


def test_healthz(client: TestClient) -> None:
    assert client.get("/healthz").content == b'{"status":"ok"}'


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/recipes", "/api/v1/recipes/nonsense"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_wrong_method(client: TestClient, method: str, path: str) -> None:
    response = client.request(method, path)
    assert (response.status_code, response.json()) == (405, {"error": "method not allowed"})
    assert response.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", ["/", "/healthz/", "/api/v1/recipes/", "/api/v1/recipes/7/", "/api/v1/recipes/7/8"])
def test_unknown_path(client: TestClient, path: str) -> None:
    response = client.post(path)
    assert (response.status_code, response.json()) == (404, {"error": "not found"})
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize("recipe_id", ["0", "07", "-7", "+7", "7.0", "x", "%D9%A7", "7%0A", "2147483648", "9" * 400])
def test_bad_id_comes_before_the_session(client: TestClient, recipe_id: str) -> None:
    response = client.get(f"/api/v1/recipes/{recipe_id}")
    assert (response.status_code, response.json()) == (400, {"error": "bad request"})


@pytest.mark.parametrize(
    "cookie",
    [b"", b"sessionid", b"sessionid=", b"sessionid=bad", b'sessionid="good\\000"', b"sessionid=\xff\xfe", b"=good;;;"],
)
def test_no_session(client: TestClient, cookie: bytes) -> None:
    response = client.get("/api/v1/recipes/7", headers={b"cookie": cookie})
    assert (response.status_code, response.json()) == (401, {"error": "unauthorized"})


@pytest.mark.parametrize(
    ("recipe_id", "status", "error"),
    [(8, 404, "not found"), (503, 503, "database unavailable"), (500, 500, "internal error")],
)
def test_failures(client: TestClient, recipe_id: int, status: int, error: str) -> None:
    response = client.get(f"/api/v1/recipes/{recipe_id}", headers=GOOD)
    assert (response.status_code, response.json()) == (status, {"error": error})
    assert response.headers["content-type"] == "application/json"
