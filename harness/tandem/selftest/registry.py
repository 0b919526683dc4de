"""The checks, by class. A new module is one line here."""

from collections.abc import Callable
from types import ModuleType

from tandem.record.selftest import Outcome
from tandem.selftest import (
    attribution,
    capacity,
    carry_over,
    comparing,
    explaining,
    gap,
    liars,
    overhead,
    queueing,
    sampling,
    statistics,
    timing,
    visits,
)
from tandem.selftest import units as units_
from tandem.selftest.stage import Stage

OnStage = Callable[[Stage], list[Outcome]]

UNIT: list[ModuleType] = [units_, statistics, capacity, explaining]
"""Modules with `CHECKS`, each of which returns an Outcome: no containers, a few seconds in all."""

END_TO_END: dict[str, OnStage] = {
    "visits": visits.run,
    "timing": timing.run,
    "arrivals": queueing.at_random,
    "liars": liars.run,
    "sampler": sampling.run,
    "attribution": attribution.run,
}
"""With real containers: minutes in all."""

LONG_QUEUE = 100_000

WEEKLY: dict[str, OnStage] = {
    "gap": gap.run,
    "hangs": timing.hangs,
    "carry-over": carry_over.run,
    "overhead": overhead.run,
    "power": lambda stage: [*comparing.power(stage), *comparing.in_slices(stage)],
    "confusion": attribution.confusion,
    "long-queues": lambda stage: queueing.run(stage, LONG_QUEUE),
    "pairs": comparing.same_with_itself,
}
"""Only with --full: hours, the shortest first."""


def units() -> list[Callable[[], Outcome]]:
    """The checks of the unit class."""
    return [check for module in UNIT for check in module.CHECKS]


def names() -> list[str]:
    """Names for --only."""
    return ["unit", *END_TO_END, *WEEKLY]
