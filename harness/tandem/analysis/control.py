"""The control of a comparison: its baseline's second start against its first, judged before anything else. Pure.

Both are the same program, so what differs between them by more than chance is no program's. Another variant, which has one
start of its own, may be off by as much in the same session, and nothing tells in which direction.

One limit for all metrics: the control fails where any p is below 5 % after Holm's correction over the metrics. That holds
whatever the metrics have in common. They have much in common (goodput and CPU per request are of the same windows), so they
fail together, and fewer than 5 % of good sessions fail: the limit errs towards silence. The number of blocks may follow from
looks at the variants: these compare with the mean of both starts, which is independent of their difference where both scatter
alike, so the p values need no correction for looks.

A failed control widens the interval of each ratio: on the logarithm, both ends move out by |mean ln(second / first)| of that
metric. If one start is off by d, the mean of both, which is the baseline, is off by d / 2; so the widened interval holds the
truth also where the difference was seen half as large as it is. tests/analysis/test_control.py simulates it. What the control
does not find, it does not widen.
"""

from collections.abc import Mapping
from math import log
from typing import Literal

from pydantic import Field

from tandem.analysis.ratios import ALPHA, Ratio, holm
from tandem.record.part import Number, Part


class Differing(Part):
    """A metric in which the baseline differs from itself."""

    ratio: Number
    """Ratio of the second start to the first."""
    p_adjusted: Number
    """The p value of no difference, by Holm over the metrics."""


class Control(Part):
    """What the baseline's two starts say of a session."""

    verdict: Literal["passed", "failed"]
    metrics: int
    """How many metrics could be tested and share the limit."""
    differing: dict[str, Differing] = Field(default_factory=dict)
    """Metric -> how the baseline differs from itself; empty where it passed."""
    widened_ln: dict[str, Number] = Field(default_factory=dict)
    """Metric -> by how much either end of each interval of its ratios was moved out, on the logarithm; empty where it passed."""


def judged(again: Mapping[str, Ratio]) -> Control | None:
    """The control by the ratios of the second start to the first, by metric; None where no metric has two blocks."""
    tested = {
        name: (one.ratio, one.p_t)
        for name, one in again.items()
        if one.ratio is not None and one.p_t is not None
    }
    if not tested:
        return None
    adjusted = dict(zip(tested, holm([p for _, p in tested.values()]), strict=True))
    differing = {
        name: Differing(ratio=ratio, p_adjusted=p)
        for name, (ratio, _) in tested.items()
        if (p := adjusted[name]) is not None and p < ALPHA
    }
    if not differing:
        return Control(verdict="passed", metrics=len(tested))
    shown = {name: abs(log(ratio)) for name, (ratio, _) in tested.items()}
    return Control(verdict="failed", metrics=len(tested), differing=differing, widened_ln=shown)
