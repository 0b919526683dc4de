"""Known truths against the code that explains a gap: simulations, which are seeded and take a few seconds in all; and, end to end, a
gap made on purpose."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

import numpy as np
import scipy

from tandem.analysis.block_model import fit
from tandem.analysis.ratios import CONFIDENCE
from tandem.engine.blocks import complete_blocks
from tandem.record.request import Variant
from tandem.record.selftest import Outcome
from tandem.selftest.known_answer import KnownAnswer
from tandem.selftest.stage import Stage, require
from tandem.studies.explain.conclusions import PROGRAMS, Explanation
from tandem.studies.explain.design import SIDES, Factor, Leg
from tandem.studies.explain.shares import explanation

SETS, BLOCKS, SD, BLOCK_SD = 400, 3, 0.10, 0.15
SEED = 20261123
COVERED, FOUND = 0.93, 0.05
NULL = "nothing"
Truth = Callable[[frozenset[str]], float]
"""Factors that are as A has them -> the logarithm of the rate."""


def leg(side: int, *factors: str) -> Leg:
    """A leg with made-up factors."""
    changes = [Factor(name, {name.upper(): ("1", "0")}) for name in factors]
    settings = {name.upper(): "1" for name in factors}
    name = "ab"[side]
    return Leg(SIDES[side], Variant(label=name, implementation=name, settings=settings), changes, {})


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


def explained(legs: list[Leg], found: Sequence[tuple[str, int, float]]) -> Explanation:
    """The shipped code's explanation. found: label, block and logarithm of the rate."""
    out = explanation(legs, [{}, {}], fit(found))
    assert out is not None
    return out


def session(values: dict[str, float], chance: np.random.Generator, shuffled: bool) -> Explanation:
    """The explanation of a session of noisy values."""
    found = list[tuple[str, int, float]]()
    for block in range(1, BLOCKS + 1):
        measured = np.array([*values.values()])
        if shuffled:
            measured = chance.permutation(measured)
        effect = chance.normal(0, BLOCK_SD)
        noisy = [value + effect + chance.normal(0, SD) for value in measured.tolist()]
        found += [(label, block, value) for label, value in zip(values, noisy, strict=True)]
    return explained(LEGS, found)


def sessions(of: Truth, shuffled: bool = False) -> list[Explanation]:
    chance = np.random.default_rng([SEED, of is minimum, shuffled])
    values = truth(of)
    return [session(values, chance, shuffled) for _ in range(SETS)]


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
    right = explained(LEGS, [(label, 1, value) for label, value in truth(TRUTHS[kind]).items()])
    found = sessions(TRUTHS[kind])
    [freedom] = {one.freedom for one in found}
    tail = (1 - CONFIDENCE) / 2
    single = scipy.special.stdtrit(freedom, 1 - tail) / scipy.special.stdtrit(
        freedom, 1 - tail / len(right.factors)
    )
    return KnownAnswer[float](
        name=f"factor-coverage-{kind}",
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
        expected="with the cells' names shuffled in each block at most 5 % of the tables find a factor",
        tolerance=f"at most {FOUND:.0%}, and three standard errors",
        right=lambda share: share <= FOUND + 3 * math.sqrt(FOUND * (1 - FOUND) / SETS),
        shown=lambda share: f"{share:.1%}",
        broken="not shuffled",
        caught=lambda share: share > 0.5,
    ).judged(
        *(float(np.mean([claims(one) for one in sessions(minimum, shuffled)])) for shuffled in (True, False))
    )


def exact_sums() -> Outcome:
    """The shares of a gap are all of it: the whole ratio, from leg to leg."""
    found = [(one, sum(math.log(leg.ratio) for leg in one.legs)) for one in sessions(minimum)]
    return KnownAnswer[float](
        name="factors-multiply",
        expected="the factors multiply to the whole ratio",
        tolerance="1e-9",
        right=lambda apart: apart < 1e-9,
        shown=lambda apart: f"apart by {apart:.2g} at most, in logarithms",
        broken="each factor alone, first",
    ).judged(
        max(abs(sum(math.log(f.ratio) for f in one.factors) - whole) for one, whole in found),
        max(abs(sum(math.log(f.first or 1) for f in one.factors) - whole) for one, whole in found),
    )


CHECKS = (
    partial(coverage, "additive"),
    partial(coverage, "minimum"),
    null_factor,
    shuffled_labels,
    exact_sums,
)


# ---- end to end: the calibrated server's rate follows from its connections, trips and delays ----

GAP_LEGS = [leg(0, "pool", "trips"), leg(1, "reset")]
CELLS = cells(GAP_LEGS)
GAP_BLOCKS, WINDOW_S, MARGIN = 2, 12, 0.03
TRIP_MS = 25.0
"""A request takes so long that the CPU time of its way, a millisecond or a few of them where others compute, hardly counts."""
SIGMA = 0.5
"""Constant times keep all connections in step: a window then has whole waves, and one more or less is several percent."""
SLOWER = 1.1
"""Factor by which a trip of B takes longer: the program's part of the gap."""
RATIOS = {"pool": 20 / 5, "trips": 13 / 8, PROGRAMS: 1 / SLOWER, "reset": 8 / 9}
"""Ratios of the factors, by hand: each factor multiplies the rate, whatever the others are."""


@dataclass(frozen=True)
class CellServed:
    """A window of one cell, as it was set and as it came out."""

    label: str
    block: int
    connections: int
    set_ms: float
    """Median time of a request that the server was set to."""
    took_ms: float
    """Mean time of a request by the server's own log: it sleeps longer than it is set to."""
    rate_rps: float


def serves(label: str) -> tuple[int, float]:
    """Connections and milliseconds of a request in a cell."""
    first, names = CELLS[label]
    trips = 13 if "trips" in names else 9 if "reset" in names else 8
    return (5 if "pool" in names else 20), trips * TRIP_MS * (1.0 if first else SLOWER)


def factors(rates: Sequence[tuple[str, int, float]]) -> dict[str, float]:
    """Factor -> its ratio. rates: label, block and rate."""
    found = explained(GAP_LEGS, [(label, block, math.log(rate)) for label, block, rate in rates])
    return {share.name: share.ratio for share in found.factors}


def judged(served: Sequence[CellServed]) -> Outcome:
    """Judges each factor against what was set: connections and trips as they were, delays as the server's log has them."""
    stretched = {label: fmean(o.took_ms / o.set_ms for o in served if o.label == label) for label in CELLS}
    right = factors([(o.label, o.block, o.connections / o.set_ms / stretched[o.label]) for o in served])
    first, *others = CELLS
    following = dict(zip(CELLS, [*others, first], strict=True))

    def off(ratios: dict[str, float]) -> float:
        return max(abs(ratios[name] / ratio - 1) for name, ratio in right.items())

    def shown(ratios: dict[str, float]) -> str:
        return ", ".join(f"{name} {ratio:.3f}" for name, ratio in ratios.items())

    return KnownAnswer[dict[str, float]](
        name="a gap made on purpose",
        expected=f"{shown(right)} (without the time that the server oversleeps: {shown(RATIOS)})",
        tolerance=f"{MARGIN:.0%}",
        right=lambda ratios: off(ratios) <= MARGIN,
        shown=lambda ratios: f"{shown(ratios)}; {off(ratios):.1%} off at most",
        broken="each cell taken for the next one",
    ).judged(
        factors([(o.label, o.block, o.rate_rps) for o in served]),
        factors([(following[o.label], o.block, o.rate_rps) for o in served]),
    )


def gap(stage: Stage) -> Outcome:
    """Every cell in each block, in random order, as `explain` has it."""
    served: list[CellServed] = []
    with stage.running() as running:
        for block, order in enumerate(complete_blocks([*CELLS], GAP_BLOCKS, SEED), start=1):
            for label in order:
                connections, ms = serves(label)
                behaviour = f"kind=lognormal&us={ms * 1e3:.0f}&sigma={SIGMA}&seed={len(served)}"
                stage.view.note(f"  {label}")
                seen = running.steady_window(WINDOW_S, behaviour, connections=connections, settled=False)
                rate_rps = seen.window.goodput_rps
                require(rate_rps > 0 and len(seen.served) > 0, f"{label}: nothing was answered")
                took_ms = 1e3 * fmean(seen.served.response_s)
                served.append(CellServed(label, block, connections, ms, took_ms, rate_rps))
    return judged(served)
