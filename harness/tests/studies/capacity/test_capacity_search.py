"""tandem.studies.capacity.search: the search, further starts, how long windows have to be; and the parts of the self-test's simulation."""

import random

import pytest
from harness_samples import PROPERTY, there
from hypothesis import given
from hypothesis import strategies as st

from tandem.errors import TandemError, UsageError
from tandem.selftest.capacity import Server, brackets, search
from tandem.studies.capacity.search import (
    MORE_PROBES,
    MOST_PROBES,
    PROBES_A_START,
    WIDTH,
    Approach,
    Search,
    middle_rps,
    next_start_rps,
    parse_slo,
    window_s,
)

P99 = parse_slo("p99=50ms")


def exact[S: (Search, Approach)](state: S, limit_rps: float) -> S:
    """The whole search of a limit without noise."""
    while (rate := state.next_rps()) is not None:
        state.tell(rate, rate <= limit_rps)
    return state


# ---- the objective ----


@pytest.mark.parametrize(
    ("text", "asked", "samples"),
    [
        ("p99=50ms", "p99=50ms", 10_000),
        ("p50=0.5s", "p50=500ms", 200),
        ("p999=2.50ms", "p999=2.5ms", 100_000),
        ("p90=12345s", "p90=12345000ms", 1000),
    ],
)
def test_an_objective_has_one_form_in_a_request(text: str, asked: str, samples: int) -> None:
    slo = parse_slo(text)
    assert (slo.asked, slo.samples) == (asked, samples)
    assert parse_slo(slo.asked) == slo


@pytest.mark.parametrize(
    "text", ["p99", "p99=50", "p98=50ms", "99=50ms", "p99=-1ms", "p99=0ms", "p99=1h", ""]
)
def test_what_is_no_objective(text: str) -> None:
    with pytest.raises(UsageError, match="such as p99=50ms"):
        parse_slo(text)


def test_a_window_is_long_enough_for_the_samples() -> None:
    assert window_s(P99, 10_000, 10, 60, 3) == 10
    seconds = window_s(P99, 850, 10, 60, 3)
    assert (seconds - 3) * 850 >= 10_000 > (seconds - 5) * 850


def test_below_some_rate_the_percentile_cannot_be_had() -> None:
    with pytest.raises(
        TandemError, match=r"at 100/s a window of 105 s, .* from 179/s on\. Remedy: ask for p90"
    ):
        window_s(P99, 100, 10, 60, 3)
    assert window_s(P99, 179, 10, 60, 3) <= 60
    assert window_s(parse_slo("p90=50ms"), 100, 10, 60, 3) == 14


# ---- the search ----


@PROPERTY
@given(st.integers(20, 200_000), st.floats(0.3, 1.6))
def test_without_noise_the_bracket_holds_the_limit(limit_rps: int, start: float) -> None:
    state = exact(Search(int(limit_rps * start)), limit_rps)
    lower, upper = map(there, state.edges)
    assert lower <= limit_rps <= upper
    assert upper - lower <= max(1, WIDTH * upper)
    assert state.decided
    assert state.probes <= MOST_PROBES


@PROPERTY
@given(
    st.lists(st.booleans(), min_size=MOST_PROBES + MORE_PROBES, max_size=MOST_PROBES + MORE_PROBES),
    st.integers(1, 100_000),
)
def test_any_answers_end_after_so_many_probes(answers: list[bool], start_rps: int) -> None:
    state, left = Search(start_rps), list(answers)
    while (rate := state.next_rps()) is not None:
        assert rate >= 1
        state.tell(rate, left.pop())
    lower, upper = state.edges
    assert lower is not None or upper is not None
    if lower is not None and upper is not None:
        assert lower < upper


def test_it_steps_up_down_and_bisects() -> None:
    state = Search(100)
    for passed in (True, True, False, True):
        state.tell(there(state.next_rps()), passed)
    assert list(state.votes) == [100, 150, 225, 184]
    assert Search(90, votes={90: [False]}).next_rps() == 60


def test_a_wrong_pass_at_the_edge_is_taken_back() -> None:
    state = Search(100, votes={100: [True], 104: [True], 108: [False]})
    assert state.next_rps() == 104
    for passed in (False, False):
        assert state.next_rps() == 104
        state.tell(104, passed)
    assert state.edges == (100, 104)


def test_an_edge_that_two_stalls_made_is_searched_again() -> None:
    """Seen in a real search: p99 was 125 and 440 ms in two windows, and 12 to 25 ms whenever their rates were tried again."""
    stalled = {658: [False, True, True], 625: [False, True, True]}
    state = Search(439, votes={439: [True], 537: [True], 594: [True, True], 641: [True, True], **stalled})
    assert (state.probes, state.edges) == (MOST_PROBES, (658, None))
    lower, upper = map(there, exact(state, 800).edges)
    assert 658 < lower <= 800 < upper
    assert state.probes <= MOST_PROBES + MORE_PROBES


def test_nothing_is_decided_when_the_probes_run_out() -> None:
    state = Search(100, votes={100 + n: [True] for n in range(MOST_PROBES)})
    assert state.next_rps() is None
    assert not state.decided
    assert state.edges == (100 + MOST_PROBES - 1, None)


def test_a_bracket_beside_the_limit_does_not_count() -> None:
    assert not brackets(Search(1, votes={100: [True], 104: [False]}), 110)
    assert not brackets(Search(1, votes={100: [True]}), 110)
    quiet = Server(1000, random.Random(3))
    assert brackets(search(quiet, 500), 1000)


# ---- further starts ----


@PROPERTY
@given(st.integers(50, 200_000), st.floats(0.83, 1.2))
def test_a_further_start_tests_both_sides_of_its_own_limit(limit_rps: int, off: float) -> None:
    state = exact(Approach(max(1, round(limit_rps * off))), limit_rps)
    assert len(state.made) == PROBES_A_START
    lower, upper = map(there, state.edges)
    assert lower <= limit_rps <= upper
    assert lower <= middle_rps(state.made) <= upper


def test_it_goes_by_tenths_until_the_outcome_changes() -> None:
    starts = {(1000, 1150): [1000, 1100, 1210, 1154], (1000, 870): [1000, 909, 826, 867]}
    starts |= {(1, 9000): [1, 2, 3, 4], (1, 0): [1, 1, 1, 1]}
    for (start_rps, limit_rps), rates in starts.items():
        assert [rate for rate, _ in exact(Approach(start_rps), limit_rps).made] == rates


def test_where_all_pass_the_highest_is_what_is_known() -> None:
    assert middle_rps([(100, True), (110, True)]) == pytest.approx(110)
    assert middle_rps([(100, False), (90, False)]) == pytest.approx(90)
    assert middle_rps([(100, True), (121, False)]) == pytest.approx(110)


def test_the_next_start_begins_where_the_others_had_their_limit() -> None:
    starts = [[(1000, True), (1050, False)], [(932, False), (888, True)]]
    assert next_start_rps(starts) == round((1000 * 1050 * 932 * 888) ** 0.25)
    assert next_start_rps([[(0.1, False)]]) == 1
