"""From request to answer, without a server and with a repository that knows one recipe."""

import logging
from time import monotonic

import pytest
from fakes import Ask
from rows import BODY, DASHBOARD_BODY

from shared.contract import INDEX
from shared.inputs import MAX_BODY

RECIPES = "/api/v1/recipes"
NOTES = f"{RECIPES}/7/notes"
CREME = '{"text":"Crème"}'.encode()


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "answer"),
    [
        ("GET", "/", b"", 200, INDEX),
        ("GET", "/index.html", b"", 200, INDEX),
        ("GET", "/healthz", b"", 200, b'{"status":"ok"}'),
        ("GET", RECIPES, b"", 200, BODY),
        ("GET", f"{RECIPES}/7", b"", 200, BODY),
        ("GET", "/api/v1/dashboard", b"", 200, DASHBOARD_BODY),
        ("POST", NOTES, CREME, 201, b'{"id":9}'),
        ("POST", "/work", b"[1,2,3]", 200, b"Sum: 6"),
        ("POST", "/work?delay_ms=1&x=2", b" [ ]", 200, b"Sum: 0"),
    ],
)
def test_answers(ask: Ask, method: str, path: str, body: bytes, status: int, answer: bytes) -> None:
    told = ask(method, path, body)
    assert (told.status, told.body) == (status, answer)
    assert told.headers["content-length"] == str(len(answer))


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/nothing", b"", 404),
        ("POST", RECIPES, b"", 405),
        ("GET", "/work", b"", 405),
        ("GET", f"{RECIPES}/0", b"", 400),
        ("GET", f"{RECIPES}/2147483648", b"", 400),
        ("GET", f"{RECIPES}/8", b"", 404),
        ("POST", f"{RECIPES}/8/notes", CREME, 404),
        ("POST", NOTES, b"", 400),
        ("POST", NOTES, b'{"text":""}', 422),
        ("POST", NOTES, b'{"text":"a","x":1}', 422),
        ("POST", NOTES, b'{"text":"a\\u0000"}', 422),
        ("POST", "/work", b"[1,", 400),
        ("POST", "/work", b"[1.5]", 422),
        ("POST", "/work", b"[2147483648]", 422),
        ("POST", "/work?delay_ms=-1", b"[1]", 400),
        ("POST", "/work?delay_ms=10001", b"[1]", 400),
        ("POST", "/work?delay_ms=1&delay_ms=1", b"[1]", 400),
        ("GET", f"{RECIPES}/503", b"", 503),
    ],
)
def test_refusals(ask: Ask, method: str, path: str, body: bytes, status: int) -> None:
    assert ask(method, path, body).status == status


def test_a_body_that_is_too_large(ask: Ask) -> None:
    assert ask("POST", "/work", b" " * (MAX_BODY + 1)).status in (400, 413)


@pytest.mark.parametrize("path", [RECIPES, f"{RECIPES}/7", "/api/v1/dashboard"])
@pytest.mark.parametrize("session", ["", "unknown", '"\\000"'])
def test_no_session(ask: Ask, path: str, session: str) -> None:
    told = ask("GET", path, session=session)
    assert (told.status, told.body) == (401, b'{"error":"unauthorized"}')


def test_a_bug_is_an_answer(ask: Ask) -> None:
    assert ask("GET", f"{RECIPES}/500").status == 500


def test_an_outage_is_a_line_in_the_log(ask: Ask, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        told = ask("GET", f"{RECIPES}/503")
    assert (told.status, told.body) == (503, b'{"error":"database unavailable"}')
    assert "late" in caplog.text


def test_work_waits(ask: Ask) -> None:
    began = monotonic()
    ask("POST", "/work?delay_ms=50", b"[1]")
    assert monotonic() - began >= 0.05
