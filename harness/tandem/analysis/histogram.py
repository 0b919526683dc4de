"""Distributions as HDR histograms: small, mergeable, three significant digits. Pure.

Format: HdrHistogram V2, compressed, base64 (https://github.com/HdrHistogram/HdrHistogram); unit microseconds.
"""

from collections.abc import Sequence

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

from tandem.load.rows import PERCENTILES, Floats, enough

LOWEST_US, HIGHEST_US, DIGITS = 1, 60_000_000, 3
MAGNITUDE = 11
"""2 x 10^DIGITS fits into so many bits: values below 2^11 are exact, above them the top 11 bits are kept."""


def encode(values_s: Floats, censored: int = 0, timeout_s: float = 0.0) -> str:
    """The histogram of durations in seconds. Shorter ones than LOWEST_US count as that, longer ones as HIGHEST_US.

    censored: so many more that are at least `timeout_s`.
    """
    microseconds = np.clip(np.rint(values_s * 1e6), LOWEST_US, HIGHEST_US).astype(np.int64)
    histogram = HdrHistogram(LOWEST_US, HIGHEST_US, DIGITS)
    for value, count in zip(*_quantised(microseconds), strict=True):
        histogram.record_value(value, count)
    if censored:
        histogram.record_value(round(timeout_s * 1e6), censored)
    return bytes(histogram.encode()).decode()


def _quantised(values: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    """Distinct values after the histogram's own rounding, and how often each occurs.

    The library records one value at a time, in Python; so a million values are first counted here.
    """
    _, exponent = np.frexp(values.astype(np.float64))
    shift = np.maximum(exponent - MAGNITUDE, 0)
    slot = (shift << MAGNITUDE) + (values >> shift)
    counts = np.bincount(slot)
    [used] = np.nonzero(counts)
    lowest = (used & ((1 << MAGNITUDE) - 1)) << (used >> MAGNITUDE)
    return lowest.tolist(), counts[used].tolist()


def recorded(encoded: str) -> tuple[Floats, NDArray[np.int64]]:
    """The distinct durations of a histogram in seconds, ascending, each within three digits, and how often each is there."""
    histogram = HdrHistogram.decode(encoded)
    counts = np.array(histogram.counts, dtype=np.int64)
    [used] = np.nonzero(counts)
    last_us = [histogram.get_highest_equivalent_value(histogram.get_value_from_index(int(n))) for n in used]
    return np.array(last_us, dtype=np.float64) / 1e6, counts[used]


def over_starts(encoded: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    """p50, p90, … in milliseconds: median, least and greatest of the same percentile of each histogram.

    A percentile is told where all histograms together have SAMPLES_BEYOND samples beyond it. The tail of one bad start is
    then one value of several, and no longer the tail of them all.
    """
    each = [HdrHistogram.decode(one) for one in encoded]
    samples = sum(one.get_total_count() for one in each)
    filled = [one for one in each if one.get_total_count()]
    out = {}
    for q, name in PERCENTILES.items():
        if enough(samples, q):
            values = [one.get_value_at_percentile(q * 100) / 1e3 for one in filled]
            out[name] = (float(np.median(values)), min(values), max(values))
    return out


def curve(encoded: Sequence[str], quantiles: Sequence[float]) -> list[tuple[float, float]]:
    """Quantile and milliseconds of the pooled distribution; only quantiles with SAMPLES_BEYOND samples beyond them."""
    pooled = HdrHistogram(LOWEST_US, HIGHEST_US, DIGITS)
    for one in encoded:
        pooled.add(HdrHistogram.decode(one))
    wanted = [q for q in quantiles if enough(pooled.get_total_count(), q)]
    values = pooled.get_percentile_to_value_dict([q * 100 for q in wanted]) if wanted else {}
    return [(q, values[q * 100] / 1e3) for q in wanted]
