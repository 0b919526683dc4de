"""The checks, by class. A new module is one line here."""

from collections.abc import Callable

from tandem.record.selftest import Outcome
from tandem.selftest import (
    attribution,
    capacity,
    comparing,
    explaining,
    liars,
    queueing,
    sampling,
    statistics,
    timing,
    units,
    visits,
)
from tandem.selftest.stage import Stage

OnStage = Callable[[Stage], Outcome | list[Outcome]]

UNIT: list[Callable[[], Outcome]] = [
    *units.CHECKS,
    *statistics.CHECKS,
    *capacity.CHECKS,
    *explaining.CHECKS,
]
"""Checks without containers: a few seconds in all."""

END_TO_END: dict[str, OnStage] = {
    "visits": visits.run,
    "timing": timing.run,
    "arrivals": queueing.at_random,
    "liars": liars.run,
    "sampler": sampling.run,
    "attribution": attribution.run,
}
"""Checks with real containers: minutes in all."""

WEEKLY: dict[str, OnStage] = {
    "gap": explaining.gap,
    "hangs": timing.hangs,
    "carry-over": comparing.carry_over,
    "overhead": comparing.overhead,
    "power": lambda stage: [*comparing.power(stage), *comparing.in_slices(stage)],
    "confusion": attribution.confusion,
    "long-queues": queueing.run,
    "pairs": comparing.same_with_itself,
}
"""Checks only with --full: hours, the shortest first."""


def names() -> list[str]:
    """Names for --only."""
    return ["unit", *END_TO_END, *WEEKLY]
