"""tandem.load.rows: synthetic rows with known answers."""

import numpy as np
import pytest
from harness_samples import PROPERTY, floats, make_rows
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.histogram import curve, encode
from tandem.load.rows import Rows, failures, in_flight, open_loop, right_answers, steady, times

DURATIONS = st.lists(st.floats(min_value=0, max_value=60), max_size=400)


# ---- times ----


def test_percentiles_of_a_known_distribution() -> None:
    found = times(np.arange(1, 100_001) / 1e6)  # 1 µs to 100 ms, evenly spaced
    assert found.samples == 100_000
    assert found.mean == pytest.approx(50.0005)
    assert found.p50 == pytest.approx(50.0, abs=0.01)
    assert found.p90 == pytest.approx(90.0, abs=0.01)
    assert found.p99 == pytest.approx(99.0, abs=0.01)
    assert found.p999 == pytest.approx(99.9, abs=0.01)
    assert found.max == pytest.approx(100.0)


def test_constant_durations_have_one_value_everywhere() -> None:
    found = times(np.full(100_000, 0.010))
    assert [found.mean, found.p50, found.p90, found.p99, found.p999, found.max] == [pytest.approx(10.0)] * 6


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


def test_no_samples_give_no_figures() -> None:
    found = times(floats())
    assert found.samples == 0
    assert [found.mean, found.p50, found.p90, found.p99, found.p999, found.max] == [None] * 6


@PROPERTY
@given(DURATIONS, st.integers(1, 3))
def test_percentiles_are_ordered_and_inside_the_range(values: list[float], copies: int) -> None:
    found = times(np.array(values * copies * 100))
    told = [v for v in (found.p50, found.p90, found.p99, found.p999, found.max) if v is not None]
    assert told == sorted(told)
    for value in [*told, found.mean]:
        if value is not None:
            assert min(values) * (1e3 - 0.01) - 1e-6 <= value <= max(values) * (1e3 + 0.01) + 1e-6


@PROPERTY
@given(
    st.lists(st.floats(min_value=0, max_value=60), min_size=1, max_size=400),
    st.randoms(use_true_random=False),
)
def test_the_order_of_samples_does_not_matter(values: list[float], chance: object) -> None:
    shuffled = list(values)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = times(np.array(values)), times(np.array(shuffled))
    assert one.model_dump(exclude={"mean"}) == other.model_dump(exclude={"mean"})
    assert one.mean == pytest.approx(other.mean)


# ---- right answers, steady part ----


def test_right_answers_have_the_status_and_a_known_length() -> None:
    rows = Rows(
        start_s=floats(0, 1, 2, 3, 4),
        paced_s=np.full(5, np.nan),
        end_s=floats(1, 2, 3, 4, 5),
        status=np.array([200, 200, 500, 200, 404]),
        length_bytes=np.array([10, 11, 10, 99, 3]),
    )
    assert right_answers(rows, 200, {10, 11}).tolist() == [True, True, False, False, False]
    assert failures(rows, 200, {10, 11}) == {"status 404": 1, "status 500": 1, "wrong length": 1}


def test_a_fast_error_is_never_a_right_answer() -> None:
    rows = make_rows(np.zeros(100), np.full(100, 0.001), status=500)
    assert not right_answers(rows, 200, {1000}).any()
    assert failures(rows, 200, {1000}) == {"status 500": 100}


def test_right_answers_alone_leave_no_failures() -> None:
    rows = make_rows([0, 1], [1, 2])
    assert right_answers(rows, 200, {1000}).all()
    assert failures(rows, 200, {1000}) == {}


def test_steady_drops_what_ended_outside() -> None:
    rows = make_rows([0, 0, 1, 5, 8], [1.999, 2.0, 5.0, 8.999, 9.0])
    assert steady(rows, 10, 2, 1).tolist() == [False, True, True, True, False]


@PROPERTY
@given(DURATIONS, st.sets(st.integers(0, 5)))
def test_every_row_is_right_or_counted_as_a_failure(ends: list[float], lengths: set[int]) -> None:
    n = len(ends)
    rows = Rows(
        start_s=np.zeros(n),
        paced_s=np.full(n, np.nan),
        end_s=np.array(ends, dtype=np.float64),
        status=np.where(np.arange(n) % 3 == 0, 503, 200),
        length_bytes=np.arange(n) % 6,
    )
    assert int(right_answers(rows, 200, lengths).sum()) + sum(failures(rows, 200, lengths).values()) == n


# ---- Little's law ----


def busy_closed_loop(connections: int, duration_s: float, think_s: float) -> Rows:
    """Connections that send a request of 10 ms, then rest for `think_s`, over and over."""
    starts = np.arange(0, duration_s, 0.010 + think_s)
    start = np.tile(starts, connections)
    return make_rows(start, start + 0.010)


def test_little_is_one_when_every_connection_is_busy() -> None:
    assert in_flight(busy_closed_loop(8, 30, 0.0), 30, 2, 1) == pytest.approx(8.0, abs=0.01)


def test_little_is_a_half_when_connections_rest_half_of_the_time() -> None:
    assert in_flight(busy_closed_loop(8, 30, 0.010), 30, 2, 1) == pytest.approx(4.0, abs=0.01)


def test_little_counts_requests_that_straddle_an_edge_with_their_inner_part() -> None:
    assert in_flight(make_rows([0.0], [10.0]), 10, 2, 1) == pytest.approx(1.0)
    assert in_flight(make_rows([0.0], [5.5]), 10, 2, 1) == pytest.approx(0.5)


@pytest.mark.parametrize("rows", [make_rows([], []), make_rows([0.0], [1.0])])
def test_little_of_nothing_is_null(rows: Rows) -> None:
    assert in_flight(rows, 3, 2, 1) is None


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
    found = times(open_loop(stalled_server(INTENDED, blocking), RATE, DURATION_S, 0).response_s)
    assert found.mean == pytest.approx(38.3, rel=0.05)
    assert found.p99 == pytest.approx(1400, rel=0.03)
    assert found.max == pytest.approx(2005, rel=0.01)


def test_uncorrected_service_times_hide_the_stall() -> None:
    """The negative control: what coordinated omission would publish."""
    rows = stalled_server(INTENDED, blocking=True)
    uncorrected = times(rows.end_s - rows.start_s)
    assert uncorrected.p99 is not None
    assert uncorrected.p99 < 50


def test_an_undisturbed_open_loop_is_neither_late_nor_slow() -> None:
    load = open_loop(make_rows(INTENDED, INTENDED + BASE_S, paced_s=INTENDED), RATE, DURATION_S, 0)
    assert times(load.response_s).p99 == pytest.approx(5.0)
    assert load.lateness_s.max() == pytest.approx(0.0, abs=1e-9)
    assert load.scheduled == len(INTENDED)
    assert load.unsent == 0


def test_a_stopped_generator_is_late_and_its_delay_is_in_the_response_times() -> None:
    """Stopped for 1 s in 60 s: what was due in between goes out at its end."""
    sent = np.where((INTENDED >= 30) & (INTENDED < 31), 31.0, INTENDED)
    load = open_loop(make_rows(sent, sent + BASE_S, paced_s=sent), RATE, DURATION_S, 0)
    assert load.lateness_s.max() == pytest.approx(1.0, abs=0.01)
    assert times(load.response_s).p99 == pytest.approx(400, rel=0.05)
    # oha's own correction starts at the pacer's stamp and sees nothing of it.
    assert float((load.response_s - load.lateness_s).max()) == pytest.approx(BASE_S)


def test_what_has_no_row_is_unsent() -> None:
    """Requests still queued at the deadline vanish from oha's output."""
    kept = INTENDED[:-1000]
    load = open_loop(make_rows(kept, kept + BASE_S, paced_s=kept), RATE, DURATION_S, 0)
    assert (load.scheduled, load.unsent) == (30_000, 1000)


def test_errors_are_not_unsent() -> None:
    kept = INTENDED[:-1000]
    load = open_loop(make_rows(kept, kept + BASE_S, paced_s=kept), RATE, DURATION_S, errors=400)
    assert load.unsent == 600


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


def test_leaving_them_out_would_hide_them() -> None:
    """The negative control: the same requests, as a generator tells them that drops its time-outs."""
    assert times(np.full(19_700, 0.005)).p99 == pytest.approx(5.0)


def test_a_longer_wait_than_the_time_out_stays() -> None:
    assert times(floats(0.005, 12.0), censored=1, timeout_s=10).max == pytest.approx(12_000)
