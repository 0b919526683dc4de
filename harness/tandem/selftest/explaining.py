"""Simulations with a known truth against the code that explains a gap. Pure, seeded, a few seconds in all."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy

from tandem.analysis.block_model import fit
from tandem.analysis.ratios import CONFIDENCE
from tandem.record.request import Variant
from tandem.record.selftest import Outcome
from tandem.selftest.known_answer import KnownAnswer
from tandem.studies.explain.conclusions import Explanation
from tandem.studies.explain.design import SIDES, Factor, Leg
from tandem.studies.explain.shares import explanation

GROUP = "explaining"
SETS, BLOCKS, SD, BLOCK_SD = 400, 3, 0.10, 0.15
SEED = 20261123
COVERED, FOUND = 0.93, 0.05
NULL = "nothing"
Truth = Callable[[frozenset[str]], float]
"""Factors that are as A has them -> the logarithm of the rate."""


def leg(side: int, *factors: str, groups: dict[str, int] | None = None) -> Leg:
    """A leg with made-up factors."""
    changes = [Factor(name, {name.upper(): ("1", "0")}) for name in factors]
    settings = {name.upper(): "1" for name in factors}
    name = "ab"[side]
    return Leg(
        SIDES[side], Variant(label=name, implementation=name, settings=settings), changes, groups or {}
    )


LEGS = [leg(0, "pool", "trips", NULL), leg(1, "workers", "reset")]
PROGRAM = math.log(0.8)


def cells(legs: list[Leg]) -> dict[str, tuple[bool, frozenset[str]]]:
    """Label -> whether its leg begins as it is, and the factors that are as their side has them."""
    return {
        side.label(state): (side.own_first, frozenset(factor.name for factor in side.owned(state)))
        for side in legs
        for state in side.orders().states
    }


def additive(names: frozenset[str]) -> float:
    """Each factor does the same whatever the others are."""
    effects = {"pool": -1.4, "trips": -0.5, "workers": 0.2, "reset": -0.1}
    return 6.0 + sum(effects.get(name, 0.0) for name in names)


def minimum(names: frozenset[str]) -> float:
    """The lower of two limits, connections by trips and CPU: what a factor does depends on the others."""
    connections, trips = (5 if "pool" in names else 20), (13 if "trips" in names else 8)
    cpu = 1 / (0.0022 + 0.0002 * ("reset" in names)) * (1.1 if "workers" in names else 1.0)
    return math.log(min(connections / (trips * 0.004), cpu))


TRUTHS: dict[str, Truth] = {"additive": additive, "minimum": minimum}


def truth(of: Truth) -> dict[str, float]:
    """Label -> its logarithm."""
    return {label: of(own) + (0.0 if first else PROGRAM) for label, (first, own) in cells(LEGS).items()}


def explained(
    values: dict[str, float], chance: np.random.Generator | None, shuffled: bool = False
) -> Explanation:
    """The shipped code's explanation of one session; without chance: of the truth itself."""
    found = []
    for block in range(1, BLOCKS + 1):
        labels = list(values)
        measured = [values[label] for label in labels]
        if chance is not None:
            if shuffled:
                measured = list(chance.permutation(measured))
            effect = chance.normal(0, BLOCK_SD)
            measured = [value + effect + chance.normal(0, SD) for value in measured]
        found += [(label, block, value) for label, value in zip(labels, measured, strict=True)]
    out = explanation(LEGS, [{}, {}], fit(found))
    assert out is not None
    return out


def sessions(of: Truth, shuffled: bool = False) -> list[Explanation]:
    chance = np.random.default_rng([SEED, of is minimum, shuffled])
    values = truth(of)
    return [explained(values, chance, shuffled) for _ in range(SETS)]


def holds(found: Explanation, right: Explanation, narrower: float = 1.0) -> bool:
    """Whether all factors' intervals contain the truth. narrower: this share of their width."""
    pairs = zip(found.factors, right.factors, strict=True)
    return all(
        abs(math.log(one.ratio / other.ratio)) <= narrower * math.log((one.interval or (1, 1))[1] / one.ratio)
        for one, other in pairs
    )


def excludes_1(found: Explanation, name: str) -> bool:
    [share] = [factor for factor in found.factors if factor.name == name]
    return share.interval is not None and not share.interval[0] <= 1 <= share.interval[1]


def coverage(kind: str) -> Outcome:
    """Sessions with this kind of truth, each with one interval for every factor."""
    right, found = explained(truth(TRUTHS[kind]), None), sessions(TRUTHS[kind])
    [freedom] = {one.freedom for one in found}
    tail = (1 - CONFIDENCE) / 2
    single = scipy.special.stdtrit(freedom, 1 - tail) / scipy.special.stdtrit(
        freedom, 1 - tail / len(right.factors)
    )
    return KnownAnswer[float](
        name=f"factor-coverage-{kind}",
        group=GROUP,
        expected="95 % of the tables have the truth in every factor's interval",
        tolerance=f"at least {COVERED:.0%}",
        right=lambda share: share >= COVERED,
        shown=lambda share: f"{share:.1%} of {SETS} sessions of {BLOCKS} blocks",
        broken="without Bonferroni's correction",
    ).judged(*(float(np.mean([holds(one, right, width) for one in found])) for width in (1.0, float(single))))


def null_factor() -> Outcome:
    """A factor that does nothing, beside one that does much."""
    found = [one for of in TRUTHS.values() for one in sessions(of)]
    return KnownAnswer[float](
        name="null-factor",
        group=GROUP,
        expected="a factor that does nothing is found in at most 5 % of the sessions",
        tolerance=f"at most {FOUND:.0%}",
        right=lambda share: share <= FOUND,
        shown=lambda share: f"{share:.1%}",
        broken="four times the connections",
    ).judged(*(float(np.mean([excludes_1(one, name) for one in found])) for name in (NULL, "pool")))


def shuffled_labels() -> Outcome:
    """Cells whose names are shuffled have no factors."""

    def claims(one: Explanation) -> bool:
        return any(excludes_1(one, factor.name) for factor in one.factors)

    return KnownAnswer[float](
        name="shuffled-labels",
        group=GROUP,
        expected="with the cells' names shuffled in each block at most 5 % of the tables find a factor",
        tolerance=f"at most {FOUND:.0%}, and three standard errors",
        right=lambda share: share <= FOUND + 3 * math.sqrt(FOUND * (1 - FOUND) / SETS),
        shown=lambda share: f"{share:.1%}",
        broken="not shuffled",
        caught=lambda share: share > 0.5,
    ).judged(
        *(float(np.mean([claims(one) for one in sessions(minimum, shuffled)])) for shuffled in (True, False))
    )


def whole(found: Explanation) -> float:
    """The logarithm of the whole ratio: from leg to leg."""
    return sum(math.log(leg.ratio) for leg in found.legs)


def exact_sums() -> Outcome:
    """The shares of a gap are all of it."""
    found = sessions(minimum)
    return KnownAnswer[float](
        name="factors-multiply",
        group=GROUP,
        expected="the factors multiply to the whole ratio",
        tolerance="1e-9",
        right=lambda apart: apart < 1e-9,
        shown=lambda apart: f"apart by {apart:.2g} at most, in logarithms",
        broken="each factor alone, first",
    ).judged(
        max(abs(sum(math.log(f.ratio) for f in one.factors) - whole(one)) for one in found),
        max(abs(sum(math.log(f.first or 1) for f in one.factors) - whole(one)) for one in found),
    )


CHECKS = (
    partial(coverage, "additive"),
    partial(coverage, "minimum"),
    null_factor,
    shuffled_labels,
    exact_sums,
)
