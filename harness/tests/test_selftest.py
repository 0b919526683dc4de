"""tandem.selftest: the models against hand-made figures, and every check of the unit class."""

from collections.abc import Callable

import numpy as np
import pytest

from tandem.selftest import registry
from tandem.selftest.models import Pause, evenly_spaced_mean, lindley, mean_error, paced
from tandem.selftest.outcome import Outcome


@pytest.mark.parametrize("check", registry.units(), ids=lambda check: check.__name__)
def test_a_check_of_the_unit_class(check: Callable[[], Outcome]) -> None:
    found = check()
    assert found.passed, found
    assert found.negative_control_failed in (True, None), found


def test_a_stall_on_few_connections_takes_longer() -> None:
    """What waits behind the stall is sent over ten connections at 5 ms each: 2,000 a second."""
    many = paced(500, 60, 0.005, 10_000, server=Pause(20, 2))
    few = paced(500, 60, 0.005, 10, server=Pause(20, 2))
    assert many.response_s.mean() == pytest.approx(0.0383, rel=0.01)
    assert few.response_s.mean() > 1.2 * many.response_s.mean()
    assert few.response_s.max() == pytest.approx(2.005, abs=0.01)
    assert np.quantile(few.service_s, 0.99) == pytest.approx(0.005)


def test_the_figures_depend_on_the_duration() -> None:
    half = paced(500, 30, 0.005, 10_000, server=Pause(10, 2)).response_s
    assert half.mean() == pytest.approx(0.005 + 2 * 2 / 2 / 30, rel=0.01)
    assert np.quantile(half, 0.99) == pytest.approx(2 - 0.01 * 30, rel=0.01)


def test_lindley_by_hand() -> None:
    arrival, service = np.array([0.0, 1.0, 2.0, 10.0]), np.array([3.0, 1.0, 1.0, 2.0])
    assert lindley(arrival, service).tolist() == [3.0, 3.0, 3.0, 2.0]


def test_the_theory_of_queues() -> None:
    assert evenly_spaced_mean(0.5) == pytest.approx(1.255, abs=5e-4)
    assert evenly_spaced_mean(0.7) == pytest.approx(1.876, abs=5e-4)
    assert evenly_spaced_mean(0.001) == pytest.approx(1.0)


def test_more_requests_make_the_mean_more_certain() -> None:
    assert mean_error(0.7, 8000, runs=100) < 0.5 * mean_error(0.7, 500, runs=100)
