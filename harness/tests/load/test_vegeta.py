"""tandem.load.vegeta: what it is told, and rows that loadgen/vegeta wrote."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from tandem.catalog.golden import SentBodies
from tandem.errors import TandemError
from tandem.load import rows as rows_
from tandem.load.generator import Load
from tandem.load.vegeta import CLOSED, VEGETA, schedule
from tandem.record.trial import Arrivals

LOAD = Load("http://proxy:8080/", 5, 200, 1, {"Cookie": "sessionid=1"}, rate_rps=500)
ALWAYS = ["vegeta", "-requests=/tmp/open.requests", "-schedule=/tmp/open.schedule", "-rows=/tmp/open.rows"]
RATE, DURATION_S = 100, 2


def test_the_command_line() -> None:
    opened = VEGETA.arguments(LOAD, "open")
    closed = VEGETA.arguments(replace(LOAD, rate_rps=None), "open")
    assert opened == [*ALWAYS, "-timeout=10s", "-connections=200"]
    assert closed == [*opened, "-closed", "-duration=5s"]
    impatient = replace(LOAD, timeout_s=1, retries=2, requests_per_connection=10)
    assert VEGETA.arguments(impatient, "open")[4:] == [
        *("-timeout=1s", "-connections=200", "-retries=2", "-requests-per-connection=10")
    ]
    assert impatient.patience_s == 3
    assert VEGETA.arguments(replace(LOAD, http2=True), "open")[-1] == "-http2"


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


@pytest.fixture
def opened(fixtures: Path, tmp_path: Path) -> Path:
    """A folder with the files of an open loop."""
    for suffix in ("rows", "txt", "requests"):
        shutil.copy(fixtures / f"vegeta-open.{suffix}", tmp_path / f"open.{suffix}")
    return tmp_path


def test_rows_of_a_mix_have_their_class(opened: Path) -> None:
    """The same rows, if every request were of a second class."""
    requests = opened / "open.requests"
    requests.write_text(requests.read_text().replace('"class": 0', '"class": 1'))
    rows, _ = VEGETA.read(opened, "open")
    assert rows.is_of(1).all()
    assert not rows.is_of(0).any()
    assert (len(rows.at(rows.is_of(1))), len(rows.at(rows.is_of(0)))) == (200, 0)


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
def test_what_cannot_be_read(opened: Path, suffix: str, content: bytes | None, told: str) -> None:
    file = opened / f"open.{suffix}"
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(TandemError, match=told):
        VEGETA.read(opened, "open")


# ---- when requests are due and which they are ----


SCHEDULED = Load("http://app/", 10, 50, 1, {}, rate_rps=500)
POISSON = Arrivals(process="poisson", seed=7)
BESIDE = (replace(SCHEDULED, weight=4), replace(SCHEDULED, weight=1))
MIXED = replace(SCHEDULED, weight=95, beside=BESIDE, arrivals=POISSON)


def due_s(arrivals: Arrivals, rate_rps: int = 500, duration_s: int = 10) -> np.typing.NDArray[np.float64]:
    due, _ = schedule(replace(SCHEDULED, rate_rps=rate_rps, duration_s=duration_s, arrivals=arrivals), [1])
    return due / 1e9


@given(
    st.sampled_from([Arrivals(), POISSON, Arrivals(process="bursts", size=20, pause_ms=1)]),
    st.integers(1, 5_000),
    st.integers(1, 20),
)
def test_the_rate_is_exact_and_all_is_due_in_time(arrivals: Arrivals, rate_rps: int, duration_s: int) -> None:
    found = due_s(arrivals, rate_rps, duration_s)
    assert len(found) == rate_rps * duration_s
    assert (np.diff(found) >= 0).all()
    assert found[0] >= 0
    assert found[-1] < duration_s


def test_arrivals_at_random_have_exponential_gaps_and_evenly_spaced_ones_have_not() -> None:
    evenly, randomly = (due_s(Arrivals(process=one, seed=3)) for one in ("paced", "poisson"))
    assert scipy.stats.kstest(np.diff(randomly) * 500, "expon").pvalue > 0.01
    assert scipy.stats.kstest(np.diff(evenly) * 500, "expon").pvalue < 1e-9
    assert np.diff(evenly) == pytest.approx(1 / 500)
    again, other = due_s(POISSON.model_copy()), due_s(POISSON.model_copy(update={"seed": 8}))
    assert (due_s(POISSON) == again).all()
    assert (due_s(POISSON) != other).any(), "another seed draws other ones"


def test_bursts_leave_their_pauses() -> None:
    """100 requests in each fifth of a second: evenly in 50 ms, then nothing for 150 ms."""
    found = due_s(Arrivals(process="bursts", size=100, pause_ms=150))
    assert found[:100] == pytest.approx(np.arange(100) * 0.0005)
    assert found[100] == pytest.approx(0.2)
    with pytest.raises(TandemError, match=r"comes every 200 ms, which leaves no pause of 200 ms"):
        due_s(Arrivals(process="bursts", size=100, pause_ms=200))
    assert due_s(Arrivals(process="bursts")) == pytest.approx(np.arange(5000) / 500), "not described"


def test_a_mix_has_its_exact_shares_in_random_order() -> None:
    """2 light requests, 3 writes and one heavy one, numbered one after the other."""
    _, which = schedule(MIXED, [2, 3, 1])
    assert np.bincount(np.searchsorted([2, 5], which, side="right")).tolist() == [4750, 200, 50]
    assert np.bincount(which, minlength=6).min() > 40, "each of a class alike"
    places = np.flatnonzero(which == 5)
    assert scipy.stats.kstest(places / len(which), "uniform").pvalue > 0.01


def test_a_closed_loop_is_due_at_once() -> None:
    due, which = schedule(replace(MIXED, rate_rps=None), [1, 1, 1])
    assert (len(due), int(due.max())) == (CLOSED, 0)
    assert np.bincount(which).tolist() == [19_000, 800, 200]


@pytest.mark.parametrize("generators", [2, 3])
def test_several_generators_together_are_the_schedule(generators: int) -> None:
    whole = schedule(MIXED, [1, 1, 1])
    own = [replace(MIXED, rate_rps=1, whole_rps=500, share=(n, generators)) for n in range(generators)]
    each = [schedule(load, [1, 1, 1]) for load in own]
    due, which = (np.concatenate(columns) for columns in zip(*each, strict=True))
    order = np.argsort(due, kind="stable")
    assert (due[order] == whole[0]).all()
    assert (which[order] == whole[1]).all()
