"""Intervals of means. Pure."""

from collections.abc import Sequence

from tandem.analysis.ratios import interval


def t_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % Student t interval of the mean; None below two values. Trials are the unit of replication."""
    if len(values) < 2:
        return None
    low, high = interval(values)
    return float(low), float(high)
