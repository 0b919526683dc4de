"""From request to answer, without a server and with a repository that knows one recipe."""

from time import monotonic

import pytest
from falcon.testing import TestClient
from rows import BODY, DASHBOARD_BODY

from shared.config import INDEX, MAX_BODY

GOOD = {"Cookie": "sessionid=good"}
READ = ["/", "/index.html", "/index.htm", "/healthz", "/api/v1/recipes", "/api/v1/recipes/7", "/api/v1/dashboard"]
WRITTEN = ["/work", "/api/v1/recipes/7/notes"]


@pytest.mark.parametrize("path", ["/api/v1/recipes", "/api/v1/recipes/7"])
def test_recipe(client: TestClient, path: str) -> None:
    answer = client.simulate_get(path, headers=GOOD)
    assert (answer.status_code, answer.content) == (200, BODY)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-length"] == str(len(BODY))


@pytest.mark.parametrize("path", READ)
def test_head_is_get_without_body(client: TestClient, path: str) -> None:
    get, head = client.simulate_get(path, headers=GOOD), client.simulate_head(path, headers=GOOD)
    assert (head.status_code, head.content, head.headers) == (200, b"", get.headers)


def test_healthz(client: TestClient) -> None:
    assert client.simulate_get("/healthz").content == b'{"status":"ok"}'


def test_index(client: TestClient) -> None:
    answer = client.simulate_get("/")
    assert (answer.content, answer.headers["content-type"]) == (INDEX, "text/html; charset=utf-8")


def test_dashboard(client: TestClient) -> None:
    assert client.simulate_get("/api/v1/dashboard", headers=GOOD).content == DASHBOARD_BODY
    assert client.simulate_get("/api/v1/dashboard").status_code == 401


@pytest.mark.parametrize("path", [*READ, "/api/v1/recipes/nonsense"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_reading_only(client: TestClient, method: str, path: str) -> None:
    answer = client.simulate_request(method, path)
    assert (answer.status_code, answer.json) == (405, {"error": "method not allowed"})
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", [*WRITTEN, "/api/v1/recipes/nonsense/notes"])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_writing_only(client: TestClient, method: str, path: str) -> None:
    answer = client.simulate_request(method, path)
    assert (answer.status_code, answer.json) == (405, {"error": "method not allowed"})
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    "path", ["/user/", "/healthz/", "/work/", "/api/v1/recipes/", "/api/v1/recipes/7/", "/api/v1/recipes/7/8"]
)
def test_unknown_path(client: TestClient, path: str) -> None:
    answer = client.simulate_post(path)
    assert (answer.status_code, answer.json) == (404, {"error": "not found"})
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("recipe_id", ["0", "07", "-7", "+7", "7.0", "x", "%D9%A7", "7%0A", "2147483648", "9" * 400])
def test_bad_id_comes_before_the_session(client: TestClient, recipe_id: str) -> None:
    answer = client.simulate_get(f"/api/v1/recipes/{recipe_id}")
    assert (answer.status_code, answer.json) == (400, {"error": "bad request"})


@pytest.mark.parametrize(
    "cookie", ["", "sessionid", "sessionid=", "sessionid=bad", 'sessionid="good\\000"', "sessionid=\xff\xfe", "=good;;"]
)
def test_no_session(client: TestClient, cookie: str) -> None:
    answer = client.simulate_get("/api/v1/recipes/7", headers={"Cookie": cookie})
    assert (answer.status_code, answer.json) == (401, {"error": "unauthorized"})


@pytest.mark.parametrize(
    ("query", "body", "text"),
    [
        ("", b"[]", b"Sum: 0"),
        ("delay_ms=0&x=%00", b" [1, -2147483648,\n2147483647]", b"Sum: 0"),
        ("delay_ms=00001", b"[" + b"2147483647," * 9999 + b"2147483647]", b"Sum: 21474836470000"),
    ],
)
def test_work(client: TestClient, query: str, body: bytes, text: bytes) -> None:
    answer = client.simulate_post("/work", query_string=query, body=body, content_type="text/css")
    assert (answer.status_code, answer.content) == (200, text)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


def test_work_waits(client: TestClient) -> None:
    start = monotonic()
    client.simulate_post("/work", query_string="delay_ms=30", body=b"[1]")
    assert monotonic() - start >= 0.03


@pytest.mark.parametrize(
    "delay", ["", "-1", "+1", "1.0", "1e3", "x", "10001", "%D9%A1", "1%0A", "9" * 5000, "1&delay_ms=1"]
)
def test_bad_delay_comes_before_the_body(client: TestClient, delay: str) -> None:
    answer = client.simulate_post("/work", query_string=f"delay_ms={delay}", body=b"{}")
    assert (answer.status_code, answer.json) == (400, {"error": "bad request"})


@pytest.mark.parametrize("body", [b"", b"[1", b"[01]", b'["a"', b'["\xff"]', b"[1]x", b"\xef\xbb\xbf[]", b"[NaN]"])
@pytest.mark.parametrize("path", WRITTEN)
def test_no_json(client: TestClient, path: str, body: bytes) -> None:
    answer = client.simulate_post(path, body=body, headers=GOOD)
    assert (answer.status_code, answer.json) == (400, {"error": "bad request"})


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"1",
        b"[1.0]",
        b"[1e0]",
        b"[10e-1]",
        b"[1e400]",
        b"[true]",
        b"[null]",
        b'["1"]',
        b"[2147483648]",
        b"[-2147483649]",
        b"[[]]",
    ],
)
@pytest.mark.parametrize("path", WRITTEN)
def test_json_of_another_shape(client: TestClient, path: str, body: bytes) -> None:
    answer = client.simulate_post(path, body=body, headers=GOOD)
    assert (answer.status_code, answer.json) == (422, {"error": "unprocessable content"})


@pytest.mark.parametrize("body", [b"[" * 500_000, b'{"text":' * 100_000, b"[" * 9_999 + b"]" * 9_999])
@pytest.mark.parametrize("path", WRITTEN)
def test_nesting(client: TestClient, path: str, body: bytes) -> None:
    assert client.simulate_post(path, body=body, headers=GOOD).status_code in (400, 422)


def test_note(client: TestClient) -> None:
    body = '{"text":"Crème"}'.encode()
    answer = client.simulate_post("/api/v1/recipes/7/notes", body=body, content_type="text/css", headers=GOOD)
    assert (answer.status_code, answer.content) == (201, b'{"id":9}')


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
    assert client.simulate_post("/api/v1/recipes/7/notes", body=body, headers=GOOD).status_code == 422


@pytest.mark.parametrize("body", [b'{"text":"\\ud800"}', b'{"text":"\xed\xa0\x80"}', b'{"text":"\0"}'])
def test_a_note_that_is_no_text(client: TestClient, body: bytes) -> None:
    assert client.simulate_post("/api/v1/recipes/7/notes", body=body, headers=GOOD).status_code == 400


def test_order_of_refusal(client: TestClient) -> None:
    large = b" " * (MAX_BODY + 1)
    for path, headers, status in [
        ("/api/v1/recipes/x/notes", {}, 400),
        ("/api/v1/recipes/7/notes", {}, 401),
        ("/api/v1/recipes/7/notes", GOOD, 413),
        ("/work", {}, 413),
    ]:
        assert client.simulate_post(path, body=large, headers=headers).status_code == status
    assert client.simulate_post("/work", body=large[1:]).status_code == 400


@pytest.mark.parametrize(
    ("recipe_id", "status", "error"),
    [(8, 404, "not found"), (503, 503, "database unavailable"), (500, 500, "internal error")],
)
def test_failures(client: TestClient, recipe_id: int, status: int, error: str) -> None:
    answer = client.simulate_get(f"/api/v1/recipes/{recipe_id}", headers=GOOD)
    assert (answer.status_code, answer.json) == (status, {"error": error})
    assert answer.headers["content-type"] == "application/json"
