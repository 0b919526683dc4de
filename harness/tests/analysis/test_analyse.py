"""tandem.analysis.ratios: the interval of a mean."""

import numpy as np
import pytest

from tandem.analysis.ratios import t_interval

INTERVAL_OF = {2: 12.706, 3: 4.303, 5: 2.776, 10: 2.262}
"""Student's t, two-sided 95 %, by the number of values: from a printed table."""


def test_the_interval_of_an_example_computed_by_hand() -> None:
    # mean 12, deviations -2 0 2: s = 2, half-width = 4.303 x 2 / sqrt(3) = 4.968
    interval = t_interval([10.0, 12.0, 14.0])
    assert interval is not None
    assert interval == pytest.approx((7.032, 16.968), abs=0.002)


@pytest.mark.parametrize(("n", "t"), INTERVAL_OF.items())
def test_the_interval_uses_students_t(n: int, t: float) -> None:
    values = [float(v) for v in range(n)]
    interval = t_interval(values)
    assert interval is not None
    assert (interval[1] - interval[0]) / 2 == pytest.approx(t * np.std(values, ddof=1) / np.sqrt(n), rel=1e-3)


@pytest.mark.parametrize("values", [[], [3.0]])
def test_one_value_has_no_interval(values: list[float]) -> None:
    assert t_interval(values) is None


def test_equal_values_have_an_interval_without_width() -> None:
    assert t_interval([5.0, 5.0, 5.0]) == (5.0, 5.0)


def coverage(n: int, interval_scale: float = 1.0, rounds: int = 1500) -> float:
    chance = np.random.default_rng(20261121)
    inside = 0
    for _ in range(rounds):
        found = t_interval(chance.normal(100, 7, n).tolist())
        assert found is not None
        middle, half = sum(found) / 2, (found[1] - found[0]) / 2 * interval_scale
        inside += abs(middle - 100) <= half
    return inside / rounds


@pytest.mark.parametrize("n", [3, 5, 10])
def test_the_interval_covers_the_truth_as_often_as_it_says(n: int) -> None:
    assert 0.93 <= coverage(n) <= 0.97


def test_the_test_of_coverage_can_fail() -> None:
    """Negative control: the normal quantile in place of Student's, which is 1.96 instead of 4.303 at n = 3."""
    assert coverage(3, 1.96 / INTERVAL_OF[3]) < 0.90
