"""tandem.judge.steady: has a warm-up reached a steady state? Its calibration: tandem.selftest.statistics."""

import json
import math

import numpy as np
import pytest
from harness_places import FIXTURES

from tandem.analysis.ratios import Floats
from tandem.judge.steady import AUTOCORRELATION, steady
from tandem.selftest.statistics import shape, simulated

SPAN = np.arange(30)


def caught(series: Floats) -> float:
    return float(np.mean([not steady(one).steady for one in series]))


@pytest.mark.parametrize(
    ("series", "reason", "changes", "drift"),
    [
        ([1000] * 30, "steady", [], 0),
        (1000 + SPAN * 0.5, "steady", [], 0.5 * 29 / 1007.25),
        (1000 + SPAN * 3.0 + 40 * np.sin(SPAN * 2.5), "drift", [], 3 * 29 / 1043.5),
        (1000 * (1 + 0.2 * (SPAN >= 12)) + 5 * (-1.0) ** SPAN, "change-point", [12], None),
        *(([1000] * n, "too-few", [], None) for n in (0, 1, 29)),
        ([0] * 30, "no-answers", [], None),
    ],
)
def test_what_a_series_is(series: Floats, reason: str, changes: list[int], drift: float | None) -> None:
    found = steady(series)
    assert (found.steady, found.reason, found.change_points) == (reason == "steady", reason, changes)
    if reason != "change-point":
        assert found.drift_share == (None if drift is None else pytest.approx(drift, abs=0.02))


def test_fewer_buckets_can_be_asked_for() -> None:
    assert steady([1000] * 10, least=10).steady
    assert steady([1000] * 5, least=1).reason == "too-few"


def test_the_noise_is_not_inflated_by_a_step_or_a_slope() -> None:
    for level in (shape("step-15", 0.2), shape("ramp", 0.2)):
        shares = [steady(one).noise_share or 0 for one in simulated(level, 0.02, 200, autocorrelation=0.0)]
        assert np.mean(shares) == pytest.approx(0.02, rel=0.15)


def test_a_warm_up_that_is_still_rising_is_caught() -> None:
    assert caught(simulated(1000 * (1 - 0.2 * np.exp(-SPAN / 5)), 0.02, 100)) > 0.95


@pytest.mark.parametrize(
    ("n", "size", "noise", "least"),
    [
        (6, 0.2, 0.02, 0.75),
        (6, 0.4, 0.05, 0.5),
        (10, 0.2, 0.02, 0.9),
        (10, 0.4, 0.05, 0.75),
        (30, 0.2, 0.05, 0.75),
    ],
)
def test_the_power_that_the_documents_state(n: int, size: float, noise: float, least: float) -> None:
    """docs/reference/load-and-windows.md"""
    series = simulated(shape(f"step-{n // 2}", size), noise, 300, seed=5)
    assert np.mean([not steady(one[:n], least=n).steady for one in series]) > least


def test_the_autocorrelation_is_that_of_the_committed_seconds() -> None:
    """closed-seconds.json: answers in each second of the closed windows of the bench that it was found in, a row each. Short
    series tell less than there is."""
    found = []
    for good in json.loads((FIXTURES / "closed-seconds.json").read_text()):
        rest = np.array(good[1:-1], float)
        rest -= rest.mean()
        found.append(float((rest[1:] * rest[:-1]).sum() / (rest**2).sum()))
    middle, n = float(np.median(found)), len(rest)
    unbiased = (middle * n + 1) / (n - 4)  # Kendall (1954): an estimate is low by (1 + 4 rho) / n
    assert len(found) == 36
    assert middle < AUTOCORRELATION < unbiased


@pytest.mark.parametrize("seconds", [1, 2, 3])
def test_a_few_stolen_seconds_are_no_change(seconds: int) -> None:
    level = np.where((SPAN >= 12) & (12 + seconds > SPAN), 500.0, 1000.0)
    assert caught(simulated(level, 0.02, 100)) < 0.06
    falls = np.where(SPAN >= 12, 500.0, 1000.0)
    assert caught(simulated(falls, 0.02, 50)) == 1, "the negative control: for good"


@pytest.mark.parametrize("bad", [[math.nan] * 30, [[1.0] * 30]])
def test_what_is_no_series_is_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        steady(bad)
