"""The application without a server and without a database."""

import pytest
from django.test import Client
from rows import BODY, ROWS

from recipes import repository
from recipes.errors import DatabaseUnavailable, NotFound, Unauthorized
from recipes.models import Recipe

GOOD = {"cookie": "theme=dark; sessionid=good"}


def fake_recipe(session_key: str, recipe_id: int = 7) -> Recipe:
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
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(repository, "random_recipe", fake_recipe)
    monkeypatch.setattr(repository, "recipe_by_id", fake_recipe)
    return Client(raise_request_exception=False)


@pytest.mark.parametrize("path", ["/api/v1/recipes", "/api/v1/recipes/7"])
def test_recipe(client: Client, path: str) -> None:
    response = client.get(path, headers=GOOD)
    assert (response.status_code, response.content) == (200, BODY)
    assert response["content-type"] == "application/json"
    assert response["content-length"] == str(len(BODY))


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/recipes", "/api/v1/recipes/7"])
def test_head_is_get_without_body(client: Client, path: str) -> None:
    response = client.head(path, headers=GOOD)
    assert (response.status_code, response.content) == (200, b"")


def test_healthz(client: Client) -> None:
    assert client.get("/healthz").content == b'{"status":"ok"}'


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/recipes", "/api/v1/recipes/nonsense"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_wrong_method(client: Client, method: str, path: str) -> None:
    response = client.generic(method, path)
    assert (response.status_code, response.json()) == (405, {"error": "method not allowed"})
    assert response["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", ["/", "/healthz/", "/api/v1/recipes/", "/api/v1/recipes/7/", "/api/v1/recipes/7/8"])
def test_unknown_path(client: Client, path: str) -> None:
    response = client.post(path)
    assert (response.status_code, response.json()) == (404, {"error": "not found"})
    assert response["content-type"] == "application/json"


@pytest.mark.parametrize("recipe_id", ["0", "07", "-7", "+7", "7.0", "x", "%D9%A7", "7%0A", "2147483648", "9" * 400])
def test_bad_id_comes_before_the_session(client: Client, recipe_id: str) -> None:
    response = client.get(f"/api/v1/recipes/{recipe_id}")
    assert (response.status_code, response.json()) == (400, {"error": "bad request"})


@pytest.mark.parametrize(
    "cookie",
    ["", "sessionid", "sessionid=", "sessionid=bad", 'sessionid="good\\000"', "sessionid=\xff\xfe", "=good;;;"],
)
def test_no_session(client: Client, cookie: str) -> None:
    response = client.get("/api/v1/recipes/7", headers={"cookie": cookie})
    assert (response.status_code, response.json()) == (401, {"error": "unauthorized"})


@pytest.mark.parametrize(
    ("recipe_id", "status", "error"),
    [(8, 404, "not found"), (503, 503, "database unavailable"), (500, 500, "internal error")],
)
def test_failures(client: Client, recipe_id: int, status: int, error: str) -> None:
    response = client.get(f"/api/v1/recipes/{recipe_id}", headers=GOOD)
    assert (response.status_code, response.json()) == (status, {"error": error})
    assert response["content-type"] == "application/json"
