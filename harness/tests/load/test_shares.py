"""tandem.load.shares: shares that sum to the whole, and rows of several generators put together."""

import dataclasses

import numpy as np
import pytest
from harness_samples import PROPERTY, floats, make_rows
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis import histogram
from tandem.errors import UsageError
from tandem.load.generator import OHA, Generator, Load, Report
from tandem.load.rows import Rows, open_loop, times
from tandem.load.shares import Dealt, deal, is_generator, merged, role, roles, split, summed
from tandem.load.vegeta import VEGETA
from tandem.load.wrk import WRK

GENERATORS = st.integers(1, 30)


def load(connections: int, rate_rps: int | None = None) -> Load:
    return Load("http://proxy:8080/", 30, connections, 2, {"cookie": "sessionid=1"}, rate_rps=rate_rps)


# ---- dealing ----


@pytest.mark.parametrize("whole", [load(50), load(200, 500)])
def test_one_generator_has_the_very_same_load(whole: Load) -> None:
    [share] = deal(whole, OHA, 1)
    assert (share.role, share.load, share.after_s) == ("loadgen", whole, 0.0)
    rows = make_rows(floats(0, 1, 2), floats(1, 2, 3))
    found = merged([Dealt(rows, 0.0, None)])
    for name in ("start_s", "end_s", "status", "length_bytes"):
        assert (getattr(found, name) == getattr(rows, name)).all()
        assert getattr(found, name).dtype == getattr(rows, name).dtype


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
    assert len({share.role for share in shares}) == generators
    for share in shares:
        assert (
            dataclasses.replace(share.load, connections=whole.connections, rate_rps=whole.rate_rps) == whole
        ), "all else is the same for each"


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
    assert [share.after_s for share in deal(load(50), OHA, 3)] == [0.0] * 3
    assert split(50, 3) == [17, 17, 16], "the larger parts first"


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


def unsorted(part: Rows) -> set[tuple[float, float, int]]:
    return set(zip(part.start_s.tolist(), part.end_s.tolist(), part.length_bytes.tolist(), strict=True))


@PROPERTY
@given(
    st.lists(st.tuples(st.floats(0, 0.2), st.lists(st.floats(0, 30), max_size=40)), min_size=1, max_size=4)
)
def test_a_closed_loops_rows_are_all_there_in_the_order_of_time(
    parts: list[tuple[float, list[float]]],
) -> None:
    dealt = [
        Dealt(make_rows(starts, np.array(starts) + 0.01, length_bytes=number), began_s, None)
        for number, (began_s, starts) in enumerate((began, sorted(own)) for began, own in parts)
    ]
    found = merged(dealt)
    assert (np.diff(found.start_s) >= 0).all()
    assert found.due_s is None
    assert len(found) == sum(len(part.rows) for part in dealt)
    assert unsorted(found) == {
        (start + part.began_s, end + part.began_s, length)
        for part in dealt
        for start, end, length in unsorted(part.rows)
    }


def test_no_generator_leaves_no_rows() -> None:
    assert len(merged([])) == 0
    assert len(merged([Dealt(make_rows([], []), 0.0, 10)])) == 0


RATE, SECONDS = 1000, 20


def served(number: int, generators: int, late_s: float = 0.0) -> Dealt:
    """A generator's share of RATE: its times rise from 1 to 11 ms over the window. late_s: of its pacer."""
    rate = RATE // generators
    due = np.arange(SECONDS * rate) / rate
    began_s = number / RATE
    rows = make_rows(due + late_s, due + 0.001 + 0.01 * (began_s + due) / SECONDS, paced_s=due + late_s)
    return Dealt(rows, began_s, rate)


@pytest.mark.parametrize("generators", [2, 4, 5])
def test_an_open_loop_of_several_is_that_of_one(generators: int) -> None:
    whole = open_loop(merged([served(0, 1)]), RATE, SECONDS, 0)
    parts = open_loop(merged([served(number, generators) for number in range(generators)]), RATE, SECONDS, 0)
    assert (parts.scheduled, parts.unsent) == (whole.scheduled, 0)
    assert parts.intended_s == pytest.approx(whole.intended_s)
    assert parts.response_s == pytest.approx(whole.response_s)
    assert parts.lateness_s == pytest.approx(np.zeros(RATE * SECONDS), abs=1e-9)


def test_a_generators_lateness_is_counted_by_its_own_schedule() -> None:
    """One that began late is not late by that, nor is the other: by their place among all, both would be."""
    first, second = served(0, 2, late_s=0.002), served(1, 2)
    parts = merged([first, dataclasses.replace(second, began_s=0.3505)])
    late = open_loop(parts, RATE, SECONDS, 0).lateness_s
    assert sorted(np.round(late, 6).tolist()) == [0.0] * 10_000 + [0.002] * 10_000
    by_place = parts.paced_s - np.arange(len(parts)) / RATE
    assert np.abs(by_place).max() > 0.1, "the control"


def test_what_one_did_not_send_is_unsent() -> None:
    found = open_loop(merged([served(0, 2)]), RATE, SECONDS, errors=0)
    assert (found.scheduled, found.unsent) == (20_000, 10_000)


def test_percentiles_are_of_the_rows_together() -> None:
    """Nine in ten of one generator's answers take 1 ms, the other's take 100: neither the mean nor any other blend of
    their percentiles is that of all."""
    quick, slow = np.full(50_000, 0.001), np.full(5_000, 0.100)
    start = np.linspace(0, 30, 50_000), np.linspace(0, 30, 5_000)
    parts = [
        Dealt(make_rows(begin, begin + took), 0.0, None)
        for begin, took in zip(start, (quick, slow), strict=True)
    ]
    found = merged(parts)
    together = times(found.end_s - found.start_s)
    of_each = [times(part.rows.end_s - part.rows.start_s).p90 for part in parts]
    assert together.p90 == pytest.approx(1.0)
    assert np.mean([one or 0 for one in of_each]) == pytest.approx(50.5)
    parts_hdr = [histogram.encode(part.rows.end_s - part.rows.start_s) for part in parts]
    assert dict(histogram.curve(parts_hdr, [0.9])) == pytest.approx({0.9: together.p90}, rel=1e-3)


def test_counts_are_summed() -> None:
    one = Report(statusCodeDistribution={"200": 5, "503": 1}, errorDistribution={"timeout": 2})
    other = Report(statusCodeDistribution={"200": 7})
    found = summed([one, other])
    assert (found.statusCodeDistribution, found.errorDistribution) == ({"200": 12, "503": 1}, {"timeout": 2})
    assert (found.answered, found.answered_2xx) == (13, 12)
