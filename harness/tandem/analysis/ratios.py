"""Compares two implementations by the logarithms of their paired ratios. Pure.

One value per block: ln(x / reference), both from fresh starts of the same block. Blocks are the unit of
replication, so what a whole block had in common (a slow host, a warm cache) drops out of the ratio. The
logarithm makes "twice as fast" and "half as fast" the same distance, and swapping the two only turns the sign.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from tandem.analysis.looks import PlannedLook
from tandem.load.rows import Floats as Floats
from tandem.record.part import Number, Part

Better = Literal["higher", "lower", "quicker"]
"""What is better of a rate, a cost, a time."""
Word = Literal["faster", "slower", "cheaper", "dearer", "equivalent", "inconclusive", "too few"]

CONFIDENCE = 0.95
ALPHA = 0.05
MARGIN = 0.03
"""A difference that is smaller than this does not matter."""
NO_WINNER = 1.10
"""A ratio whose interval lies within this and its reciprocal has no winner."""
BLOCKS_LEAST = 6
"""Fewest blocks to call anything different: the scatter of fewer values says little of the next ones."""
ONE_LOOK = PlannedLook()
ROUNDING = 1e-9
"""Ends of an interval that differ by no more than this share differ by rounding alone."""
EXACT_UP_TO = 20
MONTE_CARLO_FLIPS, MONTE_CARLO_SEED = 100_000, 20261121


class Ratio(Part):
    """A comparison over n blocks. Below two blocks all but the ratio is null; without any, the ratio too."""

    ratio: Number | None
    """Geometric mean over the blocks."""
    interval: tuple[Number, Number] | None
    """95 % Student t interval. Where it was looked more than once: one of those that hold the truth at all looks
    together with 95 %, so the earlier, the wider. Where the control failed, it is wider by what that showed; the tests
    below follow it."""
    n: int
    sd_ln: Number | None
    """Standard deviation of the logarithms: for small values the run-to-run variation of the ratio as a share. Where the
    scatter of the first blocks decided how many there are: that of the later ones."""
    p_t: Number | None
    """Two-sided t test of no difference."""
    p_sign_flip: Number | None
    """Two-sided sign-flip test: exact up to 20 blocks, above by 100,000 seeded random flips."""
    p_equivalent: Number | None
    """Two one-sided t tests of a difference of at least the margin."""
    detectable_ratio: Number | None
    """The smallest ratio above 1 that the verdict finds with a power of 80 %, by the same test, with its correction and
    over all looks; its reciprocal is as detectable. Null where there are too few blocks for any."""


def _mean_and_error(values: ArrayLike) -> tuple[Floats, Floats, int]:
    """The mean along the last axis (at least two values), its standard error, and the degrees of freedom. What follows from
    them here is what scipy.stats.ttest_1samp says, which takes a millisecond each time to look at its arguments."""
    given = np.asarray(values, float)
    n = given.shape[-1]
    return given.mean(axis=-1), given.std(axis=-1, ddof=1) / math.sqrt(n), n - 1


def _p_below(distance: Floats, error: Floats, freedom: int) -> Floats:
    """Probability of Student's t below distance / error; NaN where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(scipy.special.stdtr(freedom, distance / error))


def interval(values: ArrayLike, confidence: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """Student t interval of the mean along the last axis (at least two values), in the unit of the values."""
    mean, error, freedom = _mean_and_error(values)
    half = error * scipy.special.stdtrit(freedom, (1 + confidence) / 2)
    return np.asarray(mean - half), np.asarray(mean + half)


def t_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Student t interval of one mean; None below two values. Trials are the unit of replication."""
    if len(values) < 2:
        return None
    low, high = interval(values)
    return float(low), float(high)


def no_width(interval: tuple[float, float]) -> bool:
    """Whether the blocks did not differ at all, but for rounding. Such an interval does not say how exact a figure is: it
    leaves out what all blocks share."""
    low, high = interval
    return math.isclose(low, high, rel_tol=ROUNDING)


def beside_published(
    published: float, interval: tuple[float, float]
) -> Literal["smaller", "as published", "larger"]:
    """How a difference compares to the published one. `as published` where the published ratio lies within our interval or no
    farther from it than the margin: where a timer paces the rates, the interval may have almost no width, and leaves out by how
    much the count of a whole window is off."""
    low, high = interval
    if low / (1 + MARGIN) <= published <= high * (1 + MARGIN):
        return "as published"
    nearer = high < published if published > 1 else low > published
    return "smaller" if nearer else "larger"


def p_difference(ln: ArrayLike) -> Floats:
    """Two-sided p of the one-sample t test of mean 0, along the last axis (at least two values).

    Values that all equal 0 are no evidence: 1. Others that are all equal are infinitely many errors away: 0.
    """
    mean, error, freedom = _mean_and_error(ln)
    return np.asarray(np.nan_to_num(2 * _p_below(-np.abs(mean), error, freedom), nan=1.0))


def p_equivalence(ln: ArrayLike, margin: float = MARGIN) -> Floats:
    """The larger p of two one-sided t tests, along the last axis: is the mean within +-ln(1 + margin)?

    Schuirmann (1987). Values that all equal a limit are no evidence: 0.5.
    """
    (mean, error, freedom), limit = _mean_and_error(ln), math.log1p(margin)
    above, below = (_p_below(distance, error, freedom) for distance in (-limit - mean, mean - limit))
    return np.asarray(np.nan_to_num(np.maximum(above, below), nan=0.5))


def p_sign_flip(ln: ArrayLike) -> Floats:
    """Two-sided p of the sign-flip test of the mean, along the last axis; it assumes symmetry, not normality.

    Up to 20 values exact: the share of all 2^n choices of signs whose mean is as far from 0 as the given
    one. Above, a Monte-Carlo estimate from 100,000 flips with a fixed seed, (hits + 1) / (flips + 1).
    """
    # scipy.stats.permutation_test says the same, but takes 18 times as long for 6 values and 1,600 times (3 s) for 20,
    # and now and then does not count the given signs, for their rounding.
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


def detectable_ratio(
    sd_ln: float, n: int, look: PlannedLook = ONE_LOOK, alpha: float = ALPHA, widened_ln: float = 0.0
) -> float | None:
    """The ratio (above 1) that the t test finds with a power of 80 % at a two-sided alpha; None below two blocks.

    sd_ln: of the logarithms; where both sides of a ratio vary by a coefficient of variation cv independently, it is
    sqrt(2) cv. look: with further looks planned it is the effect of them all. widened_ln: as `compare` has it.
    """
    if n < 2:
        return None
    with np.errstate(over="ignore"):
        return float(np.exp(look.detectable(n, alpha) * sd_ln + widened_ln))


def compare(
    ln_ratios: Sequence[float], look: PlannedLook = ONE_LOOK, family: int = 1, widened_ln: float = 0.0
) -> Ratio:
    """The comparison over blocks. ln_ratios: one ln(x / reference) per block. family: so many comparisons share the 5 %.
    widened_ln: by so much all blocks may be off alike (tandem.analysis.control): either end of the interval moves out by
    it, a difference is one from the nearest value that this allows, and the margin is narrower by it.

    Raises ValueError where one is not finite: a rate of 0 is no measurement to compare.
    """
    return compare_many([ln_ratios], look, family, widened_ln)[0]


def compare_many(
    ln_ratios: ArrayLike, look: PlannedLook = ONE_LOOK, family: int = 1, widened_ln: float = 0.0
) -> list[Ratio]:
    """`compare` for many comparisons with the same number of blocks: shape (comparisons, blocks)."""
    values = np.atleast_2d(np.asarray(ln_ratios, float))
    if not np.isfinite(values).all():
        raise ValueError("the logarithm of a ratio is not finite: a rate or a cost was 0 or missing")
    n = values.shape[-1]
    if n - look.left_out < 2:
        unknown = dict.fromkeys(Ratio.model_fields.keys() - {"ratio", "n"})
        return [Ratio(ratio=math.exp(one.mean()) if n else None, n=n, **unknown) for one in values]
    later, tested = values[..., look.left_out :], values
    means, sds = values.mean(axis=-1), later.std(axis=-1, ddof=1)
    if look.left_out:
        # Their t test is that of the mean of all with the scatter of those behind the first ones.
        from_mean = later - later.mean(axis=-1, keepdims=True)
        tested = means[..., None] + from_mean * math.sqrt(later.shape[-1] / n)
    low, high = interval(tested, 1 - look.level(ALPHA))
    with np.errstate(over="ignore"):
        ratios = np.exp([means, low - widened_ln, high + widened_ln])

    def nearest(of: Floats) -> Floats:
        """The values, moved until their mean is as near to 0 as it may be; all 0 where it may be nothing."""
        off = np.abs(means) > widened_ln
        return np.where(off[..., None], of - widened_ln * np.sign(means)[..., None], 0.0)

    margin = math.expm1(math.log1p(MARGIN) - widened_ln)
    tests = p_difference(nearest(tested)), p_sign_flip(nearest(values)), p_equivalence(tested, margin)
    decides, share = n >= BLOCKS_LEAST or not look.last, ALPHA / family
    return [
        Ratio(
            ratio=ratio,
            interval=(least, most),
            n=n,
            sd_ln=sd,
            p_t=p_t,
            p_sign_flip=p_flip,
            p_equivalent=p_equivalent,
            detectable_ratio=detectable_ratio(sd, n, look, share, widened_ln) if decides else None,
        )
        for ratio, least, most, sd, p_t, p_flip, p_equivalent in np.array([*ratios, sds, *tests]).T.tolist()
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


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Benjamini and Hochberg's (1995) adjusted p values, in the order given. None stays None and does not count."""
    known = [p for p in p_values if p is not None]
    adjusted = iter(scipy.stats.false_discovery_control(known).tolist() if known else ())
    return [None if p is None else next(adjusted) for p in p_values]


class Decision(NamedTuple):
    """What may be said about one comparison of a family."""

    word: Word
    p_adjusted: float | None
    """The p value of no difference, by Holm over the family and over all looks."""
    within_margin: bool
    """The whole difference lies within the margin, also one that was found."""


def decide(ratios: Sequence[Ratio], better: Sequence[Better], look: PlannedLook = ONE_LOOK) -> list[Decision]:
    """What may be said about each comparison of a family that shares the 5 %.

    better: of each, `higher` for a rate (faster, slower), `lower` for a cost (cheaper, dearer), `quicker` for a time. The A/A line of the
    doubled reference is no claim and belongs in no family that is given here.

    Different where the Holm-adjusted p of the t test is below 5 % and there are six blocks. Within the margin where the
    Holm-adjusted p of equivalence is below 5 %; both may be true of one comparison. `equivalent`: within the margin, and
    no difference was found. Else `inconclusive`; below two blocks `too few`. Holm is applied to either kind of claim by
    itself, after each p was brought from its look to the whole comparison.
    """
    different = holm([None if r.p_t is None else look.overall(r.p_t) for r in ratios])
    equivalent = holm(
        [None if r.p_equivalent is None else look.overall_one_sided(r.p_equivalent) for r in ratios]
    )
    found = []
    for ratio, direction, p_t, p_same in zip(ratios, better, different, equivalent, strict=True):
        if ratio.ratio is None or p_t is None or p_same is None:
            found.append(Decision("too few", None, False))
            continue
        within = p_same < ALPHA
        word: Word = "equivalent" if within else "inconclusive"
        if p_t < ALPHA and ratio.n >= BLOCKS_LEAST:
            word = WORDS[direction][0 if ratio.ratio > 1 else 1]
        found.append(Decision(word, p_t, within))
    return found


def verdicts(ratios: Sequence[Ratio], better: Better = "higher") -> list[Word]:
    """`decide` for the comparisons of one metric, in words."""
    return [one.word for one in decide(ratios, [better] * len(ratios))]


def verdict(ratio: Ratio, better: Better = "higher") -> Word:
    """`verdicts` for a comparison that stands alone."""
    return verdicts([ratio], better)[0]


WORDS: dict[Better, tuple[Word, Word]] = {
    "higher": ("faster", "slower"),
    "lower": ("dearer", "cheaper"),
    "quicker": ("slower", "faster"),
}
"""Words for a ratio above 1, and below."""
