"""Ratios of variants that were up side by side, round by round within blocks of fresh starts. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from tandem.analysis.ceilings import Made
from tandem.analysis.cost import APP, AT, at
from tandem.analysis.ratios import Decision, Ratio
from tandem.facts.estimate import AT_EQUAL_RATE, AT_FULL_LOAD, TOGETHER, Read, of_ratio
from tandem.facts.fact import IN_SLICES, Fact, by_label, facts
from tandem.record.conclusion import Contrast
from tandem.record.trial import Trial

type Good = Mapping[str, Sequence[Fact]]
"""Label -> its good facts."""


def good_facts(trials: Iterable[Trial]) -> Good:
    """The good facts of all attempts, which ratios within blocks are made from."""
    return by_label(one for one in facts(trials) if one.good)


def saying(found: Iterable[Fact], metric: str) -> list[Fact]:
    """The facts that say a metric. Full load is in slices or in turn."""
    name, equal, _ = metric.partition(AT)
    if equal:
        return [one for one in found if one.share is not None and at(name, one.share) == metric]
    role = next((role for role, key in TOGETHER.items() if key == metric), None)
    return [one for one in found if one.role == role or (role is None and one.role in ("sliced", "closed"))]


def reading(metric: str) -> Read:
    """How a window is read for a metric."""
    name, equal, _ = metric.partition(AT)
    if equal:
        return AT_EQUAL_RATE[name]
    return AT_FULL_LOAD[APP if metric in TOGETHER.values() else metric]


def ln_by_block(good: Good, of: str, to: Sequence[str], metric: str) -> dict[int, float]:
    """Block -> mean over its rounds of ln(of) - mean ln(to): a block of fresh starts is the unit of replication. A round in which
    one of them has no figure is left out, and so are the rounds beside a window in slices in which all of them were loaded.

    Of each block the last attempt in which all have a figure. to: starts of one variant.
    """
    every = [_by_round(saying(good.get(label, ()), metric), reading(metric)) for label in (of, *to)]
    found: dict[int, float] = {}
    for made in sorted({*every[0]}.intersection(*every)):
        own, *others = (one[made] for one in every)
        rounds = set(own).intersection(*others)
        if IN_SLICES in rounds:
            rounds = {IN_SLICES}
        if rounds and len({rate for one in (own, *others) for rate, _ in one.values()}) == 1:
            found[made[0]] = fmean(
                math.log(own[n][1]) - fmean(math.log(other[n][1]) for other in others) for n in rounds
            )
    return found


def _by_round(found: Iterable[Fact], read: Read) -> dict[Made, dict[int, tuple[float | None, float]]]:
    """Block and attempt -> round -> rate that was the same for all, and figure. A cost at one rate and a cost at another are two
    points of a curve."""
    out: dict[Made, dict[int, tuple[float | None, float]]] = {}
    for one in found:
        if (value := read(one.window)) is not None and value > 0:
            rate = one.window.offered_rps if one.role == "equal" else None
            out.setdefault(one.made, {})[one.round] = rate, value
    return out


def contrast(metric: str, of: str, to: str, found: Ratio, said: Decision | None = None) -> Contrast:
    """A ratio as a contrast, with what may be said of it."""
    return of_ratio(
        found,
        metric=metric,
        of=of,
        to=to,
        p=said.p_adjusted if said else found.p_t,
        p_alone=found.p_t,
        p_sign_flip=found.p_sign_flip,
        word=said.word if said else None,
        within_margin=said.within_margin if said else False,
        detectable_ratio=found.detectable_ratio,
    )
