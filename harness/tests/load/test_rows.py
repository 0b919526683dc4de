"""tandem.load.rows and shares: rows of a real run, rows that were made up, their files, and a load that generators share."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness_samples import PROPERTY, floats, make_rows, there
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.histogram import curve, encode
from tandem.catalog.golden import SentBodies
from tandem.errors import TandemError, UsageError
from tandem.load.generator import OHA, Generator, Load, Report, check_version, read_report
from tandem.load.rows import (
    Floats,
    Rows,
    failures,
    in_flight,
    open_loop,
    read_rows,
    right_answers,
    steady,
    times,
)
from tandem.load.shares import Dealt, Share, deal, is_generator, merged, role, roles, summed
from tandem.load.vegeta import VEGETA
from tandem.load.wrk import WRK

DURATIONS = st.lists(st.floats(min_value=0, max_value=60), max_size=400)


# ---- times ----


@pytest.mark.parametrize(
    ("values_s", "figures"),
    [
        (np.arange(1, 100_001) / 1e6, (50.0005, 50.0, 90.0, 99.0, 99.9, 100.0)),  # 1 µs to 100 ms, evenly
        (np.full(100_000, 0.010), (10.0,) * 6),
        (floats(), (None,) * 6),
    ],
)
def test_percentiles_of_a_known_distribution(values_s: Floats, figures: tuple[float | None, ...]) -> None:
    found = times(values_s)
    told = (found.mean, found.p50, found.p90, found.p99, found.p999, found.max)
    assert found.samples == len(values_s)
    assert told == tuple(one if one is None else pytest.approx(one, abs=0.01) for one in figures)


@pytest.mark.parametrize(
    ("name", "needed"), [("p50", 200), ("p90", 1000), ("p99", 10_000), ("p999", 100_000)]
)
def test_a_percentile_needs_a_hundred_samples_beyond_it(name: str, needed: int) -> None:
    assert getattr(times(np.full(needed, 0.01)), name) == pytest.approx(10.0)
    assert getattr(times(np.full(needed - 1, 0.01)), name) is None


def test_a_percentile_is_a_time_that_was_seen() -> None:
    """And so it is the histogram's too; between the two middle ones lies what nobody waited."""
    values_s = np.repeat([0.010, 0.090], 200)
    assert times(values_s).p50 == pytest.approx(10.0)
    assert dict(curve([encode(values_s)], [0.5])) == pytest.approx({0.5: 10.0}, rel=1e-3)
    assert np.quantile(values_s, 0.5) == pytest.approx(0.050), "the control: the usual definition"


@PROPERTY
@given(DURATIONS, st.integers(1, 3))
def test_percentiles_are_ordered_and_inside_the_range(values: list[float], copies: int) -> None:
    found = times(np.array(values * copies * 100))
    told = [v for v in (found.p50, found.p90, found.p99, found.p999, found.max) if v is not None]
    assert told == sorted(told)
    for value in [*told, found.mean]:
        if value is not None:
            assert min(values) * (1e3 - 0.01) - 1e-6 <= value <= max(values) * (1e3 + 0.01) + 1e-6


# ---- right answers, steady part ----


def test_right_answers_have_the_status_and_a_known_length() -> None:
    starts, status, lengths = np.arange(5), [200, 200, 500, 200, 404], [10, 11, 10, 99, 3]
    rows = make_rows(starts, starts + 1, status=status, length_bytes=lengths)
    assert right_answers(rows, 200, {10, 11}).tolist() == [True, True, False, False, False]
    assert failures(rows, 200, {10, 11}) == {"status 404": 1, "status 500": 1, "wrong length": 1}
    fast = make_rows(np.zeros(100), np.full(100, 0.001), status=500)
    assert failures(fast, 200, {1000}) == {"status 500": 100}, "a fast error is never a right answer"


def test_steady_drops_what_ended_outside() -> None:
    rows = make_rows([0, 0, 1, 5, 8], [1.999, 2.0, 5.0, 8.999, 9.0])
    assert steady(rows, 10, 2, 1).tolist() == [False, True, True, True, False]


@PROPERTY
@given(DURATIONS, st.sets(st.integers(0, 5)))
def test_every_row_is_right_or_counted_as_a_failure(ends: list[float], lengths: set[int]) -> None:
    n = len(ends)
    status = np.where(np.arange(n) % 3 == 0, 503, 200)
    rows = make_rows(np.zeros(n), ends, status=status, length_bytes=np.arange(n) % 6)
    assert int(right_answers(rows, 200, lengths).sum()) + sum(failures(rows, 200, lengths).values()) == n
    assert not right_answers(rows, 200, set()).any(), "no length is right"
    assert right_answers(rows, 200, None).tolist() == (rows.status == 200).tolist(), "any is"


# ---- Little's law ----


def busy_closed_loop(connections: int, duration_s: float, think_s: float) -> Rows:
    """Connections that send a request of 10 ms, then rest for `think_s`, over and over."""
    starts = np.arange(0, duration_s, 0.010 + think_s)
    start = np.tile(starts, connections)
    return make_rows(start, start + 0.010)


@pytest.mark.parametrize(
    ("rows", "duration_s", "mean"),
    [
        (busy_closed_loop(8, 30, 0.0), 30, 8.0),
        (busy_closed_loop(8, 30, 0.010), 30, 4.0),  # they rest half of the time
        # Requests that straddle an edge count with their inner part.
        (make_rows([0.0], [10.0]), 10, 1.0),
        (make_rows([0.0], [5.5]), 10, 0.5),
        (make_rows([], []), 3, None),
        (make_rows([0.0], [1.0]), 3, None),
    ],
)
def test_how_many_are_in_flight(rows: Rows, duration_s: float, mean: float | None) -> None:
    found = in_flight(rows, duration_s, 2, 1)
    assert found == (None if mean is None else pytest.approx(mean, abs=0.01))


# ---- open loop ----

RATE, DURATION_S, BASE_S = 500, 60.0, 0.005
STALL_FROM_S, STALL_TO_S = 29.0, 31.0
INTENDED = np.arange(round(RATE * DURATION_S)) / RATE


def stalled_server(sent_s: np.ndarray, blocking: bool) -> Rows:
    """A server that answers in 5 ms but for two seconds, in which it answers nothing.

    blocking: the generator waits for the stalled answers before it sends more (few connections), so the actual
    sends of the stall come after it; else each request is sent when it is due and waits in the server.
    """
    stalled = (sent_s >= STALL_FROM_S) & (sent_s < STALL_TO_S)
    start = np.where(stalled, STALL_TO_S, sent_s) if blocking else sent_s
    end = np.where(stalled, STALL_TO_S, sent_s) + BASE_S
    return make_rows(start, end, paced_s=sent_s)


@pytest.mark.parametrize("blocking", [False, True])
def test_a_server_stall_is_in_the_response_times(blocking: bool) -> None:
    rows = stalled_server(INTENDED, blocking)
    found = times(open_loop(rows, RATE, DURATION_S, 0).response_s)
    assert found.mean == pytest.approx(38.3, rel=0.05)
    assert found.p99 == pytest.approx(1400, rel=0.03)
    assert found.max == pytest.approx(2005, rel=0.01)
    if blocking:
        uncorrected = there(times(rows.end_s - rows.start_s).p99)
        assert uncorrected < 50, "the negative control: what coordinated omission would publish"


def test_a_stopped_generator_is_late_and_its_delay_is_in_the_response_times() -> None:
    """Stopped for 1 s in 60 s: what was due in between goes out at its end."""
    sent = np.where((INTENDED >= 30) & (INTENDED < 31), 31.0, INTENDED)
    load = open_loop(make_rows(sent, sent + BASE_S, paced_s=sent), RATE, DURATION_S, 0)
    assert load.lateness_s.max() == pytest.approx(1.0, abs=0.01)
    assert times(load.response_s).p99 == pytest.approx(400, rel=0.05)
    # oha's own correction starts at the pacer's stamp and sees nothing of it.
    assert float((load.response_s - load.lateness_s).max()) == pytest.approx(BASE_S)


@pytest.mark.parametrize(
    ("rows", "errors", "unsent"), [(30_000, 0, 0), (29_000, 0, 1000), (29_000, 400, 600)]
)
def test_what_has_no_row_and_no_error_is_unsent(rows: int, errors: int, unsent: int) -> None:
    """Requests still queued at the deadline vanish from oha's output. What is undisturbed is neither late nor slow."""
    kept = INTENDED[:rows]
    load = open_loop(make_rows(kept, kept + BASE_S, paced_s=kept), RATE, DURATION_S, errors)
    assert (load.scheduled, load.unsent) == (30_000, unsent)
    assert times(load.response_s).p99 == pytest.approx(5.0)
    assert load.lateness_s.max() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("duration_s", "scheduled"), [(60, 30_000), (0.1, 50), (1.001, 501), (1.0005, 501)])
def test_scheduled_counts_every_arrival_before_the_end(duration_s: float, scheduled: int) -> None:
    assert open_loop(make_rows([], []), RATE, duration_s, 0).scheduled == scheduled


@PROPERTY
@given(st.sets(st.integers(0, 29_999), max_size=300))
def test_requests_that_end_in_an_error_never_make_the_others_look_faster(lost: set[int]) -> None:
    kept = np.delete(INTENDED, sorted(lost))
    load = open_loop(make_rows(kept, kept + BASE_S, paced_s=kept), RATE, DURATION_S, len(lost))
    assert float(load.response_s.min()) >= BASE_S - 1e-9
    assert load.unsent == 0


# ---- what never came ----


def test_censored_samples_count_as_the_time_out_at_least() -> None:
    found = times(np.full(19_700, 0.005), censored=300, timeout_s=10)
    assert (found.samples, found.censored, found.mean) == (20_000, 300, None)
    assert found.p50 == pytest.approx(5.0)
    assert found.p99 == found.max == 10_000
    left_out = times(np.full(19_700, 0.005))
    assert left_out.p99 == pytest.approx(5.0), "the negative control: without those that timed out"
    longer = times(floats(0.005, 12.0), censored=1, timeout_s=10)
    assert longer.max == pytest.approx(12_000), "a longer wait than the time-out stays"


RECORDED = [(200, 999, 4), (200, 1000, 188), (503, 5, 8)]
"""What the server of the recording says that it answered: status, length, number."""


@pytest.mark.parametrize("load", ["closed", "open"])
def test_a_real_file(fixtures: Path, load: str) -> None:
    rows = read_rows(fixtures / f"oha-{load}.db")
    assert len(rows) == 200
    assert int(right_answers(rows, 200, {1000}).sum()) == 188
    assert failures(rows, 200, {1000}) == {"status 503": 8, "wrong length": 4}
    counted = [(s, n, int(((rows.status == s) & (rows.length_bytes == n)).sum())) for s, n, _ in RECORDED]
    assert counted == RECORDED
    assert (rows.end_s > rows.start_s).all()
    assert 18 <= float(np.min(rows.end_s - rows.start_s)) * 1e3 < 25  # the server slept for 18 ms


def test_a_real_closed_loop_was_busy_and_an_open_one_is_on_time(fixtures: Path) -> None:
    """oha -q 100 -z 2s: an arrival every 10 ms. Proves that the reconstruction fits oha's pacer."""
    rows = read_rows(fixtures / "oha-closed.db")
    assert np.isnan(rows.paced_s).all()
    assert (np.diff(rows.start_s) >= 0).all()
    assert in_flight(rows, 3.0, 0.5, 0.5) == pytest.approx(4.0, abs=0.12)
    rows = read_rows(fixtures / "oha-open.db")
    load = open_loop(rows, 100, 2, 0)
    assert (load.scheduled, load.unsent) == (200, 0)
    assert (np.diff(rows.paced_s) >= 0).all()
    assert float(load.lateness_s.min()) > -0.005
    assert float(np.median(load.lateness_s)) < 0.010
    assert (load.response_s >= rows.end_s - rows.start_s - 0.005).all()


def copy_of(fixtures: Path, file: Path, *statements: str) -> Path:
    """A recording on which these statements ran."""
    file.parent.mkdir(exist_ok=True)
    file.write_bytes((fixtures / "oha-open.db").read_bytes())
    if statements:
        with closing(sqlite3.connect(file)) as database:
            database.executescript(";".join(statements))
    return file


@pytest.mark.parametrize("kept", [0, 50, 1000, 8192, 12_288])
def test_a_missing_and_a_truncated_file(fixtures: Path, tmp_path: Path, kept: int) -> None:
    with pytest.raises(TandemError, match="left no rows"):
        read_rows(tmp_path / "short.db")
    file = copy_of(fixtures, tmp_path / "short.db")
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(TandemError, match=r"short\.db: .* cannot be read"):
        read_rows(file)


@pytest.mark.parametrize("column", ["start", "start_latency_correction", "end", "status", "len_bytes"])
def test_a_missing_column(fixtures: Path, tmp_path: Path, column: str) -> None:
    file = copy_of(fixtures, tmp_path / "old.db", f'alter table oha rename column "{column}" to other')
    with pytest.raises(TandemError, match=column):
        read_rows(file)


@pytest.mark.parametrize("name", ["a%41b", "a#b", "a?b", "a b"])
def test_signs_in_the_path_mean_nothing(fixtures: Path, tmp_path: Path, name: str) -> None:
    """A file without a request has no rows."""
    assert len(read_rows(copy_of(fixtures, tmp_path / name / "open.db"))) == 200
    assert len(read_rows(copy_of(fixtures, tmp_path / name / "none.db", "delete from oha"))) == 0


def test_rows_come_in_the_order_of_the_pace(fixtures: Path, tmp_path: Path) -> None:
    """oha writes a row when the answer is there, so a slow first request is the last row."""
    file = copy_of(
        fixtures,
        tmp_path / "shuffled.db",
        "create table other as select * from oha order by random()",
        "drop table oha",
        "alter table other rename to oha",
    )
    one, other = read_rows(fixtures / "oha-open.db"), read_rows(file)
    assert other.paced_s.tolist() == one.paced_s.tolist()
    assert other.end_s.tolist() == one.end_s.tolist()


GENERATORS = st.integers(1, 30)


def load(connections: int, rate_rps: int | None = None) -> Load:
    return Load("http://proxy:8080/", 30, connections, 2, {"cookie": "sessionid=1"}, rate_rps=rate_rps)


# ---- dealing ----


@PROPERTY
@given(GENERATORS, st.integers(0, 20_000), st.integers(0, 200_000))
def test_the_shares_sum_to_the_whole_and_none_is_empty(generators: int, more: int, faster: int) -> None:
    whole = load(generators + more, generators + faster)
    shares = deal(whole, OHA, generators)
    connections = [share.load.connections for share in shares]
    rates = [share.load.rate_rps or 0 for share in shares]
    assert (sum(connections), sum(rates)) == (whole.connections, whole.rate_rps)
    for each in (connections, rates):
        assert min(each) >= 1
        assert max(each) - min(each) <= 1
    assert [share.role for share in shares] == roles(generators)
    for number, (share, own, rate) in enumerate(zip(shares, connections, rates, strict=True)):
        asked = replace(whole, connections=own, rate_rps=rate, share=(number, generators))
        assert share.load == replace(asked, whole_rps=whole.rate_rps), "all else is the same for each"


@PROPERTY
@given(GENERATORS, st.integers(1, 200))
def test_phases_are_staggered_as_one_generator_would_pace(generators: int, each: int) -> None:
    """The first arrivals of all are the first arrivals of one generator at the whole rate."""
    rate = generators * each
    shares = deal(load(4 * rate, rate), OHA, generators)
    due = sorted(
        share.after_s + number / (share.load.rate_rps or 1) for share in shares for number in range(3)
    )
    assert due == pytest.approx([number / rate for number in range(3 * generators)])


def test_a_closed_loop_has_no_phases() -> None:
    """Of connections the larger parts come first; one generator has the very same load."""
    shares = deal(load(50), OHA, 3)
    assert [(share.load.connections, share.after_s) for share in shares] == [(17, 0.0), (17, 0.0), (16, 0.0)]
    assert deal(load(50), OHA, 1) == [Share("loadgen", load(50))]


@pytest.mark.parametrize(
    ("whole", "by", "told"),
    [
        (load(2), OHA, "2 connections cannot be dealt out to 3 generators"),
        (load(8, 2), OHA, "2 requests per second cannot be dealt out to 3 generators"),
        (load(50), WRK, "wrk leaves no rows"),
    ],
)
def test_what_cannot_be_dealt_out_is_refused(whole: Load, by: Generator, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        deal(whole, by, 3)
    assert len(deal(whole, by, 1)) == 1
    assert len(deal(load(50), VEGETA, 2)) == 2


def test_the_roles_of_generators() -> None:
    assert roles(3) == ["loadgen", "loadgen-2", "loadgen-3"]
    assert all(is_generator(role(number)) for number in (1, 2, 30))
    assert not any(is_generator(name) for name in ("app", "app loadgen", "proxy", "harness"))


# ---- merging ----


PART = st.tuples(st.floats(0, 0.2), st.lists(st.floats(0, 30), max_size=40))


@PROPERTY
@given(st.lists(PART, min_size=1, max_size=4))
def test_a_closed_loops_rows_are_all_there_in_time_order(parts: list[tuple[float, list[float]]]) -> None:
    dealt = [
        Dealt(make_rows(starts, np.array(starts) + 0.01, length_bytes=number), began_s, None)
        for number, (began_s, starts) in enumerate((began, sorted(own)) for began, own in parts)
    ]
    found = merged(dealt)
    assert (np.diff(found.start_s) >= 0).all()
    assert found.due_s is None
    assert all(
        getattr(found, one).dtype == getattr(dealt[0].rows, one).dtype for one in ("status", "start_s")
    )
    assert len(found) == sum(len(part.rows) for part in dealt)
    each = {
        (start + part.began_s, end + part.began_s, number)
        for number, part in enumerate(dealt)
        for start, end in zip(part.rows.start_s, part.rows.end_s, strict=True)
    }
    assert set(zip(found.start_s, found.end_s, found.length_bytes, strict=True)) == each
    assert len(merged([])) == len(merged([Dealt(make_rows([], []), 0.0, 10)])) == 0


PACE, SECONDS = 1000, 20


def served(number: int, generators: int, late_s: float = 0.0) -> Dealt:
    """A generator's share of PACE: its times rise from 1 to 11 ms over the window. late_s: of its pacer."""
    rate = PACE // generators
    due = np.arange(SECONDS * rate) / rate
    began_s = number / PACE
    rows = make_rows(due + late_s, due + 0.001 + 0.01 * (began_s + due) / SECONDS, paced_s=due + late_s)
    return Dealt(rows, began_s, rate)


@pytest.mark.parametrize("generators", [2, 4, 5])
def test_an_open_loop_of_several_is_that_of_one(generators: int) -> None:
    """What one of them did not send is unsent."""
    whole = open_loop(merged([served(0, 1)]), PACE, SECONDS, 0)
    each = [served(number, generators) for number in range(generators)]
    parts = open_loop(merged(each), PACE, SECONDS, 0)
    assert (parts.scheduled, parts.unsent) == (whole.scheduled, 0)
    assert parts.intended_s == pytest.approx(whole.intended_s)
    assert parts.response_s == pytest.approx(whole.response_s)
    assert parts.lateness_s == pytest.approx(np.zeros(PACE * SECONDS), abs=1e-9)
    without = open_loop(merged(each[1:]), PACE, SECONDS, 0)
    assert (without.scheduled, without.unsent) == (20_000, 20_000 // generators)


def test_a_generators_lateness_is_counted_by_its_own_schedule() -> None:
    """One that began late is not late by that, nor is the other: by their place among all, both would be."""
    first, second = served(0, 2, late_s=0.002), served(1, 2)
    parts = merged([first, replace(second, began_s=0.3505)])
    late = open_loop(parts, PACE, SECONDS, 0).lateness_s
    assert sorted(np.round(late, 6).tolist()) == [0.0] * 10_000 + [0.002] * 10_000
    by_place = parts.paced_s - np.arange(len(parts)) / PACE
    assert np.abs(by_place).max() > 0.1, "the control"


def test_percentiles_are_of_the_rows_together() -> None:
    """Nine in ten of one generator's answers take 1 ms, the other's take 100: neither the mean nor any other blend of
    their percentiles is that of all."""
    quick, slow = np.full(50_000, 0.001), np.full(5_000, 0.100)
    starts = [(took, np.linspace(0, 30, len(took))) for took in (quick, slow)]
    found = merged(Dealt(make_rows(start, start + took), 0.0, None) for took, start in starts)
    together = times(found.end_s - found.start_s)
    assert together.p90 == pytest.approx(1.0)
    assert np.mean([there(times(quick).p90), there(times(slow).p90)]) == pytest.approx(50.5)
    parts_hdr = [encode(quick), encode(slow)]
    assert dict(curve(parts_hdr, [0.9])) == pytest.approx({0.9: together.p90}, rel=1e-3)


def test_counts_are_summed() -> None:
    one = Report(statusCodeDistribution={"200": 5, "503": 1}, errorDistribution={"timeout": 2})
    other = Report(statusCodeDistribution={"200": 7})
    found = summed([one, other])
    assert (found.statusCodeDistribution, found.errorDistribution) == ({"200": 12, "503": 1}, {"timeout": 2})
    assert (found.answered, found.answered_2xx) == (13, 12)


# ---- oha's command line, version and summary ----


URL = "http://proxy:8080/api/v1/recipes"
LOAD = Load(URL, 30, 50, 2, {"Cookie": "sessionid=1", "Accept": "*/*"})
ALWAYS = ["oha", "--no-tui", "--worker-threads", "2", "-t", "10s", "-w", "-r", "0"]
WINDOW = [*ALWAYS, "-z", "30s", "-c", "50", "--output-format", "json"]
FILES = ["-o", "/tmp/w.json", "--db-url", "/tmp/w.sqlite"]
HEADERS = ["-H", "Cookie: sessionid=1", "-H", "Accept: */*"]
ONE, TWO = SentBodies.of(b"[1]"), SentBodies.of(b"[1]", b"[2]")
URLS = ["http://a/1", "http://a/2"]


@pytest.mark.parametrize(
    ("changes", "told", "target"),
    [
        ({}, [], [URL]),
        # -q without --latency-correction suffers coordinated omission; the latter without -q is ignored.
        ({"rate_rps": 500}, ["-q", "500", "--latency-correction"], [URL]),
        ({"method": "POST", "bodies": ONE}, ["-m", "POST", "-D", f"/tmp/body-{ONE.name}"], [URL]),
        ({"method": "POST", "bodies": TWO}, ["-m", "POST", "-Z", f"/tmp/body-{TWO.name}"], [URL]),
        ({"urls": URLS}, [], ["--urls-from-file", "/tmp/w.urls"]),
        ({"url": "https://a/"}, ["--insecure"], ["https://a/"]),
        ({"url": "https://a/", "http2": True}, ["--insecure", "--http2"], ["https://a/"]),
    ],
)
def test_the_command_line(changes: dict[str, Any], told: list[str], target: list[str]) -> None:
    load = replace(LOAD, **changes)
    assert OHA.arguments(load, "w") == [*WINDOW, *FILES, *told, *HEADERS, *target]
    assert OHA.inputs(load, "w") == ({"urls": "http://a/1\nhttp://a/2\n"} if load.urls else {})


@pytest.mark.parametrize("change", [{"retries": 1}, {"requests_per_connection": 10}])
def test_clients_that_oha_cannot_be_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(TandemError, match="oha neither sends a request again"):
        OHA.arguments(replace(LOAD, **change), "w")


def test_what_a_load_leaves_is_what_is_read() -> None:
    """The files that are copied home are those on the command line, for every generator."""
    generators: list[Generator] = [OHA, VEGETA]
    for generator in generators:
        command = " ".join(generator.arguments(replace(LOAD, rate_rps=500), "w"))
        for suffix in generator.suffixes:
            assert f"/tmp/w.{suffix}" in command or f'"$name.{suffix}"' in command


OTHER, OLD, NONE = r"is not supported: 1\.x is\.", r"is too old: 1\.14 or newer", "did not report its version"


@pytest.mark.parametrize(
    ("text", "version", "problem"),
    [
        ("oha 1.16.0", "1.16.0", ""),
        ("oha 1.14.0\n", "1.14.0", ""),
        ("oha 1.99.1-beta", "1.99.1", ""),
        *((text, "", OTHER) for text in ("oha 2.0.0", "oha 2.0.1-beta", "oha 10.3.0")),
        *((text, "", OLD) for text in ("oha 1.13.9", "oha 0.99.0", "1.9.0")),
        *((text, "", NONE) for text in ("", "oha", "command not found", "oha 1.16")),
    ],
)
def test_a_version_will_do_or_is_refused(text: str, version: str, problem: str) -> None:
    if problem:
        with pytest.raises(TandemError, match=problem):
            check_version(text)
    else:
        assert check_version(text) == version


@pytest.mark.parametrize(
    ("name", "statuses", "errors"),
    [
        ("closed", {"200": 192, "503": 8}, {}),
        ("open", {"200": 192, "503": 8}, {}),
        ("refused", {}, {"Connection refused (os error 111)": 4}),
    ],
)
def test_a_real_summary(fixtures: Path, name: str, statuses: dict[str, int], errors: dict[str, int]) -> None:
    """oha calls all of them successes: its successRate is 1.0 with eight 503 among them."""
    report = read_report(fixtures / f"oha-{name}.json")
    assert (report.statusCodeDistribution, report.errorDistribution) == (statuses, errors)
    assert report.answered == sum(statuses.values())


@pytest.mark.parametrize(
    "text",
    ["", "{", "{}", "[]", "oha: error", '{"statusCodeDistribution": {"200": "many"}}', '{"errorDistribution": null}', None],
)  # fmt: skip
def test_a_summary_that_cannot_be_read(tmp_path: Path, text: str | None) -> None:
    """The last one is missing."""
    if text is not None:
        (tmp_path / "closed.json").write_text(text)
    with pytest.raises(TandemError, match=r"closed\.json: .* cannot be read"):
        read_report(tmp_path / "closed.json")
