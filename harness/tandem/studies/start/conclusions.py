"""What fresh starts came to: the first answers, and the rate second by second from the first request of a full load on. Pure."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from statistics import fmean, median

from pydantic import Field

from tandem.analysis.ratios import compare, verdicts
from tandem.facts.estimate import OfVariant, ReadFact, contrast, ln_ratios_by_start
from tandem.facts.fact import Fact
from tandem.facts.metric import MEMORY_REST
from tandem.record.conclusion import Contrast, Estimate
from tandem.record.part import Number
from tandem.record.result import Conclusions

FIRST, RIGHT, FULL, LOST = "first_answer_s", "first_right_s", "full_rate_s", "warm_up_lost_s"
FULL_SHARE = 0.95
TOGETHER = 3
"""Seconds in a row that have to reach FULL_SHARE in the mean: one alone may be luck."""
LAST = 1 / 3
"""Share of the window whose median second is the final rate."""


class Started(Conclusions):
    """Estimates of each variant over its starts, and the ratios of the first right answer."""

    rates: dict[str, list[Number]] = Field(default_factory=dict)
    """Variant -> answers of each second since the load began, in the mean over the starts, as a share of the final rate."""


def final_rps(good: Sequence[int]) -> float:
    """The median of the last third. good: answers of each second."""
    return median(good[-max(1, round(len(good) * LAST)) :])


def shares(fact: Fact) -> list[float]:
    """The answers of each second as a share of the final rate; empty where there is none."""
    good = fact.window.per_second.good if fact.window.per_second else []
    final = final_rps(good) if good else 0.0
    return [own / final for own in good] if final else []


def full_s(fact: Fact) -> float | None:
    """Whole seconds of load before the rate has reached 95 % of the final one."""
    own = shares(fact)
    starts = range(len(own) - TOGETHER + 1)
    return next((float(at) for at in starts if fmean(own[at : at + TOGETHER]) >= FULL_SHARE), None)


def lost_s(fact: Fact) -> float | None:
    """Seconds of the final rate by which what was answered falls short of it."""
    own = shares(fact)
    return sum(1 - one for one in own) if own else None


def _rest(fact: Fact) -> float | None:
    rest = fact.start.memory_rest_bytes
    return None if rest is None else rest / 2**20


READS: dict[str, ReadFact] = {
    FIRST: lambda fact: fact.start.first_answer_s,
    RIGHT: lambda fact: fact.start.first_right_s,
    FULL: full_s,
    LOST: lost_s,
    MEMORY_REST: _rest,
}
"""Metric -> what a start says of it."""


def estimates(one: OfVariant) -> list[Estimate]:
    """All estimates of a variant; of one that is not ok the one that says why."""
    return one.estimates(READS) if one.ok else [*one.standard()]


def against_first(found: Sequence[OfVariant]) -> Iterator[Contrast]:
    """The first right answer of each variant by that of the first one, within blocks."""
    first, others = found[0], [one for one in found[1:] if one.ok]
    if not first.ok:
        return
    to = [one for one in first.every if one.good]
    each = [
        compare(ln_ratios_by_start([fact for fact in one.every if fact.good], to, READS[RIGHT]))
        for one in others
    ]
    for one, own, word in zip(others, each, verdicts(each, "quicker"), strict=True):
        yield contrast(RIGHT, one, first, own, word)


def mean_shares(one: OfVariant) -> list[float]:
    """`shares` in the mean over the starts."""
    columns = zip_longest(*(shares(fact) for fact in one.good))
    return [fmean(value for value in column if value is not None) for column in columns]
