"""Simulations with a known truth against the code that compares. Pure, seeded, a few seconds in all."""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy

from tandem.analysis import looks, ratios
from tandem.analysis.ratios import Floats
from tandem.record.outcome import Outcome
from tandem.selftest import series

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
    """How often the shipped t interval contains the truth."""
    return covered(*ratios.interval(TRUTH + noise(kind, sets, blocks)))


def bootstrap_coverage(kind: Noise, blocks: int, sets: int = 2000, resamples: int = 999) -> float:
    """The same for the percentile bootstrap, which is not used because of this."""
    ln = TRUTH + noise(kind, sets, blocks)
    drawn = scipy.stats.bootstrap(
        (ln,), np.mean, axis=-1, n_resamples=resamples, method="percentile", rng=np.random.default_rng(SEED)
    )
    low, high = drawn.confidence_interval
    return covered(np.asarray(low), np.asarray(high))


def claims(ln: Floats, *words: ratios.Word) -> float:
    """Share of comparisons, each standing alone, about which one of `words` is said."""
    return float(np.mean([ratios.verdict(ratio) in words for ratio in ratios.compare_many(ln)]))


def normal_quantile_claims(ln: Floats) -> float:
    """Share that a z test would call different: 1.96 in place of Student's quantile."""
    return float(
        (np.abs(scipy.stats.ttest_1samp(ln, 0, axis=-1).statistic) > scipy.stats.norm.ppf(0.975)).mean()
    )


def _percent(shares: dict[int, float]) -> str:
    return ", ".join(f"n = {n}: {share:.1%}" for n, share in shares.items())


def interval_coverage(kind: Noise) -> Outcome:
    measured = {n: coverage(kind, n) for n in BLOCKS}
    broken = bootstrap_coverage(kind, 5)
    return Outcome(
        name=f"interval-coverage-{kind}",
        group=GROUP,
        expected="95 % of the intervals contain the truth",
        measured=_percent(measured),
        tolerance="94 % to 97 %",
        passed=all(COVERAGE[0] <= share <= COVERAGE[1] for share in measured.values()),
        negative_control=f"percentile bootstrap at n = 5: {broken:.1%}",
        negative_control_failed=not COVERAGE[0] <= broken <= COVERAGE[1],
    )


def false_difference() -> Outcome:
    """Noise so large that nothing is called equivalent: all that is claimed is a false difference."""
    measured = {n: claims(noise("normal", VERDICT_SETS, n, 0.2), "faster", "slower") for n in (5, 6, 10, 12)}
    broken = normal_quantile_claims(noise("normal", VERDICT_SETS, 6, 0.2))
    return Outcome(
        name="false-difference",
        group=GROUP,
        expected="at most 5 % of equal pairs are called faster or slower, none with 5 blocks",
        measured=_percent(measured),
        tolerance="+1 %",
        passed=max(measured.values()) <= 0.05 + ERROR_SLACK and measured[5] == 0,
        negative_control=f"normal quantile in place of Student's at n = 6: {broken:.1%}",
        negative_control_failed=broken > 0.05 + ERROR_SLACK,
    )


def false_equivalence() -> Outcome:
    """The truth lies on the margin, where equivalence is just not true and most easily claimed."""
    margin = math.log1p(ratios.MARGIN)
    measured = {n: claims(margin + noise("normal", VERDICT_SETS, n, 0.01), "equivalent") for n in (6, 10, 12)}
    loud = ratios.p_difference(margin + noise("normal", VERDICT_SETS, 6, 0.05))
    broken = float((loud > 0.05).mean())
    return Outcome(
        name="false-equivalence",
        group=GROUP,
        expected="at most 5 % of pairs that differ by the margin are called equivalent",
        measured=_percent(measured),
        tolerance="+1 %",
        passed=max(measured.values()) <= 0.05 + ERROR_SLACK,
        negative_control=f"'not significant' taken for 'equivalent' at n = 6: {broken:.1%}",
        negative_control_failed=broken > 0.05 + ERROR_SLACK,
    )


def _power(blocks: int, effect: float, sd: float) -> float:
    return float((ratios.p_difference(effect + noise("normal", SETS, blocks, sd)) < ratios.ALPHA).mean())


def detectable_power() -> Outcome:
    sd = 0.05
    measured = {n: _power(n, math.log(ratios.detectable_ratio(sd, n) or 1), sd) for n in (6, 10, 20)}
    quantiles = scipy.stats.norm.ppf(0.975) + scipy.stats.norm.ppf(looks.POWER)
    broken = _power(6, float(quantiles) * sd / math.sqrt(6), sd)
    return Outcome(
        name="power-at-the-detectable-effect",
        group=GROUP,
        expected="the t test finds the stated minimum detectable effect 80 % of the time",
        measured=_percent(measured),
        tolerance="+-1.5 %",
        passed=all(abs(share - looks.POWER) <= 0.015 for share in measured.values()),
        negative_control=f"effect from the normal quantiles at n = 6: {broken:.1%}",
        negative_control_failed=abs(broken - looks.POWER) > 0.015,
    )


def family_error() -> Outcome:
    """Tables of eight comparisons in which nothing differs: how many contain a claim that something does?"""
    tables, rows = 500, 8
    flat = ratios.compare_many(noise("normal", tables * rows, 10, 0.2))
    groups = [flat[i : i + rows] for i in range(0, len(flat), rows)]
    different = {"faster", "slower"}
    measured = float(np.mean([bool(different & set(ratios.verdicts(table))) for table in groups]))
    broken = float(np.mean([bool(different & {ratios.verdict(r) for r in table}) for table in groups]))
    limit = 0.05 + 0.03  # three standard errors of 500 tables
    return Outcome(
        name="family-error",
        group=GROUP,
        expected="at most 5 % of tables of 8 equal pairs contain a false difference",
        measured=f"{measured:.1%}",
        tolerance="+3 %",
        passed=measured <= limit,
        negative_control=f"without Holm's adjustment: {broken:.1%}",
        negative_control_failed=broken > limit,
    )


def checks() -> list[Callable[[], Outcome]]:
    """Everything in this module and in `series`."""
    return [
        lambda: interval_coverage("normal"),
        lambda: interval_coverage("t3"),
        false_difference,
        false_equivalence,
        detectable_power,
        family_error,
        *series.checks(),
    ]
