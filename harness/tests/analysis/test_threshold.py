"""tandem.analysis.threshold: a limit from probes of several starts. How often its interval holds the truth is simulated by
tandem.selftest.capacity, which tests/selftest/test_selftest.py runs."""

import math
import random

import pytest
from harness_samples import PROPERTY, there
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.threshold import StartProbes, threshold


def edges(limit: float, width: float = 1.02) -> StartProbes:
    """A start that passes just below a limit and fails just above it."""
    return [(limit / width, True), (limit * width, False)]


@PROPERTY
@given(st.floats(10, 1e6), st.integers(2, 6))
def test_starts_that_agree_have_their_limit(limit: float, starts: int) -> None:
    found = there(threshold([edges(limit)] * starts))
    assert found.rate_rps == pytest.approx(limit, rel=0.01)
    assert found.interval_rps[0] < limit < found.interval_rps[1]
    assert (found.starts, found.probes) == (starts, 2 * starts)


@PROPERTY
@given(st.floats(0.01, 1000))
def test_another_unit_changes_nothing_else(factor: float) -> None:
    starts = [edges(1000.0), edges(1100.0), [(1000.0, True), (1050.0, True), (1200.0, False)]]
    scaled = [[(r * factor, p) for r, p in start] for start in starts]
    found, other = there(threshold(starts)), there(threshold(scaled))
    assert other.rate_rps == pytest.approx(found.rate_rps * factor, rel=2e-3)
    assert other.interval_rps == pytest.approx([end * factor for end in found.interval_rps], rel=4e-3)


def test_more_starts_narrow_it_and_more_scatter_widens_it() -> None:
    def width(sd: float, starts: int) -> float:
        chance = random.Random(2)
        found = there(threshold([edges(1000 * math.exp(chance.gauss(0, sd))) for _ in range(starts)]))
        return math.log(found.interval_rps[1] / found.interval_rps[0])

    assert width(0.08, 12) < width(0.08, 6) < width(0.08, 3)
    assert width(0.02, 6) < width(0.08, 6)


def test_a_start_counts_and_not_its_probes() -> None:
    """Once each start's limit is known, further probes of the same starts say nothing of the next one."""
    limits = (900.0, 950.0, 1000.0, 1050.0, 1100.0)
    few, many = (there(threshold([[*edges(one)] * times for one in limits])) for times in (10, 40))
    assert many.interval_rps == pytest.approx(few.interval_rps, rel=0.05)
    assert many.start_sd == pytest.approx(0.08, abs=0.03)


def test_probes_on_one_side_tell_no_limit() -> None:
    assert threshold([[(100.0, True)], [(200.0, True)]]) is None
    assert threshold([]) is None
    assert threshold([[], [(100.0, False)]]) is None
