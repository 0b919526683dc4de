"""tandem.probes.background: looks that are not evenly apart."""

import statistics
from itertools import accumulate

import pytest

from tandem.probes.background import uneven_s


def seen_share(pauses_s: list[float], period_s: float, share: float) -> float:
    """How many of the samples find something there that is there for `share` of each period."""
    moments = list(accumulate(pauses_s))
    return sum((moment / period_s) % 1 < share for moment in moments) / len(moments)


def test_looks_do_not_keep_step_with_what_they_watch() -> None:
    pauses_s = [uneven_s(0.5) for _ in range(10_000)]
    assert statistics.fmean(pauses_s) == pytest.approx(0.5, rel=0.02)
    for period_s in (0.5, 0.5 / 7, 0.02):
        assert seen_share(pauses_s, period_s, 0.7) == pytest.approx(0.7, abs=0.05)
        assert seen_share([0.5] * 10, period_s + 1e-9, 0.7) in (0.0, 1.0), "even ones do"
