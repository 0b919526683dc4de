"""tandem.studies.capacity.steps: the same probes told again lead to the same next rate."""

from dataclasses import dataclass

import pytest
from harness_samples import PROPERTY
from hypothesis import given
from hypothesis import strategies as st

from tandem.studies.capacity.judged import Judged, State
from tandem.studies.capacity.search import Confirmation, Search, parse_slo
from tandem.studies.capacity.steps import (
    VOID_STARTS,
    ConfirmationSteps,
    SearchSteps,
    confirmation_of,
    reasons,
)

SLO = parse_slo("p99=50ms")
STARTS = 5
OUTCOMES = ("passed", "failed", "void", "stalled")
Outcomes = st.lists(st.sampled_from(OUTCOMES), min_size=40, max_size=40)


def probe(rate_rps: int, outcome: str) -> Judged:
    return Judged(
        rate_rps=rate_rps,
        seconds=10,
        state=State.VOID if outcome == "stalled" else State(outcome),
        reasons=[] if outcome == "passed" else [outcome],
        stalled=outcome == "stalled",
        bottleneck="unknown",
    )


def replay(steps: SearchSteps | ConfirmationSteps, probes: list[Judged]) -> None:
    for made in probes:
        assert made.rate_rps == steps.next_rps()
        steps.tell(made)


@dataclass
class Session:
    """A search and its confirmation, both to their ends."""

    search: list[Judged]
    confirmations: list[Judged]
    rates: list[int]
    end: tuple[SearchSteps, ConfirmationSteps | None]


def go_on(search: list[Judged], confirmations: list[Judged], outcomes: list[str], start_rps: int) -> Session:
    """What was measured is told again; then `outcomes` are what comes, one after the other."""
    rates: list[int] = []
    left = list(reversed(outcomes))
    steps = SearchSteps(Search(start_rps))
    replay(steps, search)
    made = Session(list(search), list(confirmations), rates, (steps, None))
    while (rate := steps.next_rps()) is not None:
        rates.append(rate)
        made.search.append(steps.tell(probe(rate, left.pop())))
    confirming = confirmation_of(steps, STARTS)
    if confirming is not None:
        replay(confirming, confirmations)
        while (rate := confirming.next_rps()) is not None:
            rates.append(rate)
            made.confirmations.append(confirming.tell(probe(rate, left.pop())))
    made.end = (steps, confirming)
    return made


def kept(probes: list[Judged]) -> list[Judged]:
    """As they come back from a file."""
    return [Judged.model_validate_json(probe.model_dump_json()) for probe in probes]


@PROPERTY
@given(Outcomes, st.integers(1, 100_000), st.floats(0, 1))
def test_interrupted_anywhere_it_goes_on_with_the_very_next_step(
    outcomes: list[str], start_rps: int, where: float
) -> None:
    whole = go_on([], [], outcomes, start_rps)
    cut = int(where * len(whole.rates))
    in_search = min(cut, len(whole.search))
    search, confirmations = whole.search[:in_search], whole.confirmations[: cut - in_search]
    resumed = go_on(kept(search), kept(confirmations), outcomes[cut:], start_rps)
    assert resumed.rates == whole.rates[cut:]
    assert resumed.end == whole.end
    assert (resumed.search, resumed.confirmations) == (whole.search, whole.confirmations)


def test_what_is_forgotten_changes_the_next_step() -> None:
    """The negative control of the above: it tells states apart."""
    whole = go_on([], [], ["passed"] * 3 + ["failed", "void"] + ["passed"] * 30, 100)
    cut = 5
    after = go_on(whole.search[:cut], [], ["passed"] * 30, 100)
    without_void = go_on(whole.search[: cut - 1], [], ["passed"] * 30, 100)
    assert after.end[0] == without_void.end[0]
    assert after.search != without_void.search
    other = go_on(whole.search[: cut - 2], [], ["passed"] * 30, 100)
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
    steps = SearchSteps(Search(100))
    steps.tell(probe(100, first))
    assert (steps.search.votes, steps.next_rps()) == ({}, 100)
    told = steps.tell(probe(100, second))
    assert steps.search.votes == ({} if counts is None else {100: [counts]})
    assert (steps.next_rps() is None) == (counts is None)
    assert (steps.disturbed is None) == (counts is not None)
    assert ("cannot offer" in told.reasons[-1] if told.reasons else False) == (first == second == "stalled")


def test_so_many_void_starts_end_the_confirmation() -> None:
    steps = ConfirmationSteps(Confirmation(1000, 1050, 5))
    for _ in range(VOID_STARTS):
        steps.tell(probe(1000, "void"))
    assert steps.next_rps() == 1000
    steps.tell(probe(1000, "void"))
    assert (steps.next_rps(), steps.confirmation.outcomes) == (None, [])


def test_the_reasons() -> None:
    search = SearchSteps(Search(100))
    assert reasons(search, None, SLO) == [], "it goes on"
    search.tell(probe(100, "void"))
    search.tell(probe(100, "void"))
    assert reasons(search, None, SLO) == ["the host disturbed the probe at 100/s twice: void"]
    assert confirmation_of(search, STARTS) is None
    nothing = go_on([], [], ["failed"] * 40, 100)
    assert reasons(*nothing.end, SLO) == ["no rate was found at which p99 <= 50 ms holds"]
    found = SearchSteps(Search(100, votes={100: [True, True], 103: [False, False]}))
    confirming = confirmation_of(found, STARTS)
    assert confirming is not None
    assert reasons(found, confirming, SLO) == [], "it goes on"
    for _ in range(4):
        confirming.tell(probe(confirming.confirmation.lower_rps, "failed"))
    assert reasons(found, confirming, SLO)[0].startswith("p99 <= 50 ms did not hold in 4 of 5 fresh starts")
    good = ConfirmationSteps(Confirmation(100, 103, 1))
    good.tell(probe(100, "passed"))
    assert reasons(found, good, SLO) == []
