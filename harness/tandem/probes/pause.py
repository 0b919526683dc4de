"""How long a probe pauses between two looks."""

import random

SPREAD = 0.3
"""The share of the mean by which a pause may be shorter or longer."""


def uneven_s(mean_s: float) -> float:
    """Seconds until the next look. Even pauses could keep step with what is watched: all looks would fall on the same
    part of something that comes and goes a whole number of times between two of them."""
    return mean_s * random.uniform(1 - SPREAD, 1 + SPREAD)
