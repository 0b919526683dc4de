"""Simulated series of one-second buckets, and orders, against the code that judges or draws them. Pure, seeded."""

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import scipy

from tandem.analysis.alternation import alternation
from tandem.analysis.ratios import Floats
from tandem.judge.steady import AUTOCORRELATION, BUCKETS, DRIFT_LIMIT, Steadiness, steady
from tandem.record.outcome import Outcome

GROUP = "statistics"
SEED = 20261121
NOISES = (0.01, 0.02, 0.05, 0.10)
FALSE_ALARMS, CAUGHT = 0.05, 0.90
SECONDS = (6, 10, BUCKETS)
"""That are looked at: by `compare`, by `bench` of the plan quick, and by longer plans."""
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


def simulated(
    level: Floats | float,
    variation: float,
    series: int,
    seed: int = SEED,
    autocorrelation: float = AUTOCORRELATION,
) -> Floats:
    """Series around a level, shape (series, seconds), whose neighbouring seconds are as alike as real ones."""
    noise = np.random.default_rng(seed).standard_normal((series, BUCKETS))
    for second in range(1, BUCKETS):
        fresh = math.sqrt(1 - autocorrelation**2) * noise[:, second]
        noise[:, second] = autocorrelation * noise[:, second - 1] + fresh
    return np.asarray(level * (1 + variation * noise))


def _judged(series: Floats, seconds: int = BUCKETS) -> list[Steadiness]:
    return [steady(one[:seconds], least=seconds) for one in series]


def _alarms(series: Floats, seconds: int = BUCKETS) -> float:
    return float(np.mean([not one.steady for one in _judged(series, seconds)]))


def false_alarms() -> Outcome:
    """Steady series, by their variation; without the interval a slope of 2 % is mere noise."""
    measured = {
        (noise, seconds): _alarms(simulated(1000.0, noise, SERIES), seconds)
        for noise in NOISES
        for seconds in SECONDS
    }
    plain = _judged(simulated(1000.0, 0.05, SERIES))
    broken = float(np.mean([abs(one.drift_share or 0) > DRIFT_LIMIT for one in plain]))
    return Outcome(
        name="steady-false-alarms",
        group=GROUP,
        expected=f"steady series of 6 to 30 s with a variation of 1 to 10 % and an autocorrelation of {AUTOCORRELATION}"
        " are called steady",
        measured="alarms at most "
        + ", ".join(
            f"in {seconds} s: {max(share for (_, n), share in measured.items() if n == seconds):.1%}"
            for seconds in SECONDS
        ),
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
    measured = {name: _alarms(series) for name, series in found.items()}
    least = min(measured, key=lambda name: measured[name])
    mixed = np.random.default_rng(SEED).permuted(found["ramp +10%"], axis=1)
    broken = _alarms(mixed)
    few = {
        f"{size:.0%} at {noise:.0%} in {seconds} s": _alarms(
            simulated(shape(f"step-{seconds // 2}", size), noise, SERIES // 2), seconds
        )
        for size, noise in ((0.2, 0.02), (0.4, 0.05))
        for seconds in SECONDS
    }
    return Outcome(
        name="unsteady-caught",
        group=GROUP,
        expected="ramps and steps of 10 and 20 % are caught at a variation of 2 %",
        measured=f"least: {measured[least]:.0%} ({least}); steps of "
        + ", ".join(f"{what}: {share:.0%}" for what, share in few.items()),
        tolerance="over 90 % in 30 s",
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
