"""How soon the judge of `just nightly` notices a change, and how often it takes noise for one.

    PYTHONPATH=harness python3 harness/benchmarks/detection.py > results/reference-nightly/detection.json

Series without a change are simulated, and drawn anew (with their neighbours, with replacement) from real values: those of the
committed comparisons' duets of a program with itself. Then a change is added, and the judge's own code looks for it.

A night judges many series: FAMILY of them are judged with a limit for one and with the limit for all.
"""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from tandem.analysis import change
from tandem.analysis.ratios import Floats
from tandem.engine.side_by_side import second
from tandem.engine.stand_ins import is_look
from tandem.facts.paired import good_facts, ln_by_block
from tandem.studies.registry import read_folder

Draw = Callable[[np.random.Generator, int, int], Floats]
"""Series x nights, without a change."""
ROOT = Path(__file__).parents[2]
SEED = 20261123
NOISE = 0.008
"""Scatter of a night's ln ratio of like programs."""
SPIKE, SPIKE_EVERY = 10 * NOISE, 20
STEPS = {"1 %": 0.01, "2 %": 0.02, "3 %": 0.03, "5 %": 0.05}
SERIES, CHANGED_AT, SHOWN = 300, 80, 40
"""Series of each change; the night of the change; nights after it that are looked at."""
QUIET_NIGHTS = 365
NEIGHBOURS = 5
"""Values that are drawn together, so that what links neighbouring nights stays."""
FAMILY = 70
"""Series of a night: about what `just nightly` judges of all implementations."""
FAMILIES = 30
"""Families that are simulated, for QUIET_NIGHTS nights each."""


class Detection(BaseModel):
    """Alarms and delays of the judge for one kind of series."""

    series: str
    values: int | None
    """Number of real values that are drawn from; None where they are simulated."""
    sd: float
    quiet_nights: int
    """Nights without a change that were judged."""
    false_alarms: int
    seen: dict[str, list[float]]
    """Change -> share of the series that raised an alarm on its side within 1, 2, … nights."""


class OfFamily(BaseModel):
    """Alarms and delays with one limit for all series of a night, for one kind of series."""

    series: str
    limit: float
    """Limit that all series share."""
    at_limit: int | None
    """Nights for each false alarm of any series at `limit`."""
    median: dict[str, int | None]
    """Change -> nights until half of the series raised an alarm at the limit for all; None: not within those looked at."""


class Detections(BaseModel):
    """results/reference-nightly/detection.json"""

    seed: int
    series: int
    """Number of series of each change."""
    found: list[Detection]
    family: int
    """Series of a night."""
    families: list[OfFamily]


def first_at(seen: list[float], share: float) -> int | None:
    return next((night for night, reached in enumerate(seen, 1) if reached >= share), None)


# ---- series without a change ----


def normal(chance: np.random.Generator, series: int, nights: int) -> Floats:
    return np.asarray(NOISE * chance.standard_normal((series, nights)))


def heavy(chance: np.random.Generator, series: int, nights: int) -> Floats:
    return np.asarray(NOISE * chance.standard_t(3, (series, nights)))


def spiked(chance: np.random.Generator, series: int, nights: int) -> Floats:
    signs = chance.choice([-1, 1], (series, nights))
    return normal(chance, series, nights) + SPIKE * signs * (
        chance.random((series, nights)) < 1 / SPIKE_EVERY
    )


def again(values: list[float]) -> Draw:
    """Runs of real values, from anywhere, the last followed by the first (circular block bootstrap, Politis and Romano 1992)."""
    real = np.asarray(values) - np.median(values)

    def draw(chance: np.random.Generator, series: int, nights: int) -> Floats:
        starts = chance.integers(0, len(real), (series, math.ceil(nights / NEIGHBOURS), 1))
        places = (starts + np.arange(NEIGHBOURS)) % len(real)
        return np.asarray(real[places.reshape(series, -1)[:, :nights]])

    return draw


def of_comparisons(root: Path) -> list[float]:
    """ln of a program's second start by its first, in the duets of the committed comparisons, one for each block."""
    found: list[float] = []
    for folder in sorted((root / "results/comparisons").iterdir()):
        _, result, trials = read_folder(folder)
        good = good_facts(trial for trial in trials if not is_look(trial.spec))
        reference = result.conclusions.reference
        ratios = ln_by_block(good, second(reference), [reference], "duet_cpu_us_per_request")
        found += ratios.values()
    return found


# ---- what the judge does with them ----


def seen_within(draw: Draw, chance: np.random.Generator, series: int, limit: float) -> dict[str, list[float]]:
    """Change -> share of so many series that raised an alarm on its side within 1, 2, … nights."""
    found: dict[str, list[float]] = {}
    for what, step in STEPS.items():
        drawn = draw(chance, series, CHANGED_AT + SHOWN)
        drawn[:, CHANGED_AT:] += step
        first: list[int] = []
        for one in drawn:
            alarms = change.cusum(change.scaled(one), change.LEARNED, limit)
            late = [alarm.at - CHANGED_AT + 1 for alarm in alarms if alarm.at >= CHANGED_AT and alarm.up]
            first += late[:1]
        found[what] = [sum(one <= night for one in first) / series for night in range(1, SHOWN + 1)]
    return found


def detect(name: str, draw: Draw, values: int | None = None, series: int = SERIES) -> Detection:
    """Judges series without and with each change."""
    chance = np.random.default_rng(SEED)
    still = draw(chance, series, QUIET_NIGHTS)
    return Detection(
        series=name,
        values=values,
        sd=float(np.std(still)),
        quiet_nights=series * (QUIET_NIGHTS - change.LEARNED),
        false_alarms=sum(len(change.cusum(change.scaled(one), 0, change.LIMIT)) for one in still),
        seen=seen_within(draw, chance, series, change.LIMIT),
    )


def of_family(name: str, draw: Draw, families: int = FAMILIES) -> OfFamily:
    """Judges whole nights. False alarms of all series are counted one by one: a night in which two raise one counts twice."""
    chance, limit = np.random.default_rng(SEED), change.family_limit(FAMILY)
    quiet = draw(chance, families * FAMILY, QUIET_NIGHTS)
    alarms = sum(len(change.cusum(change.scaled(one), 0, limit)) for one in quiet)
    seen = seen_within(draw, chance, SERIES, limit)
    at_limit = round(families * (QUIET_NIGHTS - change.LEARNED) / alarms) if alarms else None
    median = {what: first_at(shares, 0.5) for what, shares in seen.items()}
    return OfFamily(series=name, limit=round(limit, 2), at_limit=at_limit, median=median)


def main() -> None:
    sources: list[tuple[str, Draw]] = [
        (f"simulated: normal, {100 * NOISE:g} %", normal),
        ("simulated: heavy tails (t, 3 degrees of freedom)", heavy),
        (f"simulated: normal, and one night in {SPIKE_EVERY} off by {100 * SPIKE:g} %", spiked),
    ]
    duets = of_comparisons(ROOT)
    found = Detections(
        seed=SEED,
        series=SERIES,
        found=[
            *(detect(*source) for source in sources),
            detect("real: duets of a program with itself", again(duets), len(duets)),
        ],
        family=FAMILY,
        families=[of_family(*source) for source in sources],
    )
    print(found.model_dump_json(indent=1))


if __name__ == "__main__":
    main()
