"""tandem.analysis.ratios: paired comparison on log ratios, and what is said about it."""

import itertools
import math
import warnings

import numpy as np
import pytest
from harness_samples import PROPERTY, there
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tandem.analysis.looks import PlannedLook
from tandem.analysis.ratios import (
    Ratio,
    benjamini_hochberg,
    compare,
    compare_many,
    decide,
    detectable_ratio,
    holm,
    interval,
    p_difference,
    p_equivalence,
    p_sign_flip,
    t_interval,
    verdict,
    verdicts,
)

LN = st.floats(-2, 2).map(lambda value: round(value, 6))
SETS = st.lists(LN, min_size=2, max_size=9)


def test_the_interval_of_a_mean() -> None:
    """How often it covers the truth: tandem.selftest.statistics."""
    # mean 12, deviations -2 0 2: s = 2, half-width = 4.303 x 2 / sqrt(3) = 4.968
    assert t_interval([10.0, 12.0, 14.0]) == pytest.approx((7.032, 16.968), abs=0.002)
    assert t_interval([3.0]) is t_interval([]) is None


def test_an_example_computed_by_hand() -> None:
    # ln: mean 0.02, deviations -0.01 0 0.01: s = 0.01, half-width 4.303 x 0.01 / sqrt(3) = 0.02484
    found = compare([0.01, 0.02, 0.03])
    assert found.ratio == pytest.approx(math.exp(0.02))
    assert found.interval == pytest.approx((math.exp(-0.00484), math.exp(0.04484)), abs=1e-4)
    assert found.sd_ln == pytest.approx(0.01)
    assert found.p_sign_flip == 2 / 8
    # t = 3.464 at 2 degrees: p = 1 - 3.464 / sqrt(2 + 12) = 0.0742
    assert found.p_t == pytest.approx(0.0742, abs=1e-4)
    # the nearer limit: (0.02956 - 0.02) / 0.005774 = 1.656; one-sided 0.5 x (1 - 1.656 / sqrt(2 + 1.656^2))
    assert found.p_equivalent == pytest.approx(0.1198, abs=1e-3)


@PROPERTY
@given(SETS)
def test_swapping_the_sides_turns_the_ratio_over(ln: list[float]) -> None:
    one, other = compare(ln), compare([-value for value in ln])
    low, high = there(one.interval)
    assert other.ratio == pytest.approx(1 / there(one.ratio))
    assert other.interval == pytest.approx((1 / high, 1 / low))
    assert (other.p_t, other.p_sign_flip, other.p_equivalent) == pytest.approx(
        (one.p_t, one.p_sign_flip, one.p_equivalent)
    )


def by_the_textbook(ln: list[float], margin: float) -> tuple[float, float, float, float]:
    """p of no difference, p of equivalence, both ends of the interval: mean / (s / sqrt(n)) is Student's t."""
    n, mean = len(ln), math.fsum(ln) / len(ln)
    error = math.sqrt(math.fsum((value - mean) ** 2 for value in ln) / (n - 1) / n)
    student, limit = stats.t(n - 1), math.log1p(margin)
    half = student.ppf(0.975) * error
    nearer = (limit - abs(mean)) / error
    return 2 * student.sf(abs(mean) / error), student.sf(nearer), mean - half, mean + half


@PROPERTY
@given(SETS, st.floats(0.001, 0.5))
def test_the_t_tests_are_the_textbooks(ln: list[float], margin: float) -> None:
    if np.std(ln) > 1e-6:
        found = (p_difference(ln), p_equivalence(ln, margin), *interval(ln))
        assert found == pytest.approx(by_the_textbook(ln, margin), rel=1e-9, abs=1e-12)


def test_values_that_are_all_equal_are_told_apart_without_a_warning() -> None:
    margin = math.log1p(0.25)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert p_difference([[0.0] * 4, [0.5] * 4]).tolist() == [1, 0]
        assert p_equivalence([[margin] * 4, [0.0] * 4, [0.5] * 4], 0.25).tolist() == [0.5, 0, 1]
        assert np.array(interval([0.5] * 4)).tolist() == [0.5, 0.5]


@PROPERTY
@given(SETS)
def test_the_sign_flip_p_counts_every_choice_of_signs(ln: list[float]) -> None:
    total = abs(math.fsum(ln))
    sums = [
        abs(math.fsum(s * v for s, v in zip(signs, ln, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(ln))
    ]
    slack = 1e-9 * sum(map(abs, ln))
    assert p_sign_flip(ln) == pytest.approx(np.mean([one >= total - slack for one in sums]))


@pytest.mark.parametrize("n", range(2, 21))
def test_the_smallest_exact_p(n: int) -> None:
    assert p_sign_flip(np.arange(1, n + 1)) == 2 / 2**n


def test_above_twenty_blocks_the_sign_flip_is_sampled_and_reproducible() -> None:
    ln = np.random.default_rng(1).normal(0.01, 0.03, 25)
    assert p_sign_flip(ln) == p_sign_flip(ln)
    assert p_sign_flip(ln) == pytest.approx(p_difference(ln), abs=0.01)
    assert p_sign_flip(np.ones(25)) == 1 / 100_001


def test_many_at_once_are_the_same_as_one_by_one() -> None:
    sets = np.random.default_rng(2).normal(0, 0.1, (20, 7))
    assert compare_many(sets) == [compare(one.tolist()) for one in sets]


@pytest.mark.parametrize(("ln", "ratio"), [([], None), ([0.5], math.exp(0.5))])
def test_too_few_blocks(ln: list[float], ratio: float | None) -> None:
    found = compare(ln)
    assert (found.n, found.ratio) == (len(ln), ratio)
    rest = found.model_dump(exclude={"n", "ratio"})
    assert set(rest.values()) == {None}
    assert verdict(found) == "too few"


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        compare([0.1, bad, 0.1])


@pytest.mark.parametrize(("value", "p_t", "word"), [(0.0, 1.0, "equivalent"), (0.5, 0.0, "faster")])
def test_equal_values(value: float, p_t: float, word: str) -> None:
    found = compare([value] * 6)
    assert found.interval == pytest.approx((math.exp(value), math.exp(value)))
    assert found.p_t == p_t
    assert found.detectable_ratio == 1
    assert verdict(found) == word


def test_a_huge_spread_is_written_as_json() -> None:
    assert '"interval":[0.0,null]' in compare([-400.0, 400.0]).model_dump_json().replace("e-", "")


# ---- minimum detectable effect ----


@pytest.mark.parametrize(
    ("n", "percent"), [(6, (2.0, 4.1, 10.7)), (10, (1.4, 2.9, 7.3)), (20, (0.9, 1.9, 4.8))]
)
def test_the_minimum_detectable_effect_of_the_method(n: int, percent: tuple[float, float, float]) -> None:
    """At a variation of 1, 2 and 5 % on both sides."""
    found = [there(detectable_ratio(math.sqrt(2) * variation, n)) for variation in (0.01, 0.02, 0.05)]
    assert tuple(round((one - 1) * 100, 1) for one in found) == percent


def test_more_blocks_detect_less_and_one_detects_nothing() -> None:
    effects = [detectable_ratio(0.05, n) for n in range(2, 60)]
    assert effects == sorted(effects, key=lambda effect: -(effect or 0))
    assert detectable_ratio(0.05, 1) is None


# ---- Holm ----


def test_holm_by_hand() -> None:
    # sorted 0.01 0.02 0.03 0.04, times 4 3 2 1: 0.04 0.06 0.06 0.04, made monotone
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, None, 0.7]) == [1.0, None, 1.0]
    assert holm([]) == []


@PROPERTY
@given(st.lists(st.none() | st.floats(0, 1), max_size=8))
def test_holm_keeps_the_order_and_only_raises(p_values: list[float | None]) -> None:
    adjusted = holm(p_values)
    assert [p is None for p in adjusted] == [p is None for p in p_values]
    pairs = [(p, a) for p, a in zip(p_values, adjusted, strict=True) if p is not None and a is not None]
    assert all(p <= a <= 1 for p, a in pairs)
    assert [a for _, a in sorted(pairs)] == sorted(a for _, a in pairs)


# ---- Benjamini and Hochberg ----


def test_benjamini_hochberg_by_hand() -> None:
    # sorted 0.01 0.02 0.03 0.5, times 4/1 4/2 4/3 4/4: 0.04 0.04 0.04 0.5
    found = benjamini_hochberg([0.5, 0.01, None, 0.03, 0.02])
    assert found.pop(2) is None
    assert found == pytest.approx([0.5, 0.04, 0.04, 0.04])
    assert benjamini_hochberg([None]) == [None]
    assert benjamini_hochberg([]) == []


# ---- verdict ----


def around(middle: float, spread: float, n: int) -> Ratio:
    return compare([middle + spread * ((-1) ** i) * (1 + i % 3) / 2 for i in range(n)])


@pytest.mark.parametrize(
    ("middle", "spread", "n", "rate", "cost", "within"),
    [
        (0.10, 0.01, 6, "faster", "dearer", False),
        (-0.10, 0.01, 6, "slower", "cheaper", False),
        (0.0, 0.005, 6, "equivalent", "equivalent", True),
        (0.01, 0.002, 10, "faster", "dearer", True),
        (0.0, 0.10, 6, "inconclusive", "inconclusive", False),
        (0.10, 0.01, 5, "inconclusive", "inconclusive", False),
        (0.10, 0.01, 1, "too few", "too few", False),
    ],
)
def test_the_words(middle: float, spread: float, n: int, rate: str, cost: str, within: bool) -> None:
    """within: a real difference inside the margin is told as both."""
    found = around(middle, spread, n)
    assert verdict(found, "higher") == rate
    [told] = decide([found], ["lower"])
    assert (told.word, told.within_margin) == (cost, within)


def test_an_early_look_and_a_large_table_ask_more_of_each_line() -> None:
    weak, noise = compare([0.3, 0.2, 0.1, 0.25, 0.02, 0.15]), around(0.0, 0.2, 6)
    assert 0.004 < there(weak.p_t) < 0.05
    assert verdicts([weak, compare([])]) == ["faster", "too few"]
    assert verdicts([weak, *[noise] * 9, compare([])])[0] == "inconclusive"
    [early] = decide([weak], ["higher"], PlannedLook((6, 9, 12), 1))
    assert early.word == "inconclusive"
    assert there(early.p_adjusted) > 0.05


def test_a_family_may_mix_rates_and_costs() -> None:
    found = decide([around(0.10, 0.01, 6)] * 2, ["higher", "lower"])
    assert [one.word for one in found] == ["faster", "dearer"]
