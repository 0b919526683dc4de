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
from tandem.record.selftest import Outcome
from tandem.selftest.known_answer import KnownAnswer

GROUP = "statistics"
SEED = 20261121
NOISES = (0.01, 0.02, 0.05, 0.10)
FALSE_ALARMS, CAUGHT = 0.05, 0.90
SECONDS = (6, 10, BUCKETS)
"""Lengths of a series: in `compare`, in `bench` of the plan quick, and in longer plans."""
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
    alarms = {
        f"{seconds} s": max(_alarms(simulated(1000.0, noise, SERIES), seconds) for noise in NOISES)
        for seconds in SECONDS
    }
    plain = _judged(simulated(1000.0, 0.05, SERIES))
    broken = float(np.mean([abs(one.drift_share or 0) > DRIFT_LIMIT for one in plain]))
    return KnownAnswer[dict[str, float]](
        name="steady-false-alarms",
        group=GROUP,
        expected=f"steady series of 6 to 30 s with a variation of 1 to 10 % and an autocorrelation of {AUTOCORRELATION}"
        " are called steady",
        tolerance="under 5 %",
        right=lambda found: max(found.values()) < FALSE_ALARMS,
        shown=lambda found: (
            "alarms at most in " + ", in ".join(f"{at}: {of:.1%}" for at, of in found.items())
        ),
        broken="slope limit without the interval, at a variation of 5 %",
    ).judged(alarms, {f"{BUCKETS} s": broken})


def unsteady_caught() -> Outcome:
    """Ramps and steps at 2 % variation; in a random order the same seconds have neither."""
    series = {
        f"{kind} {size:+.0%}": simulated(shape(kind, size), 0.02, SERIES // 4, place)
        for place, (kind, size) in enumerate(SHAPES)
    }
    mixed = np.random.default_rng(SEED).permuted(series["ramp +10%"], axis=1)
    shorter = {
        f"{size:.0%} at {noise:.0%} in {seconds} s": _alarms(
            simulated(shape(f"step-{seconds // 2}", size), noise, SERIES // 2), seconds
        )
        for size, noise in ((0.2, 0.02), (0.4, 0.05))
        for seconds in SECONDS
    }
    beside = ", ".join(f"{what}: {share:.0%}" for what, share in shorter.items())

    def shown(found: tuple[dict[str, float], str]) -> str:
        shares, others = found
        least = min(shares, key=lambda name: shares[name])
        return f"{shares[least]:.0%} ({least}){others}"

    return KnownAnswer(
        name="unsteady-caught",
        group=GROUP,
        expected="ramps and steps of 10 and 20 % are caught at a variation of 2 %",
        tolerance="over 90 % in 30 s",
        right=lambda found: min(found[0].values()) > CAUGHT,
        shown=shown,
        broken="the seconds of a ramp in a random order",
    ).judged(
        ({name: _alarms(one) for name, one in series.items()}, f"; steps of {beside}"),
        ({"ramp +10%": _alarms(mixed)}, ""),
    )


def position_p(orders: list[list[str]]) -> float:
    """Chi-square p of variant x position: small where a position is one variant's more often."""
    counts = Counter((name, place) for order in orders for place, name in enumerate(order))
    names = sorted(orders[0])
    return float(
        scipy.stats.chi2_contingency(
            [[counts[name, place] + 1 for place in range(len(names))] for name in names]
        ).pvalue
    )


def alternation_positions() -> Outcome:
    """The orders in which variants take turns, over 500 seeds."""
    blocks = [block for seed in range(500) for block in alternation(["a", "b", "c", "a~2"], 4, 2, seed)]
    # Only the first of each pair is drawn; its reverse is not independent of it.
    drawn = [order for block in blocks for order in block.rounds[::2]]
    mirrored = all(a == b[::-1] for block in blocks for a, b in list(pairwise(block.rounds))[::2])
    complete = all(sorted(r) == ["a", "a~2", "b", "c"] for b in blocks for r in b.rounds)
    return KnownAnswer[dict[str, float]](
        name="alternation-positions",
        group=GROUP,
        expected="complete rounds, each second one reversed, every position equally often",
        tolerance="p > 0.01",
        right=lambda found: mirrored and complete and min(found.values()) > 0.01,
        shown=lambda found: "chi-square p " + ", ".join(f"{p:.2g} ({what})" for what, p in found.items()),
        broken="never shuffled",
        caught=lambda found: min(found.values()) <= 0.01,
    ).judged(
        {"rounds": position_p(drawn), "starts": position_p([block.starts for block in blocks])},
        {"rounds": position_p([sorted(order) for order in drawn])},
    )


def checks() -> list[Callable[[], Outcome]]:
    """The checks of this module."""
    return [false_alarms, unsteady_caught, alternation_positions]
