"""The slope of a series that may have outliers: the median of the slopes between all pairs, by Theil (1950) and Sen (1968). Pure."""

from collections.abc import Sequence
from typing import Literal

import scipy

from tandem.analysis.ratios import CONFIDENCE
from tandem.record.part import Number, Part

LEAST = 5
"""With fewer points no interval at 95 % leaves anything out."""
type Trend = Literal["grows", "does not grow", "not decided"]


class Slope(Part):
    """Growth of one quantity by another."""

    slope: Number
    interval: tuple[Number, Number]
    """95 %, by Sen's method, which takes the points as independent of one another."""

    def word(self, least: float) -> Trend:
        """least: a slope below this does not matter."""
        low, high = self.interval
        return "grows" if low >= least else "does not grow" if high < least else "not decided"


def slope(at: Sequence[float], values: Sequence[float]) -> Slope | None:
    """None below LEAST points."""
    if len(at) < LEAST:
        return None
    found = scipy.stats.theilslopes(values, at, CONFIDENCE)
    return Slope(slope=float(found.slope), interval=(float(found.low_slope), float(found.high_slope)))
