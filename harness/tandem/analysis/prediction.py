"""What the next session will print, from those that there are. Pure.

The error within a session says how well a ratio is known there and then. Sessions of one pair on other machines, days and
neighbours scatter more widely than that. What a reader meets is the next session, so the interval that is published is the
prediction interval of a further value of a normal distribution (Hahn and Meeker, Statistical Intervals, section 4.8), taken on
the logarithm: mean +- t(n - 1) x s x sqrt(1 + 1 / n). The scatter of each session's own error is part of s.
"""

import math
from collections.abc import Sequence

import numpy as np
import scipy

from tandem.analysis.ratios import CONFIDENCE


def next_value(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """The interval in which one further value is expected, in the unit of the values; None below two values."""
    n = len(values)
    if n < 2:
        return None
    half = scipy.stats.t.ppf((1 + confidence) / 2, n - 1) * np.std(values, ddof=1) * math.sqrt(1 + 1 / n)
    mean = float(np.mean(values))
    return mean - float(half), mean + float(half)


def outside_by_chance(outside: int, of: int, confidence: float = CONFIDENCE) -> float:
    """The probability that at least so many of that number of values lie outside their prediction intervals by chance alone,
    if they are independent (binomial). Ratios of one session share a baseline, so this is a guide."""
    return float(scipy.stats.binom.sf(outside - 1, of, 1 - confidence))
