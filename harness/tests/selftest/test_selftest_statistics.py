"""What stands beside the self-test's simulations, which tests/selftest/test_selftest.py runs."""

import math

from tandem.analysis.ratios import detectable_ratio
from tandem.selftest.statistics import bootstrap_coverage, claims, noise


def test_the_bootstrap_covers_better_with_many_blocks() -> None:
    """What is blamed at n = 5 is the number of blocks, not our way to draw."""
    assert bootstrap_coverage("normal", 30, 1000) > 0.92


def test_the_verdict_finds_the_stated_effect() -> None:
    """The printed effect is that of the verdict, also where blocks are few."""
    for n in (6, 10):
        effect = math.log(detectable_ratio(0.05, n) or 1)
        assert 0.77 < claims(effect + noise("normal", 2000, n, 0.05), "faster") < 0.83
