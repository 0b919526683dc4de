"""Simulations with a known truth against the code that compares variants. Pure, seeded, a few seconds in all."""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy

from tandem.analysis import looks, ratios
from tandem.analysis.ratios import Floats
from tandem.record.selftest import Outcome
from tandem.selftest import series
from tandem.selftest.known_answer import KnownAnswer, percent

GROUP = "statistics"
SETS = 20_000
VERDICT_SETS = 4000
SEED = 20261121
BLOCKS = (5, 6, 10, 20)
COVERAGE = (0.94, 0.97)
ERROR_SLACK = 0.01
"""On a rate of 5 %: three standard errors of 4,000 simulated sets."""
TRUTH = math.log(1.04)
Noise = Literal["normal", "t3"]


def noise(kind: Noise, sets: int, blocks: int, sd: float = 0.02) -> Floats:
    """Logarithms of ratios whose truth is 1, shape (sets, blocks). t3: Student's t with 3 degrees, unscaled."""
    chance = np.random.default_rng([SEED, blocks, kind == "t3"])
    if kind == "normal":
        return chance.normal(0, sd, (sets, blocks))
    return sd * chance.standard_t(3, (sets, blocks))


def covered(low: Floats, high: Floats) -> float:
    """Share of the intervals that contain the truth."""
    return float(((low <= TRUTH) & (high >= TRUTH)).mean())


def coverage(kind: Noise, blocks: int, sets: int = SETS) -> float:
    """Share of the shipped t intervals that contain the truth."""
    return covered(*ratios.interval(TRUTH + noise(kind, sets, blocks)))


def bootstrap_coverage(kind: Noise, blocks: int, sets: int = 2000, resamples: int = 999) -> float:
    """Share of percentile bootstrap intervals that contain the truth: too small, so they are not used."""
    ln = TRUTH + noise(kind, sets, blocks)
    drawn = scipy.stats.bootstrap(
        (ln,), np.mean, axis=-1, n_resamples=resamples, method="percentile", rng=np.random.default_rng(SEED)
    )
    low, high = drawn.confidence_interval
    return covered(np.asarray(low), np.asarray(high))


def claims(ln: Floats, *words: ratios.Word) -> float:
    """Share of comparisons, each by itself, whose verdict is one of `words`."""
    return float(np.mean([ratios.verdict(ratio) in words for ratio in ratios.compare_many(ln)]))


def normal_quantile_claims(ln: Floats) -> float:
    """Share that a z test would call different: 1.96 in place of Student's quantile."""
    return float(
        (np.abs(scipy.stats.ttest_1samp(ln, 0, axis=-1).statistic) > scipy.stats.norm.ppf(0.975)).mean()
    )


def interval_coverage(kind: Noise) -> Outcome:
    """Intervals of 5 to 20 blocks."""
    return KnownAnswer(
        name=f"interval-coverage-{kind}",
        group=GROUP,
        expected="95 % of the intervals contain the truth",
        tolerance="94 % to 97 %",
        right=lambda found: all(COVERAGE[0] <= share <= COVERAGE[1] for share in found.values()),
        shown=percent,
        broken="percentile bootstrap",
    ).judged({n: coverage(kind, n) for n in BLOCKS}, {5: bootstrap_coverage(kind, 5)})


def false_difference() -> Outcome:
    """Noise so large that nothing is called equivalent: all that is claimed is a false difference."""
    return KnownAnswer(
        name="false-difference",
        group=GROUP,
        expected="at most 5 % of equal pairs are called faster or slower, none with 5 blocks",
        tolerance="+1 %",
        right=lambda found: max(found.values()) <= 0.05 + ERROR_SLACK and found.get(5, 0) == 0,
        shown=percent,
        broken="normal quantile in place of Student's",
        caught=lambda found: max(found.values()) > 0.05 + ERROR_SLACK,
    ).judged(
        {n: claims(noise("normal", VERDICT_SETS, n, 0.2), "faster", "slower") for n in (5, 6, 10, 12)},
        {6: normal_quantile_claims(noise("normal", VERDICT_SETS, 6, 0.2))},
    )


def false_equivalence() -> Outcome:
    """The truth lies on the margin, where equivalence is just not true and most easily claimed."""
    margin = math.log1p(ratios.MARGIN)
    loud = ratios.p_difference(margin + noise("normal", VERDICT_SETS, 6, 0.05))
    return KnownAnswer(
        name="false-equivalence",
        group=GROUP,
        expected="at most 5 % of pairs that differ by the margin are called equivalent",
        tolerance="+1 %",
        right=lambda found: max(found.values()) <= 0.05 + ERROR_SLACK,
        shown=percent,
        broken="'not significant' taken for 'equivalent'",
    ).judged(
        {n: claims(margin + noise("normal", VERDICT_SETS, n, 0.01), "equivalent") for n in (6, 10, 12)},
        {6: float((loud > 0.05).mean())},
    )


def detectable_power() -> Outcome:
    """Share of differences as large as the printed minimum that the t test finds."""
    sd = 0.05

    def power(blocks: int, effect: float) -> float:
        return float((ratios.p_difference(effect + noise("normal", SETS, blocks, sd)) < ratios.ALPHA).mean())

    quantiles = float(scipy.stats.norm.ppf(0.975) + scipy.stats.norm.ppf(looks.POWER))
    return KnownAnswer(
        name="power-at-the-detectable-effect",
        group=GROUP,
        expected="the t test finds the stated minimum detectable effect 80 % of the time",
        tolerance="+-1.5 %",
        right=lambda found: all(abs(share - looks.POWER) <= 0.015 for share in found.values()),
        shown=percent,
        broken="effect from the normal quantiles",
    ).judged(
        {n: power(n, math.log(ratios.detectable_ratio(sd, n) or 1)) for n in (6, 10, 20)},
        {6: power(6, quantiles * sd / math.sqrt(6))},
    )


def family_error() -> Outcome:
    """Tables of eight comparisons in which nothing differs: how many contain a claim that something does?"""
    tables, rows = 500, 8
    limit = 0.05 + 0.03  # three standard errors of 500 tables
    flat = ratios.compare_many(noise("normal", tables * rows, 10, 0.2))
    groups = [flat[i : i + rows] for i in range(0, len(flat), rows)]
    different = {"faster", "slower"}
    return KnownAnswer[float](
        name="family-error",
        group=GROUP,
        expected="at most 5 % of tables of 8 equal pairs contain a false difference",
        tolerance="+3 %",
        right=lambda share: share <= limit,
        shown=lambda share: f"{share:.1%}",
        broken="without Holm's adjustment",
    ).judged(
        float(np.mean([bool(different & set(ratios.verdicts(table))) for table in groups])),
        float(np.mean([bool(different & {ratios.verdict(r) for r in table}) for table in groups])),
    )


def checks() -> list[Callable[[], Outcome]]:
    """The checks of this module and of `series`."""
    return [
        lambda: interval_coverage("normal"),
        lambda: interval_coverage("t3"),
        false_difference,
        false_equivalence,
        detectable_power,
        family_error,
        *series.checks(),
    ]
