"""Compares two implementations by the logarithms of their paired ratios. Pure.

One value per block: ln(x / reference), both from fresh starts of the same block. Blocks are the unit of
replication, so what a whole block had in common (a slow host, a warm cache) drops out of the ratio. The
logarithm makes "twice as fast" and "half as fast" the same distance, and swapping the two only turns the sign.
"""

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from tandem.record.part import Number, Part

Floats = NDArray[np.float64]
Word = Literal["faster", "slower", "cheaper", "dearer", "equivalent", "inconclusive", "too few"]

CONFIDENCE = 0.95
ALPHA = 0.05
POWER = 0.80
MARGIN = 0.03
"""A difference that is smaller than this is called equivalent."""
EXACT_UP_TO = 20
MONTE_CARLO_FLIPS, MONTE_CARLO_SEED = 100_000, 20261121


class Ratio(Part):
    """A comparison over n blocks. Below two blocks all but the ratio is null; without any, the ratio too."""

    ratio: Number | None
    """Geometric mean over the blocks."""
    interval: tuple[Number, Number] | None
    """95 % Student t interval."""
    n: int
    sd_ln: Number | None
    """Standard deviation of the logarithms: for small values the run-to-run variation of the ratio as a share."""
    p_t: Number | None
    """Two-sided t test of no difference."""
    p_sign_flip: Number | None
    """Exact up to 20 blocks, above by 100,000 seeded random flips."""
    p_equivalent: Number | None
    """Two one-sided t tests of a difference of at least the margin."""
    detectable_ratio: Number | None
    """Minimum detectable effect of the t test: its reciprocal is as detectable."""


@contextmanager
def _equal_values_allowed() -> Iterator[None]:
    """Keeps SciPy from warning of values that are all equal; what follows from an error of 0 is said where it is used."""
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        yield


def interval(values: ArrayLike) -> tuple[Floats, Floats]:
    """95 % Student t interval of the mean along the last axis (at least two values), in the unit of the values."""
    with _equal_values_allowed():
        found = scipy.stats.ttest_1samp(np.asarray(values, float), 0, axis=-1).confidence_interval(CONFIDENCE)
    return np.asarray(found.low), np.asarray(found.high)


def t_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The same of one mean; None below two values. Trials are the unit of replication."""
    if len(values) < 2:
        return None
    low, high = interval(values)
    return float(low), float(high)


def p_difference(ln: ArrayLike) -> Floats:
    """Two-sided p of the one-sample t test of mean 0, along the last axis (at least two values).

    Values that all equal 0 are no evidence: 1. Others that are all equal are infinitely many errors away: 0.
    """
    with _equal_values_allowed():
        found = scipy.stats.ttest_1samp(np.asarray(ln, float), 0, axis=-1)
    return np.asarray(np.nan_to_num(found.pvalue, nan=1.0))


def p_equivalence(ln: ArrayLike, margin: float = MARGIN) -> Floats:
    """The larger p of two one-sided t tests, along the last axis: is the mean within +-ln(1 + margin)?

    Schuirmann (1987). Values that all equal a limit are no evidence: 0.5.
    """
    values, limit = np.asarray(ln, float), math.log1p(margin)
    with _equal_values_allowed():
        above = scipy.stats.ttest_1samp(values, -limit, axis=-1, alternative="greater").pvalue
        below = scipy.stats.ttest_1samp(values, limit, axis=-1, alternative="less").pvalue
    return np.asarray(np.nan_to_num(np.maximum(above, below), nan=0.5))


def p_sign_flip(ln: ArrayLike) -> Floats:
    """Two-sided p of the sign-flip test of the mean, along the last axis; it assumes symmetry, not normality.

    Up to 20 values exact: the share of all 2^n choices of signs whose mean is as far from 0 as the given
    one. Above, a Monte-Carlo estimate from 100,000 flips with a fixed seed, (hits + 1) / (flips + 1).
    """
    # scipy.stats.permutation_test says the same, but takes 18 times as long for 6 values and 1,600 times (3 s) for 20,
    # and now and then does not count the given signs, for their rounding: harness/benchmarks/scipy_tests.py.
    values = np.moveaxis(np.asarray(ln, float), -1, 0)
    total = np.abs(values.sum(axis=0))
    reached = total - 1e-9 * np.abs(values).sum(axis=0)  # the given signs count, whatever the rounding
    if len(values) <= EXACT_UP_TO:
        sums = values[:1]  # turning all signs changes nothing, so the first one may stay
        for value in values[1:]:
            sums = np.concatenate([sums + value, sums - value])
        return np.asarray((np.abs(sums) >= reached).mean(axis=0))
    chance = np.random.default_rng(MONTE_CARLO_SEED)
    signs = chance.choice(np.array([-1.0, 1.0]), (MONTE_CARLO_FLIPS, len(values)))
    hits = (np.abs(np.tensordot(signs, values, 1)) >= reached).sum(axis=0)
    return np.asarray((hits + 1) / (MONTE_CARLO_FLIPS + 1))


@cache
def _noncentrality(n: int) -> float:
    """How many standard errors the truth must be away for a power of 80 % at a two-sided 5 %."""
    freedom = n - 1
    critical = float(scipy.stats.t.ppf(1 - ALPHA / 2, freedom))

    def lacking(distance: float) -> float:
        # Far out the tail on the wrong side underflows to nan; it is zero there.
        wrong_side = np.nan_to_num(scipy.stats.nct.cdf(-critical, freedom, distance))
        return float(scipy.stats.nct.sf(critical, freedom, distance) + wrong_side - POWER)

    return float(scipy.optimize.brentq(lacking, 1e-3, 40.0))


def detectable_ratio(sd_ln: float, n: int) -> float | None:
    """The ratio (above 1) that the t test finds with a power of 80 % at a two-sided 5 %; None below two blocks.

    From the noncentral t distribution. sd_ln: of the logarithms; where both sides of a ratio vary by a
    coefficient of variation cv independently, it is sqrt(2) cv. The verdict asks more than the t test where
    blocks are few: at six, all of them must point the same way.
    """
    if n < 2:
        return None
    with np.errstate(over="ignore"):
        return float(np.exp(_noncentrality(n) * sd_ln / math.sqrt(n)))


def compare(ln_ratios: Sequence[float]) -> Ratio:
    """The comparison over blocks. ln_ratios: one ln(x / reference) per block.

    Raises ValueError where one is not finite: a rate of 0 is no measurement to compare.
    """
    return compare_many([ln_ratios])[0]


def compare_many(ln_ratios: ArrayLike) -> list[Ratio]:
    """`compare` for many comparisons with the same number of blocks: shape (comparisons, blocks)."""
    values = np.atleast_2d(np.asarray(ln_ratios, float))
    if not np.isfinite(values).all():
        raise ValueError("the logarithm of a ratio is not finite: a rate or a cost was 0 or missing")
    n = values.shape[-1]
    if n < 2:
        return [
            Ratio(
                ratio=math.exp(one[0]) if n else None,
                interval=None,
                n=n,
                sd_ln=None,
                p_t=None,
                p_sign_flip=None,
                p_equivalent=None,
                detectable_ratio=None,
            )
            for one in values
        ]
    with np.errstate(over="ignore"):
        ratios, (low, high) = np.exp(values.mean(axis=-1)), np.exp(interval(values))
    sds = values.std(axis=-1, ddof=1)
    tests = p_difference(values), p_sign_flip(values), p_equivalence(values)
    return [
        Ratio(
            ratio=float(ratios[i]),
            interval=(float(low[i]), float(high[i])),
            n=n,
            sd_ln=float(sds[i]),
            p_t=float(tests[0][i]),
            p_sign_flip=float(tests[1][i]),
            p_equivalent=float(tests[2][i]),
            detectable_ratio=detectable_ratio(float(sds[i]), n),
        )
        for i in range(len(values))
    ]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's (1979) adjusted p values, in the order given. None (not tested) stays None and does not count."""
    tested = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        adjusted[place] = largest
    return adjusted


def verdicts(ratios: Sequence[Ratio], better: Literal["higher", "lower"] = "higher") -> list[Word]:
    """What may be said about each comparison of one table.

    better: `higher` for a rate (faster, slower), `lower` for a cost (cheaper, dearer). The A/A line of the
    doubled reference is no claim and belongs in no table that is given here.

    `equivalent` where the Holm-adjusted p of equivalence is below 5 %: a real difference inside the margin is
    called that. Else different where the Holm-adjusted p of the t test is below 5 % and the sign-flip p at
    the most 5 %. The smallest sign-flip p is 2 / 2^n: with fewer than six blocks nothing is called different.
    Else `inconclusive`. Below two blocks `too few`. Holm is applied to either kind of claim by itself.
    """
    more, less = _words(better)
    different = holm([ratio.p_t for ratio in ratios])
    equivalent = holm([ratio.p_equivalent for ratio in ratios])
    found: list[Word] = []
    for ratio, p_different, p_equivalent in zip(ratios, different, equivalent, strict=True):
        if ratio.ratio is None or p_different is None or p_equivalent is None or ratio.p_sign_flip is None:
            found.append("too few")
        elif p_equivalent < ALPHA:
            found.append("equivalent")
        elif p_different < ALPHA and ratio.p_sign_flip <= ALPHA:
            found.append(more if ratio.ratio > 1 else less)
        else:
            found.append("inconclusive")
    return found


def verdict(ratio: Ratio, better: Literal["higher", "lower"] = "higher") -> Word:
    """`verdicts` for a comparison that stands alone."""
    return verdicts([ratio], better)[0]


def _words(better: Literal["higher", "lower"]) -> tuple[Word, Word]:
    """The words for a ratio above and below 1."""
    return ("faster", "slower") if better == "higher" else ("dearer", "cheaper")
