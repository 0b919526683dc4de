"""The application without a server and without a database."""

from time import monotonic

import pytest
from django.test import Client, RequestFactory
from rows import BODY, DASHBOARD_BODY, DASHBOARD_ROWS, ROWS

from recipes import database, handlers, inputs, repository
from recipes.config import INDEX, MAX_BODY
from recipes.errors import DatabaseUnavailable, NotFound, Unauthorized
from recipes.models import Dashboard, Recipe, dashboard_from_rows, recipe_from_rows

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
    return recipe_from_rows(**ROWS)


def fake_note(session_key: str, recipe_id: int, text: str) -> int:
    fake_recipe(session_key, recipe_id)
    assert text == "Crème"
    return 9


def fake_dashboard(session_key: str) -> Dashboard:
    fake_recipe(session_key)
    return dashboard_from_rows(1, **DASHBOARD_ROWS)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(repository, "random_recipe", fake_recipe)
    monkeypatch.setattr(repository, "recipe_by_id", fake_recipe)
    monkeypatch.setattr(repository, "write_note", fake_note)
    monkeypatch.setattr(repository, "dashboard", fake_dashboard)
    return Client(raise_request_exception=False)


@pytest.mark.parametrize("path", ["/api/v1/recipes", "/api/v1/recipes/7"])
def test_recipe(client: Client, path: str) -> None:
    response = client.get(path, headers=GOOD)
    assert (response.status_code, response.content) == (200, BODY)
    assert response["content-type"] == "application/json"
    assert response["content-length"] == str(len(BODY))


READ = ["/", "/index.html", "/index.htm", "/healthz", "/api/v1/recipes", "/api/v1/recipes/7", "/api/v1/dashboard"]
WRITTEN = ["/work", "/api/v1/recipes/7/notes"]


@pytest.mark.parametrize("path", READ)
def test_head_is_get_without_body(client: Client, path: str) -> None:
    get, head = client.get(path, headers=GOOD), client.head(path, headers=GOOD)
    assert (head.status_code, head.content, head.headers) == (200, b"", get.headers)


def test_healthz(client: Client) -> None:
    assert client.get("/healthz").content == b'{"status":"ok"}'


def test_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "pool_use", lambda: {"checkouts": 3, "wait_us": 4000})
    response = handlers.pool(RequestFactory().get("/pool"))
    assert (response.status_code, response.content) == (200, b'{"checkouts":3,"wait_us":4000}')
    assert response["content-type"] == "application/json"


def test_several_processes_do_not_tell(client: Client) -> None:
    """The tests run with the default of WORKERS: two for each CPU."""
    for method in ("GET", "POST"):
        assert client.generic(method, "/pool").status_code == 404


@pytest.mark.parametrize("path", READ[:3])
def test_index(client: Client, path: str) -> None:
    response = client.get(path)
    assert (response.content, response["content-type"]) == (INDEX, "text/html; charset=utf-8")


def test_dashboard(client: Client) -> None:
    assert client.get("/api/v1/dashboard", headers=GOOD).content == DASHBOARD_BODY
    assert client.get("/api/v1/dashboard").status_code == 401


@pytest.mark.parametrize("path", [*READ, "/api/v1/recipes/nonsense"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_reading_only(client: Client, method: str, path: str) -> None:
    response = client.generic(method, path)
    assert (response.status_code, response.json()) == (405, {"error": "method not allowed"})
    assert response["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", [*WRITTEN, "/api/v1/recipes/nonsense/notes"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_writing_only(client: Client, method: str, path: str) -> None:
    response = client.generic(method, path)
    assert (response.status_code, response.json()) == (405, {"error": "method not allowed"})
    assert response["allow"] == "POST"


@pytest.mark.parametrize(
    "path", ["/user/", "/healthz/", "/work/", "/api/v1/recipes/", "/api/v1/recipes/7/", "/api/v1/recipes/7/8"]
)
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
    ("query", "body", "answer"),
    [
        ("", b"[]", b"Sum: 0"),
        ("?delay_ms=0&x=%00", b" [1, -2147483648,\n2147483647]", b"Sum: 0"),
        ("?delay_ms=00001", b"[" + b"2147483647," * 9999 + b"2147483647]", b"Sum: 21474836470000"),
    ],
)
def test_work(client: Client, query: str, body: bytes, answer: bytes) -> None:
    response = client.post(f"/work{query}", body, content_type="text/css")
    assert (response.status_code, response.content) == (200, answer)
    assert response["content-type"] == "text/plain; charset=utf-8"


def test_work_waits(client: Client) -> None:
    start = monotonic()
    client.post("/work?delay_ms=30", b"[]", content_type="application/json")
    assert monotonic() - start >= 0.03


@pytest.mark.parametrize(
    "delay", ["", "-1", "+1", "1.0", "1e3", "x", "10001", "%D9%A1", "1%0A", "9" * 5000, "1&delay_ms=1"]
)
def test_bad_delay_comes_before_the_body(client: Client, delay: str) -> None:
    response = client.post(f"/work?delay_ms={delay}", b"{}", content_type="application/json")
    assert (response.status_code, response.json()) == (400, {"error": "bad request"})


@pytest.mark.parametrize("body", [b"", b"[1", b"[01]", b'["a"', b'["\xff"]', b"[1]x", b"\xef\xbb\xbf[]", b"[NaN]"])
@pytest.mark.parametrize("path", WRITTEN)
def test_no_json(client: Client, path: str, body: bytes) -> None:
    response = client.post(path, body, content_type="application/json", headers=GOOD)
    assert (response.status_code, response.json()) == (400, {"error": "bad request"})


@pytest.mark.parametrize(
    "body",
    [b"{}", b"1", b"[1.0]", b"[1e400]", b"[true]", b"[null]", b'["1"]', b"[2147483648]", b"[-2147483649]", b"[[]]"],
)
@pytest.mark.parametrize("path", WRITTEN)
def test_json_of_another_shape(client: Client, path: str, body: bytes) -> None:
    response = client.post(path, body, content_type="application/json", headers=GOOD)
    assert (response.status_code, response.json()) == (422, {"error": "unprocessable content"})


@pytest.mark.parametrize("body", [b"[" * 500_000, b'{"text":' * 100_000, b"[" * 9_999 + b"]" * 9_999])
@pytest.mark.parametrize("path", WRITTEN)
def test_nesting(client: Client, path: str, body: bytes) -> None:
    response = client.post(path, body, content_type="application/json", headers=GOOD)
    assert response.status_code in (400, 422)


def test_note(client: Client) -> None:
    body = '{"text":"Crème"}'.encode()
    response = client.post("/api/v1/recipes/7/notes", body, content_type="text/css", headers=GOOD)
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
def test_bad_note(client: Client, body: bytes) -> None:
    response = client.post("/api/v1/recipes/7/notes", body, content_type="application/json", headers=GOOD)
    assert response.status_code == 422


@pytest.mark.parametrize("body", [b'{"text":"\\ud800"}', b'{"text":"\xed\xa0\x80"}', b'{"text":"\0"}'])
def test_a_note_that_is_no_text(client: Client, body: bytes) -> None:
    response = client.post("/api/v1/recipes/7/notes", body, content_type="application/json", headers=GOOD)
    assert response.status_code == 400


def test_ten_thousand_characters() -> None:
    text = "😀" * 10_000
    assert inputs.new_note(f'{{"text":"{text}"}}'.encode()).text == text


def test_order_of_refusal(client: Client) -> None:
    large = b" " * (MAX_BODY + 1)
    for path, headers, status in [
        ("/api/v1/recipes/x/notes", {}, 400),
        ("/api/v1/recipes/7/notes", {}, 401),
        ("/api/v1/recipes/7/notes", GOOD, 413),
        ("/work", {}, 413),
    ]:
        response = client.post(path, large, content_type="application/json", headers=headers)
        assert response.status_code == status
    response = client.post("/work", large[1:], content_type="application/json")
    assert response.status_code == 400


@pytest.mark.parametrize(
    ("recipe_id", "status", "error"),
    [(8, 404, "not found"), (503, 503, "database unavailable"), (500, 500, "internal error")],
)
def test_failures(client: Client, recipe_id: int, status: int, error: str) -> None:
    response = client.get(f"/api/v1/recipes/{recipe_id}", headers=GOOD)
    assert (response.status_code, response.json()) == (status, {"error": error})
    assert response["content-type"] == "application/json"
