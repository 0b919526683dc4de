"""tandem.analysis.looks: several looks at one comparison, and what becomes of the 5 %."""

import numpy as np
import pytest
from scipy import stats

from tandem.analysis.looks import PlannedLook, spent
from tandem.analysis.ratios import ALPHA, Floats, compare

PLANNED = (6, 9, 12)
SETS = 20_000


def drawn(distance: float, seed: int = 7, family: int = 1) -> Floats:
    """Blocks of comparisons whose truth is `distance` standard deviations away, shape (sets, family, blocks)."""
    return distance + np.random.default_rng(seed).standard_normal((SETS, family, PLANNED[-1]))


def p_at(values: Floats, blocks: int) -> Floats:
    return np.asarray(stats.ttest_1samp(values[..., :blocks], 0, axis=-1).pvalue)


def decided(values: Floats, allowed: tuple[float, ...]) -> float:
    """Share of sets in which any look of any comparison of the family is below its level."""
    found = [p_at(values, n) <= level for n, level in zip(PLANNED, allowed, strict=True)]
    return float(np.any(found, axis=(0, 2)).mean())


def levels(alpha: float = ALPHA) -> tuple[float, ...]:
    return tuple(PlannedLook(PLANNED, number).level(alpha) for number in (1, 2, 3))


@pytest.mark.parametrize(("share", "told"), [(1 / 3, 0.00021), (2 / 3, 0.01210), (1.0, 0.05)])
def test_what_is_spent_is_what_is_published(share: float, told: float) -> None:
    """Cumulative alpha of Lan and DeMets' function of O'Brien and Fleming's type, two-sided, at three equal looks (as
    their program ld98 and R's ldbounds print it)."""
    assert spent(0.05, share) == pytest.approx(told, abs=5e-6)


def test_all_of_alpha_is_spent_at_the_end() -> None:
    assert sum(levels()) == pytest.approx(ALPHA)
    assert levels() == pytest.approx((0.00305, 0.01625, 0.0307), abs=1e-4)


def test_three_looks_tell_a_false_difference_in_five_percent_of_sessions() -> None:
    """Of the t test, from six blocks on. Looking three times at a fixed 5 % tells more than that."""
    values = drawn(0.0)
    assert decided(values, levels()) <= ALPHA
    assert decided(values, (ALPHA,) * 3) > 0.08
    assert decided(values, (0.0031, 0.0183, 0.0440)) > ALPHA, "the levels for a known variance"


def test_heavy_tails_tell_no_more() -> None:
    values = np.random.default_rng(3).standard_t(3, (SETS, 1, PLANNED[-1]))
    assert decided(values, levels()) <= ALPHA


@pytest.mark.parametrize("family", [1, 6])
def test_the_detectable_difference_is_found_four_times_in_five(family: int) -> None:
    """As it is printed: at any of the looks, with the correction for so many comparisons."""
    look = PlannedLook(PLANNED, 3)
    distance = look.detectable(PLANNED[-1], ALPHA / family)
    found = decided(drawn(distance, seed=11), levels(ALPHA / family))
    assert found == pytest.approx(0.80, abs=0.012)
    plain = PlannedLook().detectable(PLANNED[-1], ALPHA)
    assert distance > plain, "looking earlier and at more costs something"


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("p", [1e-9, 1e-3, 0.02, 0.04, 0.3, 0.97])
def test_an_overall_p_is_small_enough_exactly_where_the_p_of_the_look_is(number: int, p: float) -> None:
    look = PlannedLook(PLANNED, number)
    overall = look.overall(p)
    assert p <= overall <= 1
    for alpha in (0.05, 0.05 / 7):
        assert (overall <= alpha) == (p <= look.level(alpha))
    if overall < 0.5:
        assert look.level(overall) == pytest.approx(p, rel=1e-4)
    assert look.overall_one_sided(p / 2) == pytest.approx(overall / 2)


def test_one_look_changes_nothing() -> None:
    look = PlannedLook()
    assert (look.level(0.05), look.overall(0.03), look.overall_one_sided(0.3), look.last) == (
        0.05,
        0.03,
        0.3,
        True,
    )
    assert PlannedLook(PLANNED, 1).overall(0.0) == 0


@pytest.mark.parametrize(("blocks", "number"), [(1, 1), (6, 1), (7, 2), (9, 2), (12, 3), (13, 3)])
def test_which_look_it_is(blocks: int, number: int) -> None:
    assert PlannedLook.of(PLANNED, blocks) == PlannedLook(PLANNED, number)
    assert PlannedLook.of((), blocks).level(0.05) == 0.05


def test_an_early_interval_is_wider() -> None:
    values = [0.02, 0.03, 0.01, 0.025, 0.015, 0.02]
    early, plain = compare(values, PlannedLook(PLANNED, 1)), compare(values)
    assert early.interval is not None
    assert plain.interval is not None
    assert early.interval[0] < plain.interval[0] < plain.interval[1] < early.interval[1]
    assert early.p_t == plain.p_t
