"""Tells a series over nights that changed its level from one that only scatters. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tandem.analysis.ratios import Floats

LEARNED = 40
"""Nights before the first that is judged: centre and noise are not known yet."""
ANEW = 7
"""Number of nights after which centre and noise are estimated again, from all nights before."""
CLIP = 3.0
"""Largest deviation, in units of the noise: one night, however odd, raises no alarm by itself."""
ALLOWANCE = 1.0
"""k: what a night may deviate without adding to the sum."""
LIMIT = 3.5
"""h: where the sum raises an alarm, of a series that is looked at alone."""
FAMILY_SLOPE = 1.7
"""Divisor of the logarithm of the number of series, in the limit for many. Chosen by simulation
(harness/benchmarks/detection.py): 70 series then raise a false alarm in some 75 nights together where the noise has heavy
tails, in a thousand where it is normal, and a step of three times the noise still takes five nights."""
NOISE_LEAST = 0.0005
"""Least noise of a logarithm: what is more even than that is not judged by its own evenness."""
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


def family_limit(series: int) -> float:
    """h where so many series are judged each night: one limit for all of them. Together they raise at most the sum of what
    each does, however their noise hangs together, so the limit grows with the logarithm of their number."""
    return LIMIT + math.log(max(1, series)) / FAMILY_SLOPE


def usual(values: Floats, blocks: Floats, sds: Floats, start: int) -> tuple[float, Floats]:
    """The level before `start`, and how much each night from there on scatters about it.

    Level: the median of all values before; noise: their median absolute deviation. Both take no notice of spikes, and a
    step needs as many nights as there were before it to become the level. blocks: how many each value is the mean of; sds:
    the standard deviation between them; both not a number where that is not known. A night of few blocks is expected to
    scatter more, by `_spread`.
    """
    seen = values[:start]
    middle = float(np.median(seen))
    if np.isnan(blocks).any():  # then as many as the others
        blocks = np.where(np.isnan(blocks), 1.0 if np.isnan(blocks).all() else np.nanmedian(blocks), blocks)
    spread = _spread(seen - middle, blocks[:start], sds[:start], blocks)
    # The median of few deviations from their own median is too small (Croux and Rousseeuw 1992: n / (n - 0.8)).
    noise = NORMAL * np.median(np.abs(seen - middle) / spread[:start]) * start / (start - 0.8)
    return middle, np.maximum(noise * spread[start:], NOISE_LEAST)


def numbers(values: Sequence[float | None]) -> Floats:
    """The values as an array, with not a number for None."""
    return np.array(values, float)


def scaled(
    values: Sequence[float],
    blocks: Sequence[float | None] | None = None,
    sds: Sequence[float | None] | None = None,
) -> Floats:
    """Each value from LEARNED on as its distance from the level before its week, in units of how much such a night scatters
    (`usual`), clipped. blocks, sds: of each; None: not known."""
    every, unknown = np.asarray(values, float), [None] * len(values)
    of, within = numbers(blocks or unknown), numbers(sds or unknown)
    out = np.zeros(max(0, len(every) - LEARNED))
    for start in range(LEARNED, len(every), ANEW):
        stop = min(start + ANEW, len(every))
        middle, scatter = usual(every[:stop], of[:stop], within[:stop], start)
        out[start - LEARNED : stop - LEARNED] = (every[start:stop] - middle) / scatter
    return np.clip(out, -CLIP, CLIP)


def _spread(away: Floats, blocks: Floats, sds: Floats, of: Floats) -> Floats:
    """How much nights of so many blocks scatter, as a multiple of a night of one block.

    What differs between blocks averages out over them; what differs between nights does not. away: distances of the nights
    seen from their level; blocks, sds: theirs; of: blocks of the nights that are asked for. The part of the nights is what
    their own standard deviations leave of the whole (moments, by medians); none where no night has one.
    """
    if (blocks == blocks[0]).all() and (of == blocks[0]).all():
        return np.ones(len(of))
    between, known = 0.0, np.isfinite(sds) & (blocks > 1)
    if known.any():
        free = blocks[known] - 1
        # Median of a chi-square distribution by its mean (Wilson and Hilferty 1931).
        median_share = (1 - 2 / (9 * free)) ** 3
        within = float(np.median(sds[known] ** 2 / median_share))
        whole = (NORMAL * float(np.median(np.abs(away)))) ** 2
        left = max(0.0, whole - within * float(np.mean(1 / blocks)))
        between = left / (left + within) if left + within else 0.0
    return np.asarray(np.sqrt(between + (1 - between) / of))


def sums(distances: Floats, limit: float = LIMIT) -> list[tuple[float, float]]:
    """Both sums after each value, upwards and downwards; after one that passed the limit both begin anew."""
    found: list[tuple[float, float]] = []
    up = down = 0.0
    for distance in distances.tolist():
        up, down = max(0.0, up + distance - ALLOWANCE), max(0.0, down - distance - ALLOWANCE)
        found.append((up, down))
        if max(up, down) > limit:
            up = down = 0.0
    return found


def cusum(distances: Floats, first: int = 0, limit: float = LIMIT) -> list[Alarm]:
    """Two-sided CUSUM (Page 1954); after an alarm both sums begin anew. first: index of the first value."""
    found: list[Alarm] = []
    up_since = down_since = first
    for at, (up, down) in enumerate(sums(distances, limit), start=first):
        alarm = max(up, down) > limit
        if alarm:
            found.append(Alarm(at, up_since if up > down else down_since, up > down))
        up_since = up_since if up and not alarm else at + 1
        down_since = down_since if down and not alarm else at + 1
    return found


def levels(values: Sequence[float]) -> list[int]:
    """Where a series over its whole length changes its level: the index of the first value of each new one.

    PELT (Killick 2012) with the squared error, on values in units of the noise, clipped. The noise is that of the first
    differences, which a step does not inflate. It sees more than the sums, which must speak at once, and later.
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
    """The two of `count` images in a row between which the change lies, as far as is known.

    The first is good and the last is not. differs: of images between them, whether each was found to differ from the
    first. The next to try is in the middle of the two that are returned; they are neighbours when nothing is left.
    """
    low, high = 0, count - 1
    for index, is_different in differs:
        low, high = (low, min(high, index)) if is_different else (max(low, index), high)
    return low, high
