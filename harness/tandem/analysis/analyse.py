"""Intervals of means. Pure."""

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

CONFIDENCE = 0.95


def t_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % Student t interval of the mean; None below two values. Trials are the unit of replication."""
    if len(values) < 2:
        return None
    sem = stats.sem(values)
    if sem == 0 or math.isnan(sem):
        return (float(values[0]), float(values[0]))
    low, high = stats.t.interval(CONFIDENCE, len(values) - 1, loc=np.mean(values), scale=sem)
    return float(low), float(high)
