"""Simulated series of one-second buckets, and orders, against the code that judges or draws them. Pure, seeded."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import scipy

from tandem.analysis.alternation import alternation
from tandem.analysis.ratios import Floats
from tandem.judge.steady import BUCKETS, DRIFT_LIMIT, Steadiness, steady
from tandem.record.outcome import Outcome

GROUP = "statistics"
SEED = 20261121
NOISES = (0.01, 0.02, 0.05, 0.10)
FALSE_ALARMS, CAUGHT = 0.05, 0.95
SERIES = 400
_SPAN = np.arange(BUCKETS)


def shape(kind: str, size: float) -> Floats:
    """A level of 1 000 that rises by `size`: over the whole span, or at second 10, 15 or 20."""
    if kind == "ramp":
        return np.asarray(1000 * (1 + size * _SPAN / (BUCKETS - 1)))
    return np.asarray(1000 * (1 + size * (int(kind.removeprefix("step-")) <= _SPAN)))


SHAPES = [
    (kind, size) for kind in ("ramp", "step-10", "step-15", "step-20") for size in (0.1, 0.2, -0.1, -0.2)
]


def simulated(level: Floats | float, variation: float, series: int, seed: int = SEED) -> Floats:
    """Series around a level, shape (series, seconds)."""
    chance = np.random.default_rng(seed)
    return np.asarray(level * (1 + variation * chance.standard_normal((series, BUCKETS))))


def _judged(series: Floats) -> list[Steadiness]:
    return [steady(one) for one in series]


def false_alarms() -> Outcome:
    """Steady series, by their variation; without the interval a slope of 2 % is mere noise."""
    judged = {noise: _judged(simulated(1000.0, noise, SERIES)) for noise in NOISES}
    measured = {noise: float(np.mean([not one.steady for one in found])) for noise, found in judged.items()}
    broken = float(np.mean([abs(one.drift_share or 0) > DRIFT_LIMIT for one in judged[0.05]]))
    return Outcome(
        name="steady-false-alarms",
        group=GROUP,
        expected="steady series with a variation of 1 to 10 % are called steady",
        measured="alarms " + ", ".join(f"at {noise:.0%}: {share:.1%}" for noise, share in measured.items()),
        tolerance="under 5 %",
        passed=max(measured.values()) < FALSE_ALARMS,
        negative_control=f"slope limit without the interval at 5 %: {broken:.0%} alarms",
        negative_control_failed=broken >= FALSE_ALARMS,
    )


def unsteady_caught() -> Outcome:
    """Ramps and steps at 2 % variation; in a random order the same seconds have neither."""
    found = {
        f"{kind} {size:+.0%}": simulated(shape(kind, size), 0.02, SERIES // 4, place)
        for place, (kind, size) in enumerate(SHAPES)
    }
    measured = {
        name: float(np.mean([not one.steady for one in _judged(series)])) for name, series in found.items()
    }
    least = min(measured, key=lambda name: measured[name])
    mixed = np.random.default_rng(SEED).permuted(found["ramp +10%"], axis=1)
    broken = float(np.mean([not one.steady for one in _judged(mixed)]))
    return Outcome(
        name="unsteady-caught",
        group=GROUP,
        expected="ramps and steps of 10 and 20 % are caught at a variation of 2 %",
        measured=f"least: {measured[least]:.0%} ({least})",
        tolerance="over 95 %",
        passed=measured[least] > CAUGHT,
        negative_control=f"the seconds of a ramp in a random order: {broken:.0%} caught",
        negative_control_failed=broken <= CAUGHT,
    )


def position_p(orders: list[list[str]]) -> float:
    """Chi-square p of variant x position: small where a position is somebody's more often."""
    counts = Counter((name, place) for order in orders for place, name in enumerate(order))
    names = sorted(orders[0])
    return float(
        scipy.stats.chi2_contingency(
            [[counts[name, place] + 1 for place in range(len(names))] for name in names]
        ).pvalue
    )


def alternation_positions() -> Outcome:
    blocks = [block for seed in range(500) for block in alternation(["a", "b", "c", "a~2"], 4, 2, seed)]
    # Only the first of each pair is drawn; its reverse is not independent of it.
    drawn = [order for block in blocks for order in block.rounds[::2]]
    starts = [block.starts for block in blocks]
    rounds_p, starts_p = position_p(drawn), position_p(starts)
    mirrored = all(a == b[::-1] for block in blocks for a, b in list(pairwise(block.rounds))[::2])
    complete = all(sorted(r) == ["a", "a~2", "b", "c"] for b in blocks for r in b.rounds)
    broken = position_p([sorted(order) for order in drawn])
    return Outcome(
        name="alternation-positions",
        group=GROUP,
        expected="complete rounds, each second one reversed, every position equally often",
        measured=f"chi-square p {rounds_p:.2f} (rounds), {starts_p:.2f} (starts)",
        tolerance="p > 0.01",
        passed=mirrored and complete and min(rounds_p, starts_p) > 0.01,
        negative_control=f"never shuffled: p {broken:.2g}",
        negative_control_failed=broken <= 0.01,
    )


def checks() -> list[Callable[[], Outcome]]:
    return [false_alarms, unsteady_caught, alternation_positions]
