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
from numpy.typing import ArrayLike

from tandem.analysis.ratios import CONFIDENCE, Floats


def next_values(values: ArrayLike, confidence: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """The interval in which one further value is expected, along the last axis (at least two values), in the unit of the
    values."""
    own = np.asarray(values, float)
    n = own.shape[-1]
    half = scipy.stats.t.ppf((1 + confidence) / 2, n - 1) * own.std(axis=-1, ddof=1) * math.sqrt(1 + 1 / n)
    mean = own.mean(axis=-1)
    return np.asarray(mean - half), np.asarray(mean + half)


def next_value(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """The same of one series; None below two values."""
    if len(values) < 2:
        return None
    low, high = next_values(values, confidence)
    return float(low), float(high)


def outside_by_chance(outside: int, of: int, confidence: float = CONFIDENCE) -> float:
    """The probability that at least so many of that number of values lie outside their prediction intervals by chance alone,
    if they are independent (binomial). Ratios of one session share a baseline, so this is a guide."""
    return float(scipy.stats.binom.sf(outside - 1, of, 1 - confidence))
