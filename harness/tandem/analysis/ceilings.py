"""How near a rate is to what the parts around the application reach. Pure."""

CENSORED_SHARE = 0.9
"""A goodput above this share of the lowest ceiling is a lower bound: the ceiling's as much as the application's."""


def share_of_ceiling(goodput_rps: float | None, ceilings_rps: dict[str, float | None]) -> float | None:
    """The goodput by the lowest ceiling that was measured; None without either."""
    lowest = min((rate for rate in ceilings_rps.values() if rate), default=None)
    return goodput_rps / lowest if goodput_rps and lowest else None


def reaches_ceiling(goodput_rps: float | None, ceilings_rps: dict[str, float | None]) -> bool:
    """Is it a lower bound? False where no ceiling was looked at."""
    return (share_of_ceiling(goodput_rps, ceilings_rps) or 0) > CENSORED_SHARE
