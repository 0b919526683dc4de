"""What the next session will print, from those that there are; and whether figures that were measured again lie within the noise of
those that were recorded. Pure.

The error within a session says how well a ratio is known there and then. Sessions of one pair on other machines, days and
neighbours scatter more widely than that. What a reader meets is the next session, so the interval that is published is the
prediction interval of a further value of a normal distribution (Hahn and Meeker, Statistical Intervals, section 4.8), taken on
the logarithm: mean +- t(n - 1) x s x sqrt(1 + 1 / n). The scatter of each session's own error is part of s. The mean of several
further values has sqrt(1 / new + 1 / n) in its place (section 4.7).
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from tandem.analysis.ratios import CONFIDENCE, Floats
from tandem.record.part import Number, Part
from tandem.record.trial import Trial
from tandem.record.window import Verdict

RESOLUTION = 0.01
"""A difference below this share of the recorded mean is never called one, however quiet the record was."""

type Values = dict[str, list[float]]
"""Metric -> one value for each good trial in which it was measured."""


class RepeatedFigure(Part):
    """One figure of one variant, then and now."""

    label: str
    metric: str
    recorded: list[Number]
    """Recorded values, one per good trial."""
    new: list[Number]
    interval: tuple[Number, Number] | None
    """Where the mean of the new values is expected; null with fewer than two recorded ones."""
    outcome: Literal["within", "outside", "not comparable"]


def prediction_interval(values: Sequence[float], new: int, confidence: float) -> tuple[float, float] | None:
    """Where the mean of `new` further values lies with that confidence; None below two values or without new ones. It contains
    the spread over fresh starts, not a change of the machine in between."""
    if len(values) < 2 or new < 1:
        return None
    low, high = next_values(values, confidence, new)
    mean = float(np.mean(values))
    return min(float(low), mean - RESOLUTION * abs(mean)), max(float(high), mean + RESOLUTION * abs(mean))


def of_windows(trials: Sequence[Trial], label: str) -> Values:
    """What windows tell of a variant: goodput and CPU per request of closed ones, the p99 of open ones whose rate is a
    share of the same start's goodput, the memory peak of all that count it as today. Only windows in which it alone was loaded, and good
    trials, count."""
    names = ("goodput_rps", "app_cpu_us_per_request", "app_memory_peak_bytes", "response_time_p99_ms")
    found: Values = {name: [] for name in names}
    for trial in trials:
        if trial.verdict is not Verdict.OK:
            continue
        closed, opened = trial.of(label, "closed"), trial.of(label, "open")
        shares = [r.windows[label] for r in trial.windows if r.spec.share is not None and label in r.windows]
        peaks = [w.app_memory_peak_bytes for w in (*closed, *opened) if w.app_memory_counts == "all"]
        told = {
            "goodput_rps": _mean([window.goodput_rps for window in closed]),
            "app_cpu_us_per_request": _mean([window.app_cpu_us_per_request for window in closed]),
            "app_memory_peak_bytes": max((float(p) for p in peaks if p is not None), default=None),
            "response_time_p99_ms": _mean([w.response_time_ms.p99 for w in shares if w.response_time_ms]),
        }
        for name, value in told.items():
            if value is not None:
                found[name].append(value)
    return found


def _mean(values: Sequence[float | None]) -> float | None:
    """The mean over one trial's windows; None where one of them does not tell, or there is none."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else None


def figures(pairs: dict[tuple[str, str], tuple[list[float], list[float]]]) -> list[RepeatedFigure]:
    """(label, metric) -> recorded and new values, compared where both sides have them. All together have the confidence: each
    has 1 - 0.05 / (how many are compared)."""
    comparable = sum(len(old) > 1 and len(now) > 0 for old, now in pairs.values())
    out = []
    for (label, metric), (old, now) in pairs.items():
        interval = prediction_interval(old, len(now), 1 - (1 - CONFIDENCE) / max(comparable, 1))
        outcome: Literal["within", "outside", "not comparable"] = "not comparable"
        if interval is not None:
            outcome = "within" if interval[0] <= float(np.mean(now)) <= interval[1] else "outside"
        out.append(
            RepeatedFigure(
                label=label, metric=metric, recorded=old, new=now, interval=interval, outcome=outcome
            )
        )
    return out


class Replayed(Part):
    """replay.json"""

    study: str
    recorded: str
    """Id of the record."""
    new: str
    verdict: Verdict
    """Verdict of the new result."""
    figures: list[RepeatedFigure]
    differences: list[str]
    """Differences of the environments, in sentences."""
    reproduced: bool
    """The new result is ok, something could be compared and nothing is outside."""


def next_values(values: ArrayLike, confidence: float = CONFIDENCE, new: int = 1) -> tuple[Floats, Floats]:
    """The interval in which the mean of so many further values is expected, along the last axis (at least two values), in the
    unit of the values."""
    own = np.asarray(values, float)
    n = own.shape[-1]
    student, mean = scipy.special.stdtrit(n - 1, (1 + confidence) / 2), own.mean(axis=-1)
    half = student * own.std(axis=-1, ddof=1) * math.sqrt(1 / new + 1 / n)
    return np.asarray(mean - half), np.asarray(mean + half)


def next_value(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """The interval in which one further value of a series is expected; None below two values."""
    if len(values) < 2:
        return None
    low, high = next_values(values, confidence)
    return float(low), float(high)


def outside_by_chance(outside: int, of: int, confidence: float = CONFIDENCE) -> float:
    """The probability that at least so many of that number of values lie outside their prediction intervals by chance alone,
    if they are independent (binomial). Ratios of one session share a baseline, so this is a guide."""
    return float(scipy.stats.binom.sf(outside - 1, of, 1 - confidence))
