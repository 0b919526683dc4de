"""Tables and numbers as the documents write them. Pure."""

from collections.abc import Sequence

from tandem.analysis.ratios import Ratio


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def span(values: Sequence[float], digits: int = 0) -> str:
    """The least and the greatest."""
    return f"{min(values):,.{digits}f} to {max(values):,.{digits}f}"


def times(ratio: Ratio, digits: int = 2) -> str:
    """× 1.57 (1.25 to 1.98), with the 95 % interval."""
    if ratio.ratio is None:
        return "–"
    told = f"× {ratio.ratio:,.{digits}f}"
    if ratio.interval is None:
        return told
    low, high = ratio.interval
    return f"{told} ({low:,.{digits}f} to {high:,.{digits}f})"
