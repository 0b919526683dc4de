"""tandem.studies.sweep.usl: the law is fitted where it fits, and only there."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tandem.load.rows import Floats
from tandem.studies.sweep.usl import fit, law

POWERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def lawful(scale: float, sigma: float, kappa: float) -> Floats:
    return law(np.array(POWERS, dtype=np.float64), scale, sigma, kappa)


@settings(max_examples=40, deadline=None, database=None, derandomize=True)
@given(st.floats(50, 5000), st.floats(0.02, 0.3), st.floats(1e-5, 1e-3))
def test_a_curve_that_obeys_the_law_is_recovered(scale: float, sigma: float, kappa: float) -> None:
    rates = lawful(scale, sigma, kappa)
    found = fit(POWERS, list(rates), [None] * len(rates))
    assert found.reason is None
    assert found.lambda_rps == pytest.approx(scale, rel=0.05)
    assert found.sigma == pytest.approx(sigma, rel=0.05)
    assert found.kappa == pytest.approx(kappa, rel=0.05)
    assert found.peak_at == pytest.approx(((1 - sigma) / kappa) ** 0.5, rel=0.05)


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ([100, 900, 100, 900, 100, 900, 100, 900, 100, 900], "does not fit"),
        ([100 * min(n, 8) for n in POWERS], "does not fit|at its bound|do not determine"),
        ([100 * n for n in POWERS], "at its bound"),
        ([500] * len(POWERS), "does not fit|at its bound|do not determine"),
    ],
    ids=["sawtooth", "hard-limit", "linear", "flat"],
)
def test_what_does_not_obey_the_law_gets_no_parameters(rates: list[float], told: str) -> None:
    found = fit(POWERS, rates, [None] * len(rates))
    assert (found.lambda_rps, found.sigma, found.kappa, found.peak_at) == (None, None, None, None)
    assert found.reason is not None
    assert re.search(told, found.reason), found.reason


def test_three_points_are_too_few() -> None:
    assert "3 points" in (fit([1, 2, 4], [1, 2, 3], [None] * 3).reason or "")
