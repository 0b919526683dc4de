"""A gap made on purpose, end to end: the calibrated server's rate follows from its connections, trips and delays, and each
factor of the gap must come out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from tandem.analysis.block_model import fit
from tandem.engine.blocks import complete_blocks
from tandem.record.selftest import Outcome
from tandem.selftest.explaining import SEED, cells, leg
from tandem.selftest.known_answer import KnownAnswer
from tandem.selftest.stage import Stage, require
from tandem.studies.explain.conclusions import PROGRAMS
from tandem.studies.explain.shares import explanation

GROUP = "gap"
LEGS = [leg(0, "pool", "trips"), leg(1, "reset")]
CELLS = cells(LEGS)
BLOCKS, WINDOW_S, MARGIN = 2, 12, 0.03
TRIP_MS = 25.0
"""A request takes so long that the CPU time of its way, a millisecond or a few of them where others compute, hardly counts."""
SIGMA = 0.5
"""Constant times keep all connections in step: a window then has whole waves, and one more or less is several percent."""
SLOWER = 1.1
"""Factor by which a trip of B takes longer: the program's part of the gap."""
TRUTH = {"pool": 20 / 5, "trips": 13 / 8, PROGRAMS: 1 / SLOWER, "reset": 8 / 9}
"""Ratios of the factors, by hand: each factor multiplies the rate, whatever the others are."""


@dataclass(frozen=True)
class CellServed:
    """A window of one cell, as it was set and as it came out."""

    label: str
    block: int
    connections: int
    asked_ms: float
    """Median time of a request that the server was set to."""
    took_ms: float
    """Mean time of a request by the server's own log: it sleeps longer than it is set to."""
    rate_rps: float


def serves(label: str) -> tuple[int, float]:
    """Connections and milliseconds of a request in a cell."""
    first, names = CELLS[label]
    trips = 13 if "trips" in names else 9 if "reset" in names else 8
    return (5 if "pool" in names else 20), trips * TRIP_MS * (1.0 if first else SLOWER)


def factors(found: Sequence[tuple[str, int, float]]) -> dict[str, float]:
    """Factor -> its ratio, as the shipped code finds it. found: label, block and rate."""
    told = explanation(LEGS, [{}, {}], fit((label, block, math.log(rate)) for label, block, rate in found))
    return {} if told is None else {share.name: share.ratio for share in told.factors}


def judged(made: Sequence[CellServed]) -> Outcome:
    """Judges each factor against what was set: connections and trips as they were, delays as the server's log has them."""
    stretched = {
        one.label: fmean(o.took_ms / o.asked_ms for o in made if o.label == one.label) for one in made
    }
    right = factors(
        [(one.label, one.block, one.connections / one.asked_ms / stretched[one.label]) for one in made]
    )
    found = factors([(one.label, one.block, one.rate_rps) for one in made])
    names = [*CELLS]
    following = dict(zip(names, [*names[1:], names[0]], strict=True))
    broken = factors([(following[one.label], one.block, one.rate_rps) for one in made])

    def off(ratios: dict[str, float]) -> float:
        return max(abs(ratios[name] / ratio - 1) for name, ratio in right.items())

    def shown(ratios: dict[str, float]) -> str:
        return ", ".join(f"{name} {ratio:.3f}" for name, ratio in ratios.items())

    return KnownAnswer[dict[str, float]](
        name="a gap made on purpose",
        group=GROUP,
        expected=f"{shown(right)} (without the time that the server oversleeps: {shown(TRUTH)})",
        tolerance=f"{MARGIN:.0%}",
        right=lambda ratios: off(ratios) <= MARGIN,
        shown=lambda ratios: f"{shown(ratios)}; {off(ratios):.1%} off at most",
        broken="each cell taken for the next one",
    ).judged(found, broken)


def run(stage: Stage) -> list[Outcome]:
    """Every cell in each block, in random order, as `explain` has it."""
    made: list[CellServed] = []
    with stage.running() as running:
        for block, order in enumerate(complete_blocks([*CELLS], BLOCKS, SEED), start=1):
            for label in order:
                connections, ms = serves(label)
                behaviour = f"kind=lognormal&us={ms * 1e3:.0f}&sigma={SIGMA}&seed={len(made)}"
                stage.view.note(f"  {label}")
                seen = running.steady_window(
                    "closed", WINDOW_S, behaviour, connections=connections, settled=False
                )
                require(
                    seen.window.goodput_rps > 0 and len(seen.served) > 0, f"{label}: nothing was answered"
                )
                took_ms = 1e3 * fmean(seen.served.response_s)
                made.append(CellServed(label, block, connections, ms, took_ms, seen.window.goodput_rps))
    return [judged(made)]
