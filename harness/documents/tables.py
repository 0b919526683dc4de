"""Tables and numbers as the documents write them. Pure."""

from collections.abc import Sequence

from tandem.analysis.ratios import Ratio
from tandem.record.conclusion import Contrast
from tandem.wording import ratio_with_interval


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def span(values: Sequence[float], digits: int = 0) -> str:
    """The least and the greatest."""
    return f"{min(values):,.{digits}f} to {max(values):,.{digits}f}"


def times(ratio: Ratio | Contrast, digits: int = 2) -> str:
    """× 1.57 (1.25 to 1.98), with the 95 % interval."""
    return ratio_with_interval(ratio.ratio, ratio.interval, digits)
