"""tandem.studies.capacity.steps: the same probes told again lead to the same next rate."""

import math
from dataclasses import dataclass

import pytest
from harness_samples import PROPERTY
from hypothesis import given
from hypothesis import strategies as st

from tandem.studies.capacity.judged import Judged, State
from tandem.studies.capacity.search import Approach, Search, parse_slo
from tandem.studies.capacity.steps import (
    VOID_STARTS,
    FurtherStarts,
    SearchSteps,
    further_of,
    reasons,
)

SLO = parse_slo("p99=50ms")
STARTS = 5
OUTCOMES = ("passed", "failed", "void", "stalled")
Outcomes = st.lists(st.sampled_from(OUTCOMES), min_size=80, max_size=80)


def probe(rate_rps: int, outcome: str) -> Judged:
    return Judged(
        rate_rps=rate_rps,
        seconds=10,
        state=State.VOID if outcome == "stalled" else State(outcome),
        reasons=[] if outcome == "passed" else [outcome],
        stalled=outcome == "stalled",
        bottleneck="unknown",
    )


@dataclass
class Session:
    """A search and its further starts, both to their ends."""

    search: list[Judged]
    confirmations: list[Judged]
    rates: list[int]
    end: tuple[SearchSteps, FurtherStarts | None]


def go_on(told: list[Judged], outcomes: list[str], start_rps: int) -> Session:
    """What was measured is told again; then `outcomes` are what comes, one after the other."""
    rates: list[int] = []
    again, left = list(reversed(told)), list(reversed(outcomes))

    def follow(steps: SearchSteps) -> list[Judged]:
        made = []
        while (rate := steps.next_rps()) is not None:
            if again:
                found = again.pop()
                assert found.rate_rps == rate
            else:
                rates.append(rate)
                found = probe(rate, left.pop())
            made.append(steps.tell(found))
        return made

    steps = SearchSteps(Search(start_rps))
    search, confirmations = follow(steps), list[Judged]()
    further = further_of(steps, search, STARTS)
    if further is not None:
        while (rate := further.next_rps()) is not None:
            made = follow(SearchSteps(Approach(rate)))
            further.tell(made)
            confirmations += made
    return Session(search, confirmations, rates, (steps, further))


def kept(probes: list[Judged]) -> list[Judged]:
    """As they come back from a file."""
    return [Judged.model_validate_json(probe.model_dump_json()) for probe in probes]


@PROPERTY
@given(Outcomes, st.integers(1, 100_000), st.floats(0, 1))
def test_interrupted_anywhere_it_goes_on_with_the_very_next_step(
    outcomes: list[str], start_rps: int, where: float
) -> None:
    whole = go_on([], outcomes, start_rps)
    cut = int(where * len(whole.rates))
    made = [*whole.search, *whole.confirmations]
    resumed = go_on(kept(made[:cut]), outcomes[cut:], start_rps)
    assert resumed.rates == whole.rates[cut:]
    assert resumed.end == whole.end
    assert (resumed.search, resumed.confirmations) == (whole.search, whole.confirmations)


def test_what_is_forgotten_changes_the_next_step() -> None:
    """The negative control of the above: it tells states apart."""
    whole = go_on([], ["passed"] * 3 + ["failed", "void"] + ["passed"] * 60, 100)
    cut = 5
    after = go_on(whole.search[:cut], ["passed"] * 60, 100)
    without_void = go_on(whole.search[: cut - 1], ["passed"] * 60, 100)
    assert after.end[0] == without_void.end[0]
    assert after.search != without_void.search
    other = go_on(whole.search[: cut - 2], ["passed"] * 60, 100)
    assert other.rates[1:] != after.rates


@pytest.mark.parametrize(
    ("first", "second", "counts"),
    [
        ("void", "passed", True),
        ("void", "failed", False),
        ("stalled", "stalled", False),
        ("stalled", "void", None),
        ("void", "stalled", None),
    ],
)
def test_void_is_repeated_once(first: str, second: str, counts: bool | None) -> None:
    search = Search(100)
    steps = SearchSteps(search)
    steps.tell(probe(100, first))
    assert (search.votes, steps.next_rps()) == ({}, 100)
    told = steps.tell(probe(100, second))
    assert search.votes == ({} if counts is None else {100: [counts]})
    assert (steps.next_rps() is None) == (counts is None)
    assert (steps.disturbed is None) == (counts is not None)
    assert ("cannot offer" in told.reasons[-1] if told.reasons else False) == (first == second == "stalled")


def starts(*more: list[Judged]) -> FurtherStarts:
    found = FurtherStarts(2, [[(1000, True), (1050, False)]])
    for probes in more:
        found.tell(probes)
    return found


def test_so_many_void_starts_end_it() -> None:
    void = [probe(1000, "void"), probe(1000, "void")]
    left = starts(*[void] * VOID_STARTS)
    assert (left.next_rps(), left.done, left.disturbed) == (1025, 0, None)
    ended = starts(*[void] * (VOID_STARTS + 1))
    assert (ended.next_rps(), ended.found) == (None, None)
    assert ended.disturbed is not None


def test_what_a_disturbed_start_had_before_still_counts() -> None:
    cut = [probe(1025, "passed"), probe(1128, "void"), probe(1128, "void")]
    found = starts(cut)
    assert (found.done, found.void, found.starts[-1]) == (1, 0, [(1025, True)])


def test_the_next_start_begins_where_the_others_had_their_limit() -> None:
    low = [probe(1025, "failed"), probe(932, "failed"), probe(847, "passed"), probe(888, "passed")]
    found = starts(low)
    assert found.next_rps() == round((math.sqrt(1000 * 1050) * math.sqrt(888 * 932)) ** 0.5)
    assert found.found is None, "one is missing"
    found.tell(low)
    assert found.found is not None
    assert (found.found.starts, found.found.probes) == (3, 10)
    assert found.found.interval_rps[0] < found.found.rate_rps < 1025


def test_the_reasons() -> None:
    search = SearchSteps(Search(100))
    assert reasons(search, None, SLO) == [], "it goes on"
    search.tell(probe(100, "void"))
    search.tell(probe(100, "void"))
    assert reasons(search, None, SLO) == ["the host disturbed the probe at 100/s twice: void"]
    assert further_of(search, [], STARTS) is None
    nothing = go_on([], ["failed"] * 80, 100)
    assert reasons(*nothing.end, SLO) == ["no rate was found at which p99 <= 50 ms holds"]
    found = SearchSteps(Search(100, votes={100: [True, True], 103: [False, False]}))
    assert reasons(found, starts(), SLO) == [], "it goes on"
    ended = starts(*[[probe(1000, "void")]] * 3)
    assert reasons(found, ended, SLO) == ["the host disturbed 3 further starts: void"]
