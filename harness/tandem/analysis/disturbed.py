"""Cuts the seconds out of a window in which the hypervisor took CPU away. Pure.

The rule looks at the steal alone and its limit is fixed beforehand, so it cannot favour a result.
"""

import numpy as np
from numpy.typing import ArrayLike

from tandem.record.part import Number, Part

STEAL_LIMIT = 0.02
"""Share of the capacity of all CPUs within one second."""
KEPT_LEAST = 0.5
"""Of a window's seconds; with fewer left it is unusable."""


class Cut(Part):
    """A window without its disturbed seconds; the figures are null where too few are left."""

    kept_s: int
    cut_s: int
    steal_limit: Number
    goodput_rps: Number | None
    app_cpu_us_per_request: Number | None
    """Also null where not one right answer is left."""


def cut(
    good: ArrayLike, app_cpu_s: ArrayLike, steal_share: ArrayLike, steal_limit: float = STEAL_LIMIT
) -> Cut:
    """The rate and the cost of the undisturbed seconds.

    good: right answers, app_cpu_s: the application's CPU-seconds, steal_share: 0 to 1; each with one value
    per whole second of the window. A second whose steal is above the limit is cut, one with an unknown steal
    (nan) too. Raises ValueError where the lengths differ or a kept second has no figure.
    """
    answers, cpu_s, steal = (np.asarray(values, float) for values in (good, app_cpu_s, steal_share))
    if not answers.shape == cpu_s.shape == steal.shape or answers.ndim != 1:
        raise ValueError(f"one value per second each: {answers.shape}, {cpu_s.shape}, {steal.shape}")
    keep = steal <= steal_limit
    kept = int(keep.sum())
    if not np.isfinite([answers[keep], cpu_s[keep]]).all():
        raise ValueError("a second without a count or without a CPU time")
    usable = kept > 0 and kept >= KEPT_LEAST * len(steal)
    total = float(answers[keep].sum())
    return Cut(
        kept_s=kept,
        cut_s=len(steal) - kept,
        steal_limit=steal_limit,
        goodput_rps=total / kept if usable else None,
        app_cpu_us_per_request=float(cpu_s[keep].sum()) / total * 1e6 if usable and total else None,
    )
