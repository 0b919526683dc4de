"""tandem.analysis.curves: what noise makes of a flat curve, and of one that falls."""

import numpy as np
import pytest
from harness_samples import there
from scipy import stats

from tandem.analysis.curves import _dunnett, loss, where
from tandem.analysis.ratios import ALPHA, Floats

SETS = 1000
FLAT = np.full(10, 1000.0)
FALLING = 1000 * np.array([0.2, 0.4, 0.7, 0.95, 1.0, 1.0, 0.97, 0.9, 0.85, 0.8])


def sweeps(curve: Floats, noise: float = 0.05, rounds: int = 3, seed: int = 1) -> list[Floats]:
    """Rounds of a host that is of another speed in each."""
    chance = np.random.default_rng(seed)
    shape = (SETS, rounds, len(curve))
    host = np.exp(chance.normal(0, 0.15, (SETS, rounds, 1)))
    return list(curve * host * np.exp(chance.normal(0, noise, shape)))


def told(curve: Floats, **changes: float) -> float:
    """Share of sweeps in which a loss is shown."""
    found = [loss(rates) for rates in sweeps(curve, **changes)]  # type: ignore[arg-type]
    return float(np.mean([one is not None and one.shown for one in found]))


@pytest.mark.parametrize("rounds", [2, 3, 6])
def test_a_flat_curve_shows_a_loss_in_five_percent(rounds: int) -> None:
    error = 3 * (ALPHA * (1 - ALPHA) / SETS) ** 0.5
    assert told(FLAT, rounds=rounds) <= ALPHA + error


def test_a_paired_test_against_the_highest_does_not_hold_that() -> None:
    """The control: the peak was chosen from the same data."""
    false = []
    for rates in sweeps(FLAT):
        ln = np.log(rates)
        peak = ln[:, :-1].mean(axis=0).argmax()
        false.append(stats.ttest_rel(ln[:, peak], ln[:, -1], alternative="greater").pvalue < ALPHA)
    assert np.mean(false) > 0.10


def test_a_loss_of_a_fifth_is_shown_and_none_of_a_curve_that_rises() -> None:
    assert told(FALLING) > 0.9
    assert told(FALLING, noise=0.02) == 1
    assert told(1000 * np.array([0.1, 0.2, 0.4, 0.8, 1.0, 1.0])) <= ALPHA + 0.02


@pytest.mark.parametrize("noise", [0.02, 0.05])
def test_the_interval_of_the_loss_holds_the_truth(noise: float) -> None:
    for curve, truth in ((FALLING, 0.2), (FLAT, 0.0)):
        found = [one.interval for rates in sweeps(curve, noise) if (one := loss(rates))]
        assert np.mean([low <= truth <= high for low, high in found]) >= 0.93


def test_the_draws_are_dunnetts() -> None:
    """As scipy's multivariate t has them."""
    for others, freedom in ((3, 15), (4, 20), (9, 18)):
        largest, all_within = _dunnett(others, freedom)
        point = float(np.quantile(largest, 0.95))
        shape = 0.5 * (np.eye(others) + 1)
        exact = stats.multivariate_t.cdf(np.full(others, point), shape=shape, df=freedom, random_state=1)
        assert exact == pytest.approx(0.95, abs=3e-3)
        ends = np.full(others, all_within)
        exact = stats.multivariate_t.cdf(ends, shape=shape, df=freedom, lower_limit=-ends, random_state=1)
        assert exact == pytest.approx(0.95, abs=3e-3)


def test_without_noise_it_is_exact() -> None:
    rates = np.array([[50.0, 100.0, 100.0, 80.0], [100.0, 200.0, 200.0, 160.0]])
    found = there(loss(rates))
    assert found.interval == pytest.approx((0.2, 0.2), abs=1e-6)
    assert found.p < 1e-3
    assert there(where(rates, 0.9)).reaches == (1, 1)


def test_where_it_reaches_its_share_is_within_the_range() -> None:
    found = [there(where(rates, 0.9)) for rates in sweeps(FALLING)]
    noisy = [there(where(rates, 0.9)) for rates in sweeps(FALLING, 0.10)[:200]]
    assert np.mean([one.reaches[0] <= 3 <= one.reaches[1] for one in found]) >= 0.93
    assert np.mean([one.peak[0] <= 5 and one.peak[1] >= 4 for one in found]) >= 0.93
    widths = [np.mean([one.reaches[1] - one.reaches[0] for one in sets]) for sets in (found, noisy)]
    assert widths[0] < widths[1]


@pytest.mark.parametrize("shape", [(1, 4), (3, 1)])
def test_too_little_says_nothing(shape: tuple[int, int]) -> None:
    assert loss(np.ones(shape)) is None
    assert where(np.ones(shape), 0.9) is None
