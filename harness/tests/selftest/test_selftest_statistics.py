"""The self-test's simulations: the same code that `tandem selftest` calls."""

import math
from functools import cache

import pytest

from tandem.analysis.ratios import detectable_ratio
from tandem.record.outcome import Outcome
from tandem.selftest.statistics import bootstrap_coverage, checks, claims, noise

CHECKS = checks()


@cache
def outcome(place: int) -> Outcome:
    return CHECKS[place]()


@pytest.mark.parametrize("place", range(len(CHECKS)))
def test_the_statistics_are_right_and_the_broken_variant_is_noticed(place: int) -> None:
    found = outcome(place)
    assert found.passed, found
    assert found.negative_control_failed, found


def test_every_check_has_a_name_of_its_own() -> None:
    names = [outcome(place).name for place in range(len(CHECKS))]
    assert len(set(names)) == len(names) == 9


def test_the_bootstrap_covers_better_with_many_blocks() -> None:
    """What is blamed at n = 5 is the number of blocks, not our way to draw."""
    assert bootstrap_coverage("normal", 30, 1000) > 0.92


def test_the_verdict_asks_more_than_the_t_test_at_six_blocks() -> None:
    """All six must point the same way, so the stated effect is found less often than 80 % of the time."""
    found = {
        n: claims(math.log(detectable_ratio(0.05, n) or 1) + noise("normal", 2000, n, 0.05), "faster")
        for n in (6, 10)
    }
    assert 0.58 < found[6] < 0.66
    assert 0.77 < found[10] < 0.83
