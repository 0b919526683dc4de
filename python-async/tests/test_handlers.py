"""The application without a server and without a database."""

from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

import pytest
from rows import BODY, DASHBOARD_BODY, DASHBOARD_ROWS, ROWS
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.testclient import TestClient
from starlette.types import Message

from recipes import inputs
from recipes.adding import adding
from recipes.config import INDEX, MAX_BODY, Offload
from recipes.errors import DatabaseUnavailable, NotFound, PayloadTooLarge, Unauthorized
from recipes.main import build
from recipes.models import Dashboard, Recipe, dashboard_from_rows, recipe_from_rows

pytestmark = pytest.mark.anyio


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
        return recipe_from_rows(**ROWS)

    async def write_note(self, session_key: str, recipe_id: int, text: str) -> int:
        await self.recipe_by_id(session_key, recipe_id)
        assert text == "Crème"
        return 9

    async def dashboard(self, session_key: str) -> Dashboard:
        await self.random_recipe(session_key)
        return dashboard_from_rows(1, **DASHBOARD_ROWS)


@pytest.fixture(params=["none", "sum", "parse+sum"])
def offload(request: pytest.FixtureRequest) -> Offload:
    value: Offload = request.param
    return value


@pytest.fixture
def client(offload: Offload) -> Iterator[TestClient]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[dict[str, Any]]:
        with ThreadPoolExecutor(1) as executor:
            yield {"repository": FakeRepository(), "add": adding(offload, executor)}

    with TestClient(build(lifespan), raise_server_exceptions=False, follow_redirects=False) as client:
        yield client


GOOD = {"cookie": "theme=dark; sessionid=good"}


@pytest.mark.parametrize("path", ["/api/v1/recipes", "/api/v1/recipes/7"])
def test_recipe(client: TestClient, path: str) -> None:
    response = client.get(path, headers=GOOD)
    assert (response.status_code, response.content) == (200, BODY)
    assert response.headers["content-type"] == "application/json"


READ = ["/", "/index.html", "/index.htm", "/healthz", "/api/v1/recipes", "/api/v1/recipes/7", "/api/v1/dashboard"]
WRITTEN = ["/work", "/api/v1/recipes/7/notes"]


@pytest.mark.parametrize("path", READ)
def test_head_is_get_without_body(client: TestClient, path: str) -> None:
    get, head = client.get(path, headers=GOOD), client.head(path, headers=GOOD)
    assert (head.status_code, head.content, head.headers) == (200, b"", get.headers)


def test_healthz(client: TestClient) -> None:
    assert client.get("/healthz").content == b'{"status":"ok"}'


@pytest.mark.parametrize("path", READ[:3])
def test_index(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert (response.content, response.headers["content-type"]) == (INDEX, "text/html; charset=utf-8")


def test_dashboard(client: TestClient) -> None:
    assert client.get("/api/v1/dashboard", headers=GOOD).content == DASHBOARD_BODY
    assert client.get("/api/v1/dashboard").status_code == 401


@pytest.mark.parametrize("path", [*READ, "/api/v1/recipes/nonsense"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_reading_only(client: TestClient, method: str, path: str) -> None:
    response = client.request(method, path)
    assert (response.status_code, response.json()) == (405, {"error": "method not allowed"})
    assert response.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", [*WRITTEN, "/api/v1/recipes/nonsense/notes"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_writing_only(client: TestClient, method: str, path: str) -> None:
    response = client.request(method, path)
    assert (response.status_code, response.json()) == (405, {"error": "method not allowed"})
    assert response.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "path", ["/user/", "/healthz/", "/work/", "/api/v1/recipes/", "/api/v1/recipes/7/", "/api/v1/recipes/7/8"]
)
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
    ("query", "body", "answer"),
    [
        ("", b"[]", b"Sum: 0"),
        ("?delay_ms=0&x=%00", b" [1, -2147483648,\n2147483647]", b"Sum: 0"),
        ("?delay_ms=00001", b"[" + b"2147483647," * 9999 + b"2147483647]", b"Sum: 21474836470000"),
    ],
)
def test_work(client: TestClient, query: str, body: bytes, answer: bytes) -> None:
    response = client.post(f"/work{query}", content=body)
    assert (response.status_code, response.content) == (200, answer)
    assert response.headers["content-type"] == "text/plain; charset=utf-8"


def test_work_waits(client: TestClient) -> None:
    start = monotonic()
    client.post("/work?delay_ms=30", content=b"[]")
    assert monotonic() - start >= 0.03


@pytest.mark.parametrize(
    "delay", ["", "-1", "+1", "1.0", "1e3", "x", "10001", "%D9%A1", "1%0A", "9" * 5000, "1&delay_ms=1"]
)
def test_bad_delay_comes_before_the_body(client: TestClient, delay: str) -> None:
    response = client.post(f"/work?delay_ms={delay}", content=b"{}")
    assert (response.status_code, response.json()) == (400, {"error": "bad request"})


@pytest.mark.parametrize("body", [b"", b"[1", b"[01]", b'["a"', b'["\xff"]', b"[1]x", b"\xef\xbb\xbf[]", b"[NaN]"])
@pytest.mark.parametrize("path", WRITTEN)
def test_no_json(client: TestClient, path: str, body: bytes) -> None:
    response = client.post(path, content=body, headers=GOOD)
    assert (response.status_code, response.json()) == (400, {"error": "bad request"})


@pytest.mark.parametrize(
    "body",
    [b"{}", b"1", b"[1.0]", b"[1e400]", b"[true]", b"[null]", b'["1"]', b"[2147483648]", b"[-2147483649]", b"[[]]"],
)
@pytest.mark.parametrize("path", WRITTEN)
def test_json_of_another_shape(client: TestClient, path: str, body: bytes) -> None:
    response = client.post(path, content=body, headers=GOOD)
    assert (response.status_code, response.json()) == (422, {"error": "unprocessable content"})


@pytest.mark.parametrize("body", [b"[" * 500_000, b'{"text":' * 100_000, b"[" * 9_999 + b"]" * 9_999])
@pytest.mark.parametrize("path", WRITTEN)
def test_nesting(client: TestClient, path: str, body: bytes) -> None:
    response = client.post(path, content=body, headers=GOOD)
    assert response.status_code in (400, 422)


def test_note(client: TestClient) -> None:
    body = '{"text":"Crème"}'.encode()
    response = client.post("/api/v1/recipes/7/notes", content=body, headers=GOOD)
    assert (response.status_code, response.content) == (201, b'{"id":9}')


@pytest.mark.parametrize(
    "body",
    [
        b'{"text":""}',
        b'{"text":null}',
        b'{"text":"a","x":1}',
        b'{"text":"a\\u0000"}',
        b'{"text":"%s"}' % (b"a" * 10_001),
    ],
)
def test_bad_note(client: TestClient, body: bytes) -> None:
    response = client.post("/api/v1/recipes/7/notes", content=body, headers=GOOD)
    assert response.status_code == 422


@pytest.mark.parametrize("body", [b'{"text":"\\ud800"}', b'{"text":"\xed\xa0\x80"}', b'{"text":"\0"}'])
def test_a_note_that_is_no_text(client: TestClient, body: bytes) -> None:
    response = client.post("/api/v1/recipes/7/notes", content=body, headers=GOOD)
    assert response.status_code == 400


def test_ten_thousand_characters() -> None:
    text = "😀" * 10_000
    assert inputs.new_note(f'{{"text":"{text}"}}'.encode()).text == text


def test_order_of_refusal(client: TestClient) -> None:
    large = b" " * (MAX_BODY + 1)
    for path, headers, status in [
        ("/api/v1/recipes/x/notes", {}, 400),
        ("/api/v1/recipes/7/notes", {}, 401),
        ("/api/v1/recipes/7/notes", GOOD, 413),
        ("/work", {}, 413),
    ]:
        response = client.post(path, content=large, headers=headers)
        assert response.status_code == status
    response = client.post("/work", content=large[1:])
    assert response.status_code == 400


async def test_a_body_without_a_length() -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": b" " * 65_536, "more_body": True}

    with pytest.raises(PayloadTooLarge):
        await inputs.body(Request({"type": "http", "method": "POST", "headers": []}, receive))


@pytest.mark.parametrize(
    ("recipe_id", "status", "error"),
    [(8, 404, "not found"), (503, 503, "database unavailable"), (500, 500, "internal error")],
)
def test_failures(client: TestClient, recipe_id: int, status: int, error: str) -> None:
    response = client.get(f"/api/v1/recipes/{recipe_id}", headers=GOOD)
    assert (response.status_code, response.json()) == (status, {"error": error})
    assert response.headers["content-type"] == "application/json"
