"""Tells a series over nights that changed its level from one that only scatters. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEARNED = 40
"""Nights before the first that is judged: centre and noise are not known yet."""
ANEW = 7
"""Every so many nights centre and noise are estimated again, from all nights before."""
CLIP = 3.0
"""In units of the noise: one night, however odd, raises no alarm by itself."""
ALLOWANCE = 1.0
"""k: what a night may deviate without adding to the sum."""
LIMIT = 3.5
"""h: where the sum raises an alarm."""
NOISE_LEAST = 0.0005
"""Of a logarithm: what is more even than that is not judged by its own evenness."""
NORMAL = 1.4826
"""Median absolute deviation -> standard deviation of a normal distribution."""
PENALTY_PER_LN_N = 4.0
SHORTEST_LEVEL = 5


@dataclass(frozen=True)
class Alarm:
    """A sum that passed its limit."""

    at: int
    """Index of the value that raised it."""
    since: int
    """Index of the first value that the sum holds: the change's likely place."""
    up: bool


def scaled(values: Sequence[float]) -> Floats:
    """Each value from LEARNED on as its distance from the level before it, in units of the noise, clipped.

    Level: the median of all values before its week; noise: their median absolute deviation. Both take no notice of
    spikes, and a step needs as many nights as there were before it to become the level.
    """
    all_values = np.asarray(values, float)
    out = np.zeros(max(0, len(all_values) - LEARNED))
    for start in range(LEARNED, len(all_values), ANEW):
        seen = all_values[:start]
        middle = np.median(seen)
        # The median of few deviations from their own median is too small (Croux and Rousseeuw 1992: n / (n - 0.8)).
        noise = NORMAL * np.median(np.abs(seen - middle)) * start / (start - 0.8)
        week = all_values[start : start + ANEW]
        out[start - LEARNED : start - LEARNED + len(week)] = (week - middle) / max(noise, NOISE_LEAST)
    return np.clip(out, -CLIP, CLIP)


def alarms(values: Sequence[float]) -> list[Alarm]:
    """The alarms of a series; none in the first LEARNED values."""
    return cusum(scaled(values), LEARNED)


def cusum(distances: Floats, first: int = 0, limit: float = LIMIT) -> list[Alarm]:
    """Two-sided CUSUM (Page 1954); after an alarm both sums begin anew. first: index of the first value."""
    found: list[Alarm] = []
    up = down = 0.0
    up_since = down_since = first
    for at, distance in enumerate(distances.tolist(), start=first):
        up, down = max(0.0, up + distance - ALLOWANCE), max(0.0, down - distance - ALLOWANCE)
        if max(up, down) > limit:
            found.append(Alarm(at, up_since if up > down else down_since, up > down))
            up = down = 0.0
        up_since = up_since if up else at + 1
        down_since = down_since if down else at + 1
    return found


def levels(values: Sequence[float]) -> list[int]:
    """Where a series over its whole length changes its level: the index of the first value of each new one.

    PELT (Killick 2012) with the squared error, on values in units of the noise, clipped. The noise is that of the first
    differences, which a step does not inflate. It sees more than `alarms`, which must speak at once, and later.
    """
    n = len(values)
    if n < 2 * SHORTEST_LEVEL:
        return []
    found = np.asarray(values, float)
    noise = NORMAL * float(np.median(np.abs(np.diff(found)))) / math.sqrt(2)
    distances = np.clip((found - np.median(found)) / max(noise, NOISE_LEAST), -4.0, 4.0)
    import ruptures  # here, because it takes a second, and a report needs none

    search = ruptures.KernelCPD(kernel="linear", min_size=SHORTEST_LEVEL).fit(distances)  # = l2, but in C
    return [int(end) for end in search.predict(pen=PENALTY_PER_LN_N * math.log(n))][:-1]


def bisected(count: int, differs: Sequence[tuple[int, bool]]) -> tuple[int, int]:
    """Between which two of `count` images in a row the change lies, as far as is known.

    The first is good and the last is not. differs: of images between them, whether each was found to differ from the
    first. The next to try is in the middle of the two that are returned; they are neighbours when nothing is left.
    """
    low, high = 0, count - 1
    for index, is_different in differs:
        low, high = (low, min(high, index)) if is_different else (max(low, index), high)
    return low, high
