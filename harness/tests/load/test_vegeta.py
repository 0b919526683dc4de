"""tandem.load.vegeta: its command line, and rows from CSV that vegeta 12.12 wrote."""

import base64
import json
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
ALWAYS = [
    *("-format=json", "-targets=/tmp/open.targets", "-duration=5s", "-timeout=10s", "-redirects=-1"),
    *("-max-body=0", "-connections=200"),
]
RATE, DURATION_S = 100, 2
CANNOT, MISSING = r"open\.csv: .* cannot be read", r"open\.csv: .* left no rows"


def test_the_command_line() -> None:
    """A closed loop is a rate of 0 with a limit of workers."""
    ends = ["-header=Cookie: sessionid=1"]
    opened = VEGETA.arguments(LOAD, "open")
    closed = VEGETA.arguments(replace(LOAD, rate_rps=None), "open")
    assert opened[:2] == closed[:2] == ["sh", "-c"]
    head = ["sh", "/tmp/open", *ALWAYS]
    assert opened[3:] == [*head, "-rate=500/1s", "-max-connections=200", *ends]
    assert closed[3:] == [*head, "-rate=0", "-workers=200", "-max-workers=200", *ends]


def test_targets() -> None:
    assert VEGETA.inputs(LOAD, "open") == {"targets": '{"method": "GET", "url": "http://proxy:8080/"}\n'}
    body = SentBodies.of(b"[1]")
    posted = replace(LOAD, method="POST", bodies=body, urls=["http://a/1", "http://a/2"])
    assert VEGETA.inputs(posted, "open")["targets"].splitlines() == [
        '{"method": "POST", "url": "http://a/1"}',
        '{"method": "POST", "url": "http://a/2"}',
    ]
    assert f"-body=/tmp/body-{body.name}" in VEGETA.arguments(posted, "open")


def test_bodies_are_sent_in_turn() -> None:
    posted = replace(LOAD, method="POST", bodies=SentBodies.of(b"[1]", b"[2]"))
    targets = [json.loads(line) for line in VEGETA.inputs(posted, "open")["targets"].splitlines()]
    assert [base64.b64decode(target["body"]) for target in targets] == [b"[1]", b"[2]"]
    assert not any(argument.startswith("-body=") for argument in VEGETA.arguments(posted, "open"))


def test_real_rows_of_an_open_loop(fixtures: Path) -> None:
    """A server of 5 ms at 100 requests/s for 2 s; every 25th answer was a 503."""
    rows, report = VEGETA.read(fixtures, "vegeta-open")
    assert len(rows) == RATE * DURATION_S
    assert (report.statusCodeDistribution, report.errorDistribution) == ({"200": 192, "503": 8}, {})
    assert rows_.right_answers(rows, 200, {1000}).sum() == 192
    assert (rows.start_s[0], set(rows.length_bytes)) == (0.0, {1000})
    assert (np.diff(rows.start_s) >= 0).all()
    took_s = rows.end_s - rows.start_s
    assert 0.005 < np.median(took_s) < 0.010
    load = rows_.open_loop(rows, RATE, DURATION_S, errors=0)
    assert (load.scheduled, load.unsent) == (RATE * DURATION_S, 0)
    assert np.abs(load.lateness_s).max() < 0.02
    assert np.median(load.response_s) == pytest.approx(np.median(took_s), abs=0.002)


def test_real_rows_of_a_closed_loop(fixtures: Path) -> None:
    """Four workers for 0.3 s: never more than four requests at once."""
    rows, report = VEGETA.read(fixtures, "vegeta-closed")
    assert report.answered == len(rows) == 213
    edges = sorted([(t, 1) for t in rows.start_s] + [(t, -1) for t in rows.end_s])
    assert np.cumsum([step for _, step in edges]).max() <= 4


def test_real_rows_of_a_dead_server_are_errors_and_no_rows(fixtures: Path) -> None:
    rows, report = VEGETA.read(fixtures, "vegeta-refused")
    assert len(rows) == report.answered == 0
    [(text, number)] = report.errorDistribution.items()
    assert (text.endswith("connect: connection refused"), number) == (True, 4)


def test_rows_that_cannot_be_read(fixtures: Path, tmp_path: Path) -> None:
    real = (fixtures / "vegeta-open.csv").read_text()
    with pytest.raises(TandemError, match=MISSING):
        VEGETA.read(tmp_path, "open")
    half = real[: len(real) // 2 - 100]
    for text in ("1,2,3\n", "vegeta: error\n", "a,b,c,d,e,f,g,h,i,j,k,l\n", half):
        (tmp_path / "open.csv").write_text(text)
        with pytest.raises(TandemError, match=CANNOT):
            VEGETA.read(tmp_path, "open")
    (tmp_path / "open.csv").write_text(real.splitlines()[0].rpartition(",")[0] + ",\n")
    rows, _ = VEGETA.read(tmp_path, "open")
    assert rows_.failures(rows, 200, {1000}) == {"wrong length": 1}, "an answer without a length"
