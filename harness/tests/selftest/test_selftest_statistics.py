"""What stands beside the self-test's simulations, which tests/selftest/test_selftest.py runs."""

import math

from tandem.analysis.ratios import detectable_ratio
from tandem.selftest.statistics import bootstrap_coverage, claims, noise


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
