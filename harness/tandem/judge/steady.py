"""Tells whether a warm-up has reached a steady state, from one-second buckets of answers. Pure."""

import math
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike
from pydantic import Field

from tandem.record.part import Number, Part

BUCKETS = 30
PENALTY_PER_LN_N = 12.0
SHORTEST_SEGMENT = 3
CLIP = 4.0
"""Largest deviation, in units of the noise: up to three stolen seconds in a row then stay below the penalty."""
DRIFT_LIMIT = 0.02
DRIFT_CONFIDENCE = 0.99
AUTOCORRELATION = 0.53
"""Autocorrelation of neighbouring seconds of a steady server, as measured: a slow second is followed by a slow one."""
LONGER = math.sqrt((1 + AUTOCORRELATION) / (1 - AUTOCORRELATION))
"""Factor by which the mean of such seconds scatters more than that of independent ones (first-order autoregression)."""
NOISE_LEAST = 0.005
"""Least noise, as a share: what is more even than that is not judged by its own evenness."""

Reason = Literal["steady", "too-few", "no-answers", "change-point", "drift"]


class Steadiness(Part):
    steady: bool
    reason: Reason
    buckets: int
    change_points: list[int] = Field(default_factory=list)
    """Index of the first bucket of each new level."""
    drift_share: Number | None = None
    """Theil-Sen slope over the whole span, as a share of the median."""
    drift_interval_share: tuple[Number, Number] | None = None
    """99 % interval of `drift_share`."""
    noise_share: Number | None = None
    """Standard deviation from bucket to bucket as a share of the median, without levels and slopes."""


def steady(buckets: ArrayLike, least: int = BUCKETS) -> Steadiness:
    """Whether the answers per second neither change their level nor drift.

    buckets: right answers of each whole second, oldest first; all are judged, so give the last 30. least: with fewer the
    reason is `too-few`. Raises ValueError where a bucket is not finite.

    Level: PELT (Killick 2012) with the squared error and a penalty of 12 ln n. That penalty supposes a noise of 1, so the
    series is divided by its own: the median absolute deviation of the first differences, by sqrt(2), which neither a step
    nor a slope inflates. Drift: Theil-Sen slope over the span above 2 %, and its 99 % interval without 0: in 30 noisy
    seconds a steady server shows more than 2 % often, but not surely. Seconds are no independent samples, so noise and
    interval are widened by what their autocorrelation adds. It is a constant: ten seconds do not tell their own.
    """
    values = np.asarray(buckets, float)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError("one finite number of answers per second is needed")
    n = len(values)
    if n < max(least, 2 * SHORTEST_SEGMENT):
        return Steadiness(steady=False, reason="too-few", buckets=n)
    middle = float(np.median(values))
    if middle <= 0:
        return Steadiness(steady=False, reason="no-answers", buckets=n)
    steps = np.diff(values)
    # Their standard deviation, if they are normal, by the median absolute one. SciPy's own is a hundred times slower.
    spread = float(np.median(np.abs(steps - np.median(steps))) / scipy.special.ndtri(0.75))
    noise_share = spread / math.sqrt(2) / middle
    scale = max(noise_share, NOISE_LEAST) * middle * LONGER
    scaled = np.clip((values - middle) / scale, -CLIP, CLIP)
    import ruptures  # here, because it takes a second, and a report needs none

    search = ruptures.KernelCPD(kernel="linear", min_size=SHORTEST_SEGMENT).fit(scaled)  # = l2, but in C
    changes = [int(end) for end in search.predict(pen=PENALTY_PER_LN_N * math.log(n))][:-1]
    slope = scipy.stats.theilslopes(values, alpha=DRIFT_CONFIDENCE)
    span = (n - 1) / middle
    drift = float(slope.slope) * span
    low, high = (drift + (float(end) * span - drift) * LONGER for end in (slope.low_slope, slope.high_slope))
    drifts = abs(drift) > DRIFT_LIMIT and not low <= 0 <= high
    reason: Reason = "change-point" if changes else "drift" if drifts else "steady"
    return Steadiness(
        steady=reason == "steady",
        reason=reason,
        buckets=n,
        change_points=changes,
        drift_share=drift,
        drift_interval_share=(low, high),
        noise_share=noise_share,
    )
