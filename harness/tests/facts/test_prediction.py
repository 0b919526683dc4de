"""The prediction interval covers the next session, and calls a shifted one outside."""

import math

import numpy as np
import pytest

from tandem.analysis.prediction import next_value, next_values, outside_by_chance

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
    low, high = next_values(values[:, :-1])
    new = values[:, -1] + shift
    return float(((new < low) | (new > high)).mean())


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


def test_the_interval_is_the_textbooks() -> None:
    """Hahn and Meeker, section 4.8: mean +- t(n - 1) s sqrt(1 + 1 / n), with t(4) of 95 % = 2.776 from a table."""
    values = [51.4, 49.5, 48.7, 49.3, 51.6]
    half = 2.776 * math.sqrt(sum((one - 50.1) ** 2 for one in values) / 4) * math.sqrt(1 + 1 / 5)
    assert next_value(values) == pytest.approx((50.1 - half, 50.1 + half), abs=0.002)


def test_one_value_predicts_nothing() -> None:
    assert next_value([]) is None
    assert next_value([0.3]) is None
    assert next_value([0.3, 0.3]) == pytest.approx((0.3, 0.3))


def test_some_of_many_are_outside_by_chance() -> None:
    assert outside_by_chance(0, 60) == pytest.approx(1.0)
    assert outside_by_chance(3, 60) > 0.5
    assert outside_by_chance(10, 60) < 0.01
