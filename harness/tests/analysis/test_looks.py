"""tandem.analysis.looks: several looks at one comparison, and what becomes of the 5 %."""

import numpy as np
import pytest
from harness_samples import PROPERTY, there
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tandem.analysis.alternation import alternation
from tandem.analysis.looks import PlannedLook, needed, spent
from tandem.analysis.ratios import ALPHA, Floats, compare
from tandem.errors import UsageError

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
    heavy = np.random.default_rng(3).standard_t(3, (SETS, 1, PLANNED[-1]))
    assert decided(values, levels()) <= ALPHA
    assert decided(heavy, levels()) <= ALPHA, "heavy tails tell no more"
    assert decided(values, (ALPHA,) * 3) > 0.08
    assert decided(values, (0.0031, 0.0183, 0.0440)) > ALPHA, "the levels for a known variance"


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
@pytest.mark.parametrize("p", [0.0, 1e-9, 1e-3, 0.02, 0.04, 0.3, 0.97])
def test_an_overall_p_is_small_enough_exactly_where_the_p_of_the_look_is(number: int, p: float) -> None:
    look = PlannedLook(PLANNED, number)
    overall = look.overall(p)
    assert p <= overall <= 1
    for alpha in (0.05, 0.05 / 7):
        assert (overall <= alpha) == (p <= look.level(alpha))
    if 0 < overall < 0.5:
        assert look.level(overall) == pytest.approx(p, rel=1e-4)
    assert look.overall_one_sided(p / 2) == pytest.approx(overall / 2)


@pytest.mark.parametrize(("blocks", "number"), [(1, 1), (6, 1), (7, 2), (9, 2), (12, 3), (13, 3)])
def test_which_look_it_is_and_that_one_look_changes_nothing(blocks: int, number: int) -> None:
    assert PlannedLook.of(PLANNED, blocks) == PlannedLook(PLANNED, number)
    look = PlannedLook.of((), blocks)
    same = (look.level(0.05), look.overall(0.03), look.overall_one_sided(0.3), look.last)
    assert same == (0.05, 0.03, 0.3, True)


def test_an_early_interval_is_wider() -> None:
    values = [0.02, 0.03, 0.01, 0.025, 0.015, 0.02]
    early, plain = compare(values, PlannedLook(PLANNED, 1)), compare(values)
    ends = (*there(early.interval), *there(plain.interval))
    assert sorted(ends) == [ends[0], *ends[2:], ends[1]]
    assert early.p_t == plain.p_t


# ---- the scatter of the first blocks decides how many there are ----

PILOT, MOST = 6, 160


def found_by(
    distance: float, wanted: float, sets: int = SETS, twice: bool = False, alpha: float = ALPHA
) -> float:
    """Share of comparisons that find a difference, whose truth is `distance` standard deviations of a block away and that
    make as many blocks as `wanted` needs. twice: the scatter of the pilot counts in the last look as well."""
    values = distance + np.random.default_rng(19).standard_normal((sets, MOST))
    first = PlannedLook((PILOT, 2 * PILOT), 1, PILOT)
    early = p_at(values[:, :PILOT], PILOT) <= first.level(alpha)
    scatters = values[:, :PILOT].std(axis=-1, ddof=1)
    made = np.clip([needed(sd, PILOT - 1, wanted, alpha * 0.8) for sd in scatters.tolist()], 12, MOST)
    found = early.copy()
    for blocks in np.unique(made):
        own = values[(made == blocks) & ~early, :blocks]
        look = PlannedLook((PILOT, int(blocks)), 2, PILOT)
        later = own if twice else own[:, look.left_out :]
        t = own.mean(axis=-1) / later.std(axis=-1, ddof=1) * np.sqrt(blocks)
        p = 2 * stats.t.sf(np.abs(t), later.shape[-1] - 1)
        found[(made == blocks) & ~early] = p <= look.level(alpha)
    return float(found.mean())


@pytest.mark.parametrize("wanted", [0.4, 0.6, 0.8, 1.2, 3.0])
def test_equal_pairs_are_told_apart_in_five_percent_however_noisy_the_host_is(wanted: float) -> None:
    assert found_by(0.0, wanted) <= 0.055
    assert found_by(0.0, wanted, alpha=ALPHA / 3) <= 1.1 * ALPHA / 3, "the share of three variants"


def test_the_scatter_that_decided_must_not_count_again() -> None:
    """The negative control."""
    third = ALPHA / 3
    assert found_by(0.0, 0.8, alpha=third, twice=True) > 1.25 * third


@pytest.mark.parametrize("wanted", [0.5, 0.8, 1.2])
def test_what_was_to_be_detected_is_found_four_times_in_five(wanted: float) -> None:
    assert found_by(wanted, wanted, sets=4000) > 0.79
    assert found_by(wanted / 2, wanted, sets=4000) < 0.5, "half of it is not"


def test_needed_blocks_are_steins() -> None:
    """(t(0.975) + t(0.8))² with five degrees of freedom is 12.2."""
    assert needed(0.01, 5, 0.01, 0.05) == 13
    assert needed(0.02, 5, 0.01, 0.05) == 49
    assert needed(0.0, 5, 0.01, 0.05) == 0
    assert needed(0.01, 10_000, 0.01, 0.05) == 8, "with a known scatter: 7.85"


def test_the_last_look_takes_the_mean_of_all_and_the_scatter_of_the_later() -> None:
    values = [0.031, 0.029, 0.030, 0.031, 0.030, 0.029, 0.04, 0.00, 0.03, 0.01, 0.05, 0.02]
    found = compare(values, PlannedLook((6, 12), 2, 6))
    later = np.array(values[6:])
    error = later.std(ddof=1) / np.sqrt(12)
    assert found.ratio == pytest.approx(np.exp(np.mean(values)))
    assert found.p_t == pytest.approx(2 * stats.t.sf(np.mean(values) / error, 5))
    assert found.n == 12
    assert found.sd_ln == pytest.approx(later.std(ddof=1))
    half = stats.t.ppf(1 - 0.04 / 2, 5) * error
    assert found.interval == pytest.approx(tuple(np.exp(np.mean(values) + np.array([-half, half]))))
    early = compare(values[:6], PlannedLook((6, 12), 1, 6))
    assert early.p_t == compare(values[:6]).p_t
    few = compare(values[:7], PlannedLook((6, 12), 2, 6))
    assert (few.interval, few.n) == (None, 7), "one later block has no scatter"


def test_a_pilots_looks_share_the_five_percent() -> None:
    looks = [PlannedLook((6, 40), number, 6) for number in (1, 2)]
    assert sum(look.level(ALPHA) for look in looks) == pytest.approx(ALPHA)
    assert [look.overall(look.level(0.05)) for look in looks] == pytest.approx([0.05, 0.05])
    assert looks[0].level(ALPHA) == PlannedLook((6, 12), 1, 6).level(ALPHA), "whatever the scatter says"


# ---- blocks of windows that take turns ----


NAMES = st.lists(st.text("abcdef-", min_size=1, max_size=8), min_size=1, max_size=5, unique=True)
COUNTS = st.integers(1, 9)
SEEDS = st.integers(0, 2**31 - 1)


@PROPERTY
@given(NAMES, COUNTS, COUNTS, SEEDS)
def test_every_round_and_start_has_each_once_and_each_second_is_the_reverse(
    names: list[str], rounds: int, blocks: int, seed: int
) -> None:
    found = alternation(names, rounds, blocks, seed)
    assert found == alternation(list(names), rounds, blocks, seed), "the seed fixes it"
    assert [block.number for block in found] == list(range(1, blocks + 1))
    for block in found:
        assert len(block.rounds) == rounds
        for order in (block.starts, *block.rounds):
            assert sorted(order) == sorted(names)
        for first, second in zip(block.rounds[::2], block.rounds[1::2], strict=False):
            assert second == first[::-1]


@pytest.mark.parametrize(
    ("names", "rounds", "blocks", "told"),
    [
        (["a", "b", "a"], 1, 1, "'a' is given twice"),
        (["a"], 0, 1, "measure nothing"),
        (["a"], 1, 0, "measure nothing"),
    ],
)
def test_what_cannot_be_scheduled(names: list[str], rounds: int, blocks: int, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        alternation(names, rounds, blocks, 1)


def test_the_order_is_that_of_older_records() -> None:
    """That of results/comparisons/python-sync, by its seed. That positions are even: tandem.selftest.statistics."""
    first = alternation(["python-sync", "python-async", "python-sync~2"], 6, 6, 41)[0]
    assert first.starts == ["python-async", "python-sync~2", "python-sync"]
    assert first.rounds[1] == first.rounds[0][::-1] == ["python-sync~2", "python-async", "python-sync"]
