"""Simulations with a known truth against the code that compares variants, and that judges or draws series. Pure, seeded, a few seconds."""

import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
import scipy

from tandem.analysis import looks, ratios
from tandem.analysis.alternation import alternation
from tandem.analysis.ratios import Floats
from tandem.judge.steady import AUTOCORRELATION, BUCKETS, DRIFT_LIMIT, steady
from tandem.record.selftest import Outcome
from tandem.selftest.known_answer import KnownAnswer, percent

SEED = 20261121
NOISES = (0.01, 0.02, 0.05, 0.10)
FALSE_ALARMS, CAUGHT = 0.05, 0.90
SECONDS = (6, 10, BUCKETS)
"""Lengths of a series: in `compare`, in `bench` of the plan quick, and in longer plans."""
SERIES = 400
_SPAN = np.arange(BUCKETS)


def shape(kind: str, size: float) -> Floats:
    """A level of 1 000 that rises by `size`: over the whole span, or at second 10, 15 or 20."""
    if kind == "ramp":
        return np.asarray(1000 * (1 + size * _SPAN / (BUCKETS - 1)))
    return np.asarray(1000 * (1 + size * (int(kind.removeprefix("step-")) <= _SPAN)))


SHAPES = [
    (kind, size) for kind in ("ramp", "step-10", "step-15", "step-20") for size in (0.1, 0.2, -0.1, -0.2)
]


def simulated(
    level: Floats | float,
    variation: float,
    series: int,
    seed: int = SEED,
    autocorrelation: float = AUTOCORRELATION,
) -> Floats:
    """Series around a level, shape (series, seconds), whose neighbouring seconds are as alike as real ones."""
    noise = np.random.default_rng(seed).standard_normal((series, BUCKETS))
    for second in range(1, BUCKETS):
        fresh = math.sqrt(1 - autocorrelation**2) * noise[:, second]
        noise[:, second] = autocorrelation * noise[:, second - 1] + fresh
    return np.asarray(level * (1 + variation * noise))


def _alarms(series: Floats, seconds: int = BUCKETS) -> float:
    return float(np.mean([not steady(one[:seconds], least=seconds).steady for one in series]))


def false_alarms() -> Outcome:
    """Steady series, by their variation; without the interval a slope of 2 % is mere noise."""
    alarms = {
        f"{seconds} s": max(_alarms(simulated(1000.0, noise, SERIES), seconds) for noise in NOISES)
        for seconds in SECONDS
    }
    plain = [steady(one, least=BUCKETS).drift_share or 0 for one in simulated(1000.0, 0.05, SERIES)]
    broken = float(np.mean(np.abs(plain) > DRIFT_LIMIT))
    return KnownAnswer[dict[str, float]](
        name="steady-false-alarms",
        expected=f"steady series of 6 to 30 s with a variation of 1 to 10 % and an autocorrelation of {AUTOCORRELATION}"
        " are called steady",
        tolerance="under 5 %",
        right=lambda found: max(found.values()) < FALSE_ALARMS,
        shown=lambda found: (
            "alarms at most in " + ", in ".join(f"{at}: {of:.1%}" for at, of in found.items())
        ),
        broken="slope limit without the interval, at a variation of 5 %",
    ).judged(alarms, {f"{BUCKETS} s": broken})


def unsteady_caught() -> Outcome:
    """Ramps and steps at 2 % variation; in a random order the same seconds have neither."""
    series = {
        f"{kind} {size:+.0%}": simulated(shape(kind, size), 0.02, SERIES // 4, place)
        for place, (kind, size) in enumerate(SHAPES)
    }
    mixed = np.random.default_rng(SEED).permuted(series["ramp +10%"], axis=1)
    shorter = {
        f"{size:.0%} at {noise:.0%} in {seconds} s": _alarms(
            simulated(shape(f"step-{seconds // 2}", size), noise, SERIES // 2), seconds
        )
        for size, noise in ((0.2, 0.02), (0.4, 0.05))
        for seconds in SECONDS
    }
    beside = ", ".join(f"{what}: {share:.0%}" for what, share in shorter.items())
    least, name = min((_alarms(one), name) for name, one in series.items())
    return KnownAnswer[tuple[float, str, str]](
        name="unsteady-caught",
        expected="ramps and steps of 10 and 20 % are caught at a variation of 2 %",
        tolerance="over 90 % in 30 s",
        right=lambda found: found[0] > CAUGHT,
        shown=lambda found: "{:.0%} ({}){}".format(*found),
        broken="the seconds of a ramp in a random order",
    ).judged((least, name, f"; steps of {beside}"), (_alarms(mixed), "ramp +10%", ""))


def position_p(orders: list[list[str]]) -> float:
    """Chi-square p of variant x position: small where a position is one variant's more often."""
    counts = Counter((name, place) for order in orders for place, name in enumerate(order))
    names = sorted(orders[0])
    return float(
        scipy.stats.chi2_contingency(
            [[counts[name, place] + 1 for place in range(len(names))] for name in names]
        ).pvalue
    )


def alternation_positions() -> Outcome:
    """The orders in which variants take turns, over 500 seeds."""
    blocks = [block for seed in range(500) for block in alternation(["a", "b", "c", "a~2"], 4, 2, seed)]
    # Only the first of each pair is drawn; its reverse is not independent of it.
    drawn = [order for block in blocks for order in block.rounds[::2]]
    mirrored = all(a == b[::-1] for block in blocks for a, b in list(pairwise(block.rounds))[::2])
    complete = all(sorted(r) == ["a", "a~2", "b", "c"] for b in blocks for r in b.rounds)
    return KnownAnswer[dict[str, float]](
        name="alternation-positions",
        expected="complete rounds, each second one reversed, every position equally often",
        tolerance="p > 0.01",
        right=lambda found: mirrored and complete and min(found.values()) > 0.01,
        shown=lambda found: "chi-square p " + ", ".join(f"{p:.2g} ({what})" for what, p in found.items()),
        broken="never shuffled",
        caught=lambda found: min(found.values()) <= 0.01,
    ).judged(
        {"rounds": position_p(drawn), "starts": position_p([block.starts for block in blocks])},
        {"rounds": position_p([sorted(order) for order in drawn])},
    )


SETS = 20_000
VERDICT_SETS = 4000
BLOCKS = (5, 6, 10, 20)
COVERAGE = (0.94, 0.97)
ERROR_SLACK = 0.01
"""Slack on a rate of 5 %: three standard errors of 4,000 simulated sets."""
TRUTH = math.log(1.04)
Noise = Literal["normal", "t3"]
NOISE_KINDS: tuple[Noise, ...] = get_args(Noise)


def noise(kind: Noise, sets: int, blocks: int, sd: float = 0.02) -> Floats:
    """Logarithms of ratios whose truth is 1, shape (sets, blocks). t3: Student's t with 3 degrees, unscaled."""
    chance = np.random.default_rng([SEED, blocks, kind == "t3"])
    if kind == "normal":
        return chance.normal(0, sd, (sets, blocks))
    return sd * chance.standard_t(3, (sets, blocks))


def covered(low: Floats, high: Floats) -> float:
    """Share of the intervals that contain the truth."""
    return float(((low <= TRUTH) & (high >= TRUTH)).mean())


def bootstrap_coverage(kind: Noise, blocks: int, sets: int = 2000) -> float:
    """Share of percentile bootstrap intervals that contain the truth: too small, so they are not used."""
    ln = TRUTH + noise(kind, sets, blocks)
    drawn = scipy.stats.bootstrap(
        (ln,), np.mean, axis=-1, n_resamples=999, method="percentile", rng=np.random.default_rng(SEED)
    )
    low, high = drawn.confidence_interval
    return covered(np.asarray(low), np.asarray(high))


def claims(ln: Floats, *words: ratios.Word) -> float:
    """Share of comparisons, each by itself, whose verdict is one of `words`."""
    return float(np.mean([ratios.verdict(ratio) in words for ratio in ratios.compare_many(ln)]))


def interval_coverage(kind: Noise) -> Outcome:
    """Intervals of 5 to 20 blocks."""
    return KnownAnswer(
        name=f"interval-coverage-{kind}",
        expected="95 % of the intervals contain the truth",
        tolerance="94 % to 97 %",
        right=lambda found: all(COVERAGE[0] <= share <= COVERAGE[1] for share in found.values()),
        shown=percent,
        broken="percentile bootstrap",
    ).judged(
        {n: covered(*ratios.interval(TRUTH + noise(kind, SETS, n))) for n in BLOCKS},
        {5: bootstrap_coverage(kind, 5)},
    )


def false_difference() -> Outcome:
    """Noise so large that nothing is called equivalent: all that is claimed is a false difference."""
    z = scipy.stats.ttest_1samp(noise("normal", VERDICT_SETS, 6, 0.2), 0, axis=-1).statistic
    return KnownAnswer(
        name="false-difference",
        expected="at most 5 % of equal pairs are called faster or slower, none with 5 blocks",
        tolerance="+1 %",
        right=lambda found: max(found.values()) <= 0.05 + ERROR_SLACK and found.get(5, 0) == 0,
        shown=percent,
        broken="normal quantile in place of Student's",
        caught=lambda found: max(found.values()) > 0.05 + ERROR_SLACK,
    ).judged(
        {n: claims(noise("normal", VERDICT_SETS, n, 0.2), "faster", "slower") for n in (5, 6, 10, 12)},
        {6: float((np.abs(z) > scipy.stats.norm.ppf(0.975)).mean())},
    )


def false_equivalence() -> Outcome:
    """The truth lies on the margin, where equivalence is just not true and most easily claimed."""
    margin = math.log1p(ratios.MARGIN)
    loud = ratios.p_difference(margin + noise("normal", VERDICT_SETS, 6, 0.05))
    return KnownAnswer(
        name="false-equivalence",
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
        expected="at most 5 % of tables of 8 equal pairs contain a false difference",
        tolerance="+3 %",
        right=lambda share: share <= limit,
        shown=lambda share: f"{share:.1%}",
        broken="without Holm's adjustment",
    ).judged(
        float(np.mean([bool(different & set(ratios.verdicts(table))) for table in groups])),
        float(np.mean([bool(different & {ratios.verdict(r) for r in table}) for table in groups])),
    )


CHECKS: tuple[Callable[[], Outcome], ...] = (
    *(partial(interval_coverage, kind) for kind in NOISE_KINDS),
    *(false_difference, false_equivalence, detectable_power, family_error),
    *(false_alarms, unsteady_caught, alternation_positions),
)
