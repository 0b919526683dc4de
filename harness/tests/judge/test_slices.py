"""tandem.judge.slices and what tandem.judge.measure makes of them: rows and counters of a window that is shared in turns."""

from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
import pytest
from harness_samples import PROPERTY, codes, good_window, make_rows, there
from harness_windows import conditions, measured, sample
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.alternation import balanced
from tandem.hosts.host import Usage
from tandem.judge.measure import window
from tandem.judge.slices import OwnSlices, Slice, row_zero
from tandem.load.rows import Rows
from tandem.probes.sampler import Counted, Probed, Sample, Series
from tandem.record.window import Slices, Window

BEGAN_S, STARTUP_S = 1_000_000.0, 0.087
SETTLE_S = 0.2


def slices(order: list[str], slice_s: float = 1.0) -> list[Slice]:
    """The slices of all, to the millisecond: the counters are read and the signals sent one after the other."""
    made = []
    for number, label in enumerate(order):
        woken_s = BEGAN_S + number * slice_s
        ended_s = woken_s + slice_s - 0.002
        made.append(Slice(label, woken_s, woken_s + SETTLE_S, ended_s, ended_s + 0.001))
    return made


def rows_of(label: str, made: list[Slice], took_s: float = 0.004, connections: int = 4) -> Rows:
    """Of a generator with so many connections, which sends again at once and stands still outside of its slices. What is
    in flight then is answered meanwhile, and ends as soon as it goes on."""
    own = [one for one in made if one.label == label]
    zero_s = own[0].woken_s + STARTUP_S
    starts, ends = [], []
    for connection in range(connections):
        at_s = zero_s + connection * took_s / connections
        for one, after in zip_longest(own, own[1:]):
            while at_s + took_s <= one.stopped_s:
                starts.append(at_s)
                ends.append(at_s := at_s + took_s)
            if after is not None:
                starts.append(at_s)
                ends.append(at_s := max(at_s + took_s, after.woken_s + 0.0004))
    return make_rows(np.array(starts) - zero_s, np.array(ends) - zero_s)


ORDERS = st.builds(
    lambda variants, groups, seed: balanced([f"v{n}" for n in range(variants)], groups, seed),
    st.integers(2, 5),
    st.integers(3, 8),
    st.integers(0, 1000),
)


@PROPERTY
@given(order=ORDERS, took_s=st.floats(0.001, 0.15), slice_s=st.floats(0.5, 3.0))
def test_rows_and_switches_are_on_one_clock(order: list[str], took_s: float, slice_s: float) -> None:
    """Whatever the rate and the order: to a millisecond, where the guess is off by 37."""
    made = slices(order, slice_s)
    own = [one for one in made if one.label == "v0"]
    zero_s, apart_s = row_zero(rows_of("v0", made, took_s).end_s, own)
    assert zero_s == pytest.approx(own[0].woken_s + STARTUP_S, abs=0.001)
    assert apart_s == 0


def test_a_clock_that_moved_in_between_is_noticed() -> None:
    made = slices(["A", "B"] * 6)
    own = [one for one in made if one.label == "A"]
    ends_s = rows_of("A", made).end_s
    assert row_zero(ends_s, own)[1] == 0  # the control
    _, apart_s = row_zero(np.where(ends_s > 6, ends_s + 0.03, ends_s), own)
    assert apart_s == pytest.approx(0.03, abs=0.005)


def test_who_never_stood_still_has_no_clock() -> None:
    made = slices(["A"] * 4)
    zero_s, apart_s = row_zero(rows_of("A", made).end_s, made)
    assert zero_s == pytest.approx(BEGAN_S, abs=0.1)
    assert apart_s is None
    assert OwnSlices.of("A", made, rows_of("A", made).end_s).outside(0.0) == [], "nor seconds of others"


@PROPERTY
@given(order=ORDERS, took_s=st.floats(0.001, 0.15))
def test_each_row_belongs_to_the_slice_that_it_ended_in(order: list[str], took_s: float) -> None:
    made = slices(order)
    rows = rows_of("v0", made, took_s)
    own = OwnSlices.of("v0", made, rows.end_s)
    found = own.slice_of(rows)
    end_s, start_s = rows.end_s + own.zero_s, rows.start_s + own.zero_s
    for number, one in enumerate(own.slices):
        inside = (end_s >= one.settled_s) & (end_s < one.ended_s)
        assert (found[inside] == number).all()
    assert (found >= 0).sum() == sum(
        ((end_s >= one.settled_s) & (end_s < one.ended_s)).sum() for one in own.slices
    )
    # No time that is told contains a stop of the generator.
    timed = own.timed(rows, found)
    assert (rows.end_s - rows.start_s)[timed].max(initial=0.0) < took_s + 1e-6
    assert len(own.slices) == order.count("v0") - 1, "the first opens the connections"
    assert (start_s[timed] >= min(one.woken_s for one in own.slices)).all()


# ---- the window of one variant ----

COST_S = 0.0002


def cpu_s(label: str, made: list[Slice], at_s: float, rps: float) -> float:
    """Of an application at a moment: it works in its own slices, and a little for what was in flight after them."""
    worked = sum(
        min(max(at_s, one.woken_s), one.stopped_s) - one.woken_s for one in made if one.label == label
    )
    return 5.0 + worked * rps * COST_S


def sliced(
    rps: float = 1000.0, groups: int = 10, slice_s: float = 1.0, connections: int = 4
) -> tuple[list[Slice], Rows, Series]:
    """The counters are read at each switch, and every quarter of a second."""
    made = slices(balanced(["A", "B"], groups, 1), slice_s)
    edges = sorted({moment for one in made for moment in (one.settled_s, one.ended_s)})
    edges = sorted([*edges, *np.arange(BEGAN_S, made[-1].stopped_s, 0.25).tolist()])

    def taken(at_s: float) -> Sample:
        template = sample(at_s - BEGAN_S)
        usage = {
            **template.usage,
            "app": Usage(cpu_s("A", made, at_s, rps), 0.0, 1),
            "loadgen": Usage(0.1 * (at_s - BEGAN_S), 0.0, 1),
            "app B": Usage(cpu_s("B", made, at_s, 3 * rps), 0.0, 1),
        }
        return replace(template, at_s=at_s, usage=usage)

    samples = [taken(BEGAN_S - 1), *map(taken, edges), taken(made[-1].stopped_s + 2)]
    return made, rows_of("A", made, connections / rps, connections), Series(samples)


def of_a(
    made: list[Slice], rows: Rows, series: Series, probes: int = 0, connections: int = 4, **changes: Any
) -> Window:
    """The window of A."""
    own = OwnSlices.of("A", made, rows.end_s)
    seen = Counted(series, 6.0), Probed(probes, [], [])
    left = measured(*seen, rows=rows, own=own, began_s=own.zero_s, **changes)
    return window(left, conditions(connections=connections, duration_s=own.ran_s))


def test_a_variants_figures_are_those_of_its_own_seconds() -> None:
    made, rows, series = sliced()
    found = of_a(made, rows, series)
    assert found.requests == len(rows)
    assert found.measured_s == pytest.approx(9 * 0.798, abs=1e-3)
    assert found.goodput_rps == pytest.approx(1000, rel=0.01)
    assert found.app_cpu_us_per_request == pytest.approx(COST_S * 1e6, rel=0.01)
    assert found.roles["app"].cpu_cores == pytest.approx(0.2, rel=0.01), "of its own seconds, not of the half"
    assert found.service_time_ms.max == pytest.approx(4.0, abs=0.01), "no stop of the generator is in a time"
    assert found.duration_s == pytest.approx(10 * 0.999, abs=0.01)
    told = there(found.slices)
    assert (len(told.good), told.clock_error_ms) == (9, 0)
    assert sum(told.good) == pytest.approx(found.goodput_rps * found.measured_s)


def test_littles_law_holds_although_the_generator_stood_still_half_of_the_time() -> None:
    made, rows, series = sliced()
    assert of_a(made, rows, series).little == pytest.approx(1, abs=0.005)
    # The control: one of the connections rests.
    quarter = make_rows(rows.start_s[::4], rows.end_s[::4])
    assert of_a(made, quarter, series).little == pytest.approx(0.25, abs=0.05)


def test_what_is_in_flight_at_a_switch_is_counted_and_not_timed() -> None:
    """Answers of 300 ms end in the measured part of the next slice."""
    made = slices(["A", "B"] * 5)
    rows = rows_of("A", made, took_s=0.3, connections=2)
    own = OwnSlices.of("A", made, rows.end_s)
    late = replace(rows, end_s=np.where(rows.end_s - rows.start_s > 0.31, rows.end_s + 0.3, rows.end_s))
    found = own.slice_of(late)
    assert ((found >= 0) & ~own.timed(late, found)).any()
    assert (late.end_s - late.start_s)[own.timed(late, found)].max() < 0.31


# ---- what slices would hide ----

IDLE_CORES = 0.01


def outside(
    idle_cores: float | None = IDLE_CORES,
    later: float = 0.0,
    at_once_s: float = 0.0,
    probes: int = 0,
    drains_s: float | None = None,
    rps: float = 1000.0,
    slice_s: float = 1.0,
    connections: int = 4,
) -> float | None:
    """What is found of an application that uses IDLE_CORES all the time. later: so many cores more while B has its turn;
    at_once_s: CPU right after each of its own slices, for what was in flight, within drains_s; probes: the harness's requests,
    which cost what others cost."""
    made, rows, series = sliced(rps, slice_s=slice_s, connections=connections)
    drains_s = drains_s or at_once_s or 1.0
    lasts_s = series.samples[-1].at_s - series.samples[0].at_s

    def more(at_s: float) -> float:
        used_s = IDLE_CORES * (at_s - BEGAN_S) + probes * COST_S * (at_s - BEGAN_S) / lasts_s
        for one in made:
            if one.label == "B":
                used_s += later * (min(max(at_s, one.woken_s), one.stopped_s) - one.woken_s)
            elif at_s > one.stopped_s:
                used_s += at_once_s * min(1.0, (at_s - one.stopped_s) / drains_s)
        return used_s

    samples = [
        replace(one, usage={**one.usage, "app": Usage(one.usage["app"].cpu_s + more(one.at_s), 0.0, 1)})
        for one in series.samples
    ]
    found = of_a(made, rows, Series(samples), probes, connections, idle_cores=idle_cores)
    return there(found.slices).outside_cpu_share


def test_work_that_is_left_for_the_others_seconds_is_found() -> None:
    """In its own slices it uses 0.2 of a core, and what it always uses; B has as many seconds."""
    assert outside(later=0.02) == pytest.approx(0.02 / (0.2 + IDLE_CORES), rel=0.12)
    assert outside(later=0.2) == pytest.approx(0.2 / (0.2 + IDLE_CORES), rel=0.12)
    # The controls: who is idle then, who still answers what was in flight, and who is asked by the harness.
    assert outside() == pytest.approx(0, abs=1e-4)
    assert outside(at_once_s=0.05) == pytest.approx(0, abs=1e-4)
    assert outside(probes=200) == pytest.approx(0, abs=1e-3)
    assert outside(idle_cores=IDLE_CORES - 0.0004) == pytest.approx(0, abs=1e-4), "a second tells no more"
    # And what each of them would look like without its correction.
    assert outside(idle_cores=0.0) == pytest.approx(IDLE_CORES / (0.2 + IDLE_CORES), rel=0.12)
    assert outside(idle_cores=2 * IDLE_CORES) == pytest.approx(-IDLE_CORES / (0.2 + IDLE_CORES), rel=0.12)


def test_who_answers_slowly_is_not_accused_of_what_was_in_flight() -> None:
    """40 requests of 0.4 s: half of them are answered after the time for settling, in the measured part of the next slice."""
    slow = partial(outside, rps=100.0, slice_s=2.0, connections=40, at_once_s=40 * COST_S, drains_s=0.4)
    assert slow() == pytest.approx(0, abs=2e-3)
    # The control: work that is left for later is found all the same.
    assert (slow(later=0.003) or 0) > 0.04
    own = OwnSlices.of("A", slices(["B", "A", "B", "A"]), np.array([0.5]))
    assert [high - low for low, high in own.outside(0.5)] == pytest.approx([0.499], abs=0.002)
    assert own.outside(1.0) == [], "answers that last as long as a slice leave nothing to look at"


def test_without_an_idle_rate_nothing_is_claimed() -> None:
    assert outside(idle_cores=None, later=0.2) is None


def test_what_others_did_before_ones_own_first_slice_is_not_counted() -> None:
    made = slices(["B", "A", "B", "A"])
    own = OwnSlices.of("A", made, rows_of("A", made).end_s)
    assert own.outside(0.0) == [(made[2].settled_s, made[2].ended_s)]


@pytest.mark.parametrize(
    ("clock_error_ms", "share", "code"),
    [
        (0.0, None, []),
        (19.0, None, []),
        (21.0, None, [("slices-clock", "void")]),
        (None, None, [("slices-clock", "void")]),
        (0.0, -0.2, []),
        (0.0, 0.0099, []),
        (0.0, 0.0101, [("cpu-outside-slices", "warning")]),
        (0.0, 0.0499, [("cpu-outside-slices", "warning")]),
        (0.0, 0.0501, [("cpu-outside-slices", "void")]),
    ],
)
def test_a_clock_and_work_outside_of_ones_own_slices_are_judged(
    clock_error_ms: float | None, share: float | None, code: list[tuple[str, str]]
) -> None:
    told = Slices(
        from_s=[0.2],
        measured_s=[0.8],
        good=[800],
        app_cpu_s=[0.1],
        not_timed=0,
        clock_error_ms=clock_error_ms,
        outside_cpu_share=share,
    )
    assert codes(good_window(slices=told)) == code
