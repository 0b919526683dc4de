"""The prediction interval covers the next session, and calls a shifted one outside."""

import math

import numpy as np
import pytest
import scipy

from tandem.analysis.prediction import next_value, outside_by_chance

SIMULATED = 20_000
WITHIN = 0.01
"""Error of the logarithm within a session."""


def sessions(n: int, between: float, seed: int) -> np.ndarray:
    """Shape (SIMULATED, n + 1): the logarithms of n sessions and of the next one."""
    chance = np.random.default_rng(seed)
    shape = (SIMULATED, n + 1)
    return chance.normal(0, between, shape) + chance.normal(0, WITHIN, shape)


def outside(values: np.ndarray, shift: float = 0.0) -> float:
    """The share of simulations whose last value, shifted, lies outside the interval of those before it."""
    known, new = values[:, :-1], values[:, -1] + shift
    n = known.shape[1]
    half = scipy.stats.t.ppf(0.975, n - 1) * known.std(axis=1, ddof=1) * math.sqrt(1 + 1 / n)
    low, high = next_value(known[0].tolist()) or (0.0, 0.0)
    # The vectorised formula of this test is the shipped one.
    assert math.isclose(high - low, 2 * half[0], rel_tol=1e-9)
    assert math.isclose((high + low) / 2, known[0].mean(), abs_tol=1e-12)
    return float((np.abs(new - known.mean(axis=1)) > half).mean())


@pytest.mark.parametrize("n", [5, 8, 12])
@pytest.mark.parametrize("between", [0.0, 0.02, 0.05, 0.10])
def test_covers_the_next_session(n: int, between: float) -> None:
    assert 0.93 <= 1 - outside(sessions(n, between, seed=n)) <= 0.97


@pytest.mark.parametrize("n", [5, 8, 12])
def test_a_shifted_session_is_outside_where_the_scatter_is_small(n: int) -> None:
    assert outside(sessions(n, 0.03, seed=n), shift=math.log(1.2)) >= 0.90


def test_the_error_within_a_session_alone_would_not_cover() -> None:
    """Control: what was printed before there were sessions."""
    values = sessions(6, 0.05, seed=1)
    half = 1.96 * WITHIN
    assert (np.abs(values[:, -1] - values[:, 0]) <= half).mean() < 0.5


def test_one_value_predicts_nothing() -> None:
    assert next_value([]) is None
    assert next_value([0.3]) is None
    assert next_value([0.3, 0.3]) == pytest.approx((0.3, 0.3))


def test_some_of_many_are_outside_by_chance() -> None:
    assert outside_by_chance(0, 60) == pytest.approx(1.0)
    assert outside_by_chance(3, 60) > 0.5
    assert outside_by_chance(10, 60) < 0.01
