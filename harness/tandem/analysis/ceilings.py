"""How near a rate is to what the parts around the application reach. Pure."""

from collections.abc import Mapping

CENSORED_SHARE = 0.9
"""A goodput above this share of the lowest ceiling is a lower bound: the ceiling's as much as the application's."""


def holding(ceilings_rps: Mapping[str, float | None], reached_rps: float) -> dict[str, float]:
    """Those that nothing passed: what an application passes is no ceiling, and cuts nothing off. reached_rps: the highest
    rate of the session."""
    return {name: rate for name, rate in ceilings_rps.items() if rate and rate >= reached_rps}


def share_of_ceiling(goodput_rps: float | None, ceilings_rps: Mapping[str, float | None]) -> float | None:
    """The goodput by the lowest ceiling that was measured; None without either."""
    lowest = min((rate for rate in ceilings_rps.values() if rate), default=None)
    return goodput_rps / lowest if goodput_rps and lowest else None


def reaches_ceiling(goodput_rps: float | None, ceilings_rps: Mapping[str, float | None]) -> bool:
    """Is it a lower bound? False where no ceiling was looked at."""
    return (share_of_ceiling(goodput_rps, ceilings_rps) or 0) > CENSORED_SHARE
