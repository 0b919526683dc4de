"""What a curve over several values of a setting shows: where its peak is, and whether it falls behind it. Pure.

All values are measured in each block (round), so the logarithm of a rate is a value's own part, the block's and a rest.
What the blocks had in common drops out; the rests of all cells together tell the noise, with (blocks - 1) x (values - 1)
degrees of freedom, where three blocks of one value would have two.

The peak is the value that came out highest, and the highest of several equals is above the others by its noise. So the last
value is compared with all others at once, by Dunnett's test (1955) on the differences within blocks: it holds 5 % whichever
of them is the peak.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from tandem.analysis.ratios import ALPHA, CONFIDENCE, Floats

DRAWS, RESAMPLES, SEED = 100_000, 2000, 20261124


@dataclass(frozen=True)
class Loss:
    """What the last value falls short of the best one, as a share of the best."""

    interval: tuple[float, float]
    """95 % interval, whichever value is the best one."""
    p: float
    """The p value of no loss at all, one-sided."""

    @property
    def shown(self) -> bool:
        return self.p < ALPHA


def _noise(ln: Floats) -> tuple[Floats, float]:
    """The rests of each cell, and their standard deviation."""
    blocks, values = ln.shape
    rests = ln - ln.mean(axis=1, keepdims=True) - ln.mean(axis=0) + ln.mean()
    return rests, math.sqrt(float((rests**2).sum()) / ((blocks - 1) * (values - 1)))


@cache
def _dunnett(others: int, freedom: int) -> tuple[Floats, float]:
    """The differences of so many means to one, in standard errors, where all are equal: draws of the largest,
    ascending, and what 95 % of them all stay within."""
    chance = np.random.default_rng(SEED)
    means = chance.standard_normal((DRAWS, others + 1))
    error = np.sqrt(chance.chisquare(freedom, (DRAWS, 1)) / freedom)
    drawn = (means[:, 1:] - means[:, :1]) / math.sqrt(2) / error
    return np.sort(drawn.max(axis=1)), float(np.quantile(np.abs(drawn).max(axis=1), CONFIDENCE))


def loss(rates: Floats) -> Loss | None:
    """rates: one row for each block, one column for each value; all above 0. None below two of either."""
    ln = np.log(rates)
    blocks, values = ln.shape
    if min(blocks, values) < 2:
        return None
    error = _noise(ln)[1] * math.sqrt(2 / blocks)
    *others, last = ln.mean(axis=0).tolist()
    most = max(others) - last
    largest, all_within = _dunnett(values - 1, (blocks - 1) * (values - 1))
    p = 1 - float(np.searchsorted(largest, most / error)) / DRAWS if error else float(most <= 0)
    half = all_within * error
    return Loss((_share(most - half), _share(most + half)), p)


def loss_in_scatters(blocks: int, values: int) -> float:
    """How large a loss must be to be told, in standard deviations of a cell."""
    largest, _ = _dunnett(values - 1, (blocks - 1) * (values - 1))
    return float(np.quantile(largest, 1 - ALPHA)) * math.sqrt(2 / blocks)


def _share(ln: float) -> float:
    return -math.expm1(-max(0.0, ln))


@dataclass(frozen=True)
class Where:
    """Columns: first and last of those that it may be, with 95 %."""

    peak: tuple[int, int]
    reaches: tuple[int, int]


def where(rates: Floats, share: float) -> Where | None:
    """Where the peak may be, and the first value that reaches so large a share of it. rates: as for `loss`.

    A bootstrap within blocks: the means stay, their noise is drawn from the rests of all cells. Drawing whole blocks again
    would need more than the three that a sweep has: of three there are ten different drawings.
    """
    ln = np.log(rates)
    blocks, values = ln.shape
    if min(blocks, values) < 2:
        return None
    rests, sd = _noise(ln)
    plain = float(np.sqrt((rests**2).mean()))
    scaled = rests.ravel() * (sd / plain if plain else 0.0)
    noise = np.random.default_rng(SEED).choice(scaled, (RESAMPLES, blocks, values)).mean(axis=1)
    drawn = np.exp(ln.mean(axis=0) + noise)
    peaks, firsts = drawn.argmax(axis=1), (drawn >= share * drawn.max(axis=1, keepdims=True)).argmax(axis=1)
    return Where(_range(peaks), _range(firsts))


def _range(columns: "np.ndarray[tuple[int, ...], np.dtype[np.intp]]") -> tuple[int, int]:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(columns, (tail, 1 - tail), method="closest_observation")
    return int(low), int(high)
