"""Simulations with a known truth against the code that explains a gap. Pure, seeded, a few seconds in all."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import scipy

from tandem.analysis.block_model import CellMeans, fit
from tandem.analysis.ratios import CONFIDENCE
from tandem.record.outcome import Outcome
from tandem.record.request import Variant
from tandem.studies.explain.cells import CellWindows, Figure, goodput
from tandem.studies.explain.conclusions import Explanation
from tandem.studies.explain.design import Factor, Leg
from tandem.studies.explain.shares import explanation

GROUP = "explaining"
SETS, BLOCKS, SD, BLOCK_SD = 400, 3, 0.10, 0.15
SEED = 20261123
COVERED, FOUND = 0.93, 0.05
NULL = "nothing"
Truth = Callable[[frozenset[str]], float]
"""Of the factors that are as A has them: the logarithm of the rate."""


def leg(side: int, *factors: str, groups: dict[str, int] | None = None) -> Leg:
    """Of made-up factors."""
    changes = [Factor(name, {name.upper(): ("1", "0")}) for name in factors]
    settings = {name.upper(): "1" for name in factors}
    name = "ab"[side]
    return Leg(side, Variant(label=name, implementation=name, settings=settings), changes, groups or {})


LEGS = [leg(0, "pool", "trips", NULL), leg(1, "workers", "reset")]
PROGRAM = math.log(0.8)


def own(side: Leg, state: int) -> frozenset[str]:
    bits = side.own(state)
    return frozenset(factor.name for bit, factor in enumerate(side.factors) if bits >> bit & 1)


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


class Simulated(CellWindows):
    """Good starts whose logarithms are given: one for each label, block and value."""

    def __init__(self, found: Sequence[tuple[str, int, float]]) -> None:
        super().__init__([label for label, _, _ in found], [], {})
        self.found = found

    def model(self, figure: Figure) -> tuple[CellMeans, dict[str, int]]:
        place = {label: number for number, label in enumerate(dict.fromkeys(self.labels))}
        cells = [place[label] for label, _, _ in self.found]
        return fit([ln for _, _, ln in self.found], cells, [block for _, block, _ in self.found]), place


def truth(of: Truth) -> dict[str, float]:
    """Label -> its logarithm."""
    return {
        side.label(state): of(own(side, state)) + (PROGRAM if side.side else 0.0)
        for side in LEGS
        for state in side.orders().states
    }


def explained(
    values: dict[str, float], chance: np.random.Generator | None, shuffled: bool = False
) -> Explanation:
    """What the shipped code says of one session; without chance: of the truth itself."""
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
    out = explanation(LEGS, [{}, {}], Simulated(found), goodput)
    assert out is not None
    return out


def sessions(of: Truth, shuffled: bool = False) -> list[Explanation]:
    chance = np.random.default_rng([SEED, of is minimum, shuffled])
    values = truth(of)
    return [explained(values, chance, shuffled) for _ in range(SETS)]


def holds(found: Explanation, right: Explanation, narrower: float = 1.0) -> bool:
    """Do all factors' intervals contain the truth? narrower: this share of their width."""
    pairs = zip(found.factors, right.factors, strict=True)
    return all(
        abs(math.log(one.ratio / other.ratio)) <= narrower * math.log((one.interval or (1, 1))[1] / one.ratio)
        for one, other in pairs
    )


def excludes_1(found: Explanation, name: str) -> bool:
    [share] = [factor for factor in found.factors if factor.name == name]
    return share.interval is not None and not share.interval[0] <= 1 <= share.interval[1]


def coverage(kind: str) -> Outcome:
    right, found = explained(truth(TRUTHS[kind]), None), sessions(TRUTHS[kind])
    measured = float(np.mean([holds(one, right) for one in found]))
    [freedom] = {one.freedom for one in found}
    tail = (1 - CONFIDENCE) / 2
    single = scipy.special.stdtrit(freedom, 1 - tail) / scipy.special.stdtrit(
        freedom, 1 - tail / len(right.factors)
    )
    broken = float(np.mean([holds(one, right, float(single)) for one in found]))
    return Outcome(
        name=f"factor-coverage-{kind}",
        group=GROUP,
        expected="95 % of the tables have the truth in every factor's interval",
        measured=f"{measured:.1%} of {SETS} sessions of {BLOCKS} blocks",
        tolerance=f"at least {COVERED:.0%}",
        passed=measured >= COVERED,
        negative_control=f"without Bonferroni's correction: {broken:.1%}",
        negative_control_failed=broken < COVERED,
    )


def null_factor() -> Outcome:
    found = [one for of in TRUTHS.values() for one in sessions(of)]
    measured = float(np.mean([excludes_1(one, NULL) for one in found]))
    broken = float(np.mean([excludes_1(one, "pool") for one in found]))
    return Outcome(
        name="null-factor",
        group=GROUP,
        expected="a factor that does nothing is found in at most 5 % of the sessions",
        measured=f"{measured:.1%}",
        tolerance=f"at most {FOUND:.0%}",
        passed=measured <= FOUND,
        negative_control=f"four times the connections: {broken:.1%}",
        negative_control_failed=broken > FOUND,
    )


def shuffled_labels() -> Outcome:
    def claims(one: Explanation) -> bool:
        return any(excludes_1(one, factor.name) for factor in one.factors)

    measured = float(np.mean([claims(one) for one in sessions(minimum, shuffled=True)]))
    broken = float(np.mean([claims(one) for one in sessions(minimum)]))
    return Outcome(
        name="shuffled-labels",
        group=GROUP,
        expected="with the cells' names shuffled in each block at most 5 % of the tables find a factor",
        measured=f"{measured:.1%}",
        tolerance=f"at most {FOUND:.0%}, and three standard errors",
        passed=measured <= FOUND + 3 * math.sqrt(FOUND * (1 - FOUND) / SETS),
        negative_control=f"not shuffled: {broken:.1%}",
        negative_control_failed=broken > 0.5,
    )


def exact_sums() -> Outcome:
    found = sessions(minimum)
    apart = max(abs(sum(math.log(f.ratio) for f in one.factors) - math.log(one.gap)) for one in found)
    alone = max(abs(sum(math.log(f.first or 1) for f in one.factors) - math.log(one.gap)) for one in found)
    return Outcome(
        name="factors-multiply",
        group=GROUP,
        expected="the factors multiply to the whole ratio",
        measured=f"apart by {apart:.0e} at most, in logarithms",
        tolerance="1e-9",
        passed=apart < 1e-9,
        negative_control=f"each factor alone, first: apart by {alone:.2f}",
        negative_control_failed=alone > 1e-9,
    )


def checks() -> list[Callable[[], Outcome]]:
    """What `tandem selftest` runs of this module."""
    return [
        lambda: coverage("additive"),
        lambda: coverage("minimum"),
        null_factor,
        shuffled_labels,
        exact_sums,
    ]
