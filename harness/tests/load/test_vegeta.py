"""tandem.load.vegeta: what it is told, and rows that loadgen/vegeta wrote."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tandem.catalog.bodies import SentBodies
from tandem.errors import TandemError
from tandem.load import rows as rows_
from tandem.load.generator import Load
from tandem.load.vegeta import VEGETA

LOAD = Load("http://proxy:8080/", 5, 200, 1, {"Cookie": "sessionid=1"}, rate_rps=500)
ALWAYS = ["vegeta", "-requests=/tmp/open.requests", "-schedule=/tmp/open.schedule", "-rows=/tmp/open.rows"]
RATE, DURATION_S = 100, 2


def test_the_command_line() -> None:
    opened = VEGETA.arguments(LOAD, "open")
    closed = VEGETA.arguments(replace(LOAD, rate_rps=None), "open")
    assert opened == [*ALWAYS, "-timeout=10s", "-connections=200"]
    assert closed == [*opened, "-closed", "-duration=5s"]


def test_each_distinct_request_is_a_line() -> None:
    """Headers are those that oha sends; a body is a line of a file that is there."""
    body = SentBodies.of(b"[1]", b"[2]")
    posted = replace(LOAD, method="POST", bodies=body, urls=["http://a/1", "http://a/2"], weight=1)
    files = VEGETA.inputs(replace(LOAD, weight=3, beside=(posted,)), "open")
    lines = [json.loads(line) for line in files["requests"].splitlines()]
    assert [(one["class"], one["method"], one["url"]) for one in lines] == [
        (0, "GET", "http://proxy:8080/"),
        *((1, "POST", f"http://a/{number}") for number in (1, 1, 2, 2)),
    ]
    assert [one["body"] and one["body"]["line"] for one in lines] == [None, 0, 1, 0, 1]
    assert lines[1]["body"]["file"] == f"/tmp/body-{body.name}"
    assert lines[0]["headers"]["cookie"] == "sessionid=1"
    assert lines[0]["headers"]["user-agent"].startswith("oha/")
    schedule = [line.split() for line in files["schedule"].splitlines()]
    assert schedule[1][0] == "2000000", "evenly spaced at 500/s"
    assert sum(which == "0" for _, which in schedule) == 1875


def test_real_rows_of_an_open_loop(fixtures: Path) -> None:
    """A server of 5 ms at 100 requests/s for 2 s; every 25th answer was a 503."""
    rows, report = VEGETA.read(fixtures, "vegeta-open")
    assert len(rows) == RATE * DURATION_S
    assert (report.statusCodeDistribution, report.errorDistribution) == ({"200": 192, "503": 8}, {})
    assert rows_.right_answers(rows, 200, {1000}).sum() == 192
    assert ({*rows.length_bytes}, rows.classes) == ({1000}, None)
    assert rows.due_s == pytest.approx(np.arange(200) / RATE)
    took_s = rows.end_s - rows.start_s
    assert 0.005 < np.median(took_s) < 0.010
    load = rows_.open_loop(rows, RATE, DURATION_S, errors=0)
    assert (load.scheduled, load.unsent) == (RATE * DURATION_S, 0)
    assert 0 <= load.lateness_s.min() <= load.lateness_s.max() < 0.02
    assert np.median(load.response_s) == pytest.approx(np.median(took_s), abs=0.002)
    assert VEGETA.began_s((fixtures / "vegeta-open.txt").read_text()) == pytest.approx(1.8e9, rel=0.01)


def test_real_rows_of_a_closed_loop(fixtures: Path) -> None:
    """Four workers for 0.3 s: never more than four requests at once."""
    rows, report = VEGETA.read(fixtures, "vegeta-closed")
    assert report.answered == len(rows) > 30
    edges = sorted([(t, 1) for t in rows.start_s] + [(t, -1) for t in rows.end_s])
    assert np.cumsum([step for _, step in edges]).max() <= 4


def test_real_rows_of_a_dead_server_are_errors_and_no_rows(fixtures: Path) -> None:
    rows, report = VEGETA.read(fixtures, "vegeta-refused")
    assert len(rows) == report.answered == 0
    [(text, number)] = report.errorDistribution.items()
    assert (text.endswith("connect: connection refused"), number) == (True, 4)
    assert report.errors_of == {0: 4}


def test_rows_of_a_mix_have_their_class(fixtures: Path, tmp_path: Path) -> None:
    """The same rows, if every request were of a second class."""
    for suffix in ("rows", "txt", "requests"):
        shutil.copy(fixtures / f"vegeta-open.{suffix}", tmp_path / f"open.{suffix}")
    requests = tmp_path / "open.requests"
    requests.write_text(requests.read_text().replace('"class": 0', '"class": 1'))
    rows, _ = VEGETA.read(tmp_path, "open")
    assert rows.is_of(1).all()
    assert not rows.is_of(0).any()
    assert (len(rows.of_class(1)), len(rows.of_class(0))) == (200, 0)


@pytest.mark.parametrize(
    ("suffix", "content", "told"),
    [
        ("rows", None, "left no rows"),
        ("rows", b"x" * 41, "cannot be read: buffer size must be a multiple"),
        ("requests", b"{}", "cannot be read"),
        ("requests", b"", "cannot be read"),
        ("txt", b"vegeta: killed\n", "did not say how it ended: vegeta: killed"),
        ("txt", None, "printed nothing"),
    ],
)
def test_what_cannot_be_read(
    fixtures: Path, tmp_path: Path, suffix: str, content: bytes | None, told: str
) -> None:
    for name in ("rows", "txt", "requests"):
        shutil.copy(fixtures / f"vegeta-open.{name}", tmp_path / f"open.{name}")
    file = tmp_path / f"open.{suffix}"
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(TandemError, match=told):
        VEGETA.read(tmp_path, "open")
