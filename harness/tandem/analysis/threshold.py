"""Where passing turns into failing: a logistic fit of pass against ln rate, with the fresh start as a random effect. Pure.

A probe at a rate passes with probability logistic((limit - ln rate) / scale). Each start has a limit of its own, normal
around that of the middle start. What is wanted is the middle limit; a start, not a probe, is what is repeated.

The random effect is integrated out on a grid, and so are its size and the scale, over weak priors. A maximum of the
likelihood would not do: a start that passes below and fails above, as most do, makes the slope infinite, and five starts
tell the size of their scatter so badly that an interval which takes it as known is too short (Gelman, Bayesian
Analysis 1, 2006, whose half-Cauchy prior for so few groups is used; the scale 0.1 says that starts differ by 10 % rather
than by 100 %). statsmodels' mixed logistic model takes the same sizes as known; so it is no dependency. A grid of so few
parameters takes milliseconds. tandem.selftest.capacity simulates how often the interval holds the truth.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import log_expit

from tandem.analysis.ratios import CONFIDENCE
from tandem.load.rows import Floats
from tandem.record.part import Number, Part

STEP, BEYOND = 0.0125, 0.6
"""Step of the grid of ln rates, and how far the grid goes on beyond all probes."""
SPREADS = np.geomspace(0.004, 0.6, 18)
SPREAD_PRIOR = 0.1
SCALES = np.geomspace(0.004, 0.15, 9)
SCALE_PRIOR, SCALE_FACTOR = 0.025, 3.0
"""Log-normal: the middle, and within which factor two thirds of it are. A scale of 0.025 is a scatter of 5 %."""

type StartProbes = Sequence[tuple[float, bool]]
"""One fresh start's probes: rate and whether it passed."""


class Threshold(Part):
    """The rate that a middle start holds half of the time."""

    rate_rps: Number
    interval_rps: tuple[Number, Number]
    """95 % interval of the rate."""
    start_sd: Number
    """How much the limits of single starts differ, as a share."""
    starts: int
    probes: int


def threshold(starts: Sequence[StartProbes], spreads: Floats = SPREADS) -> Threshold | None:
    """The threshold; None where all probes passed, or none did: there is nothing to find on one side.

    spreads: values that the starts' spread may have.
    """
    starts = [start for start in starts if start]
    outcomes = {passed for start in starts for _, passed in start}
    if len(outcomes) < 2:
        return None
    rates = np.log([rate for start in starts for rate, _ in start])
    grid = np.arange(rates.min() - BEYOND, rates.max() + BEYOND, STEP)
    # How likely each start's probes are, for each scale and each limit it may have: (scales, starts, limits).
    fits = np.zeros((len(SCALES), len(starts), len(grid)))
    for place, start in enumerate(starts):
        for rate, passed in start:
            margin = (grid - math.log(rate)) / SCALES[:, None]
            fits[:, place] += log_expit(margin if passed else -margin)
    likely = np.exp(fits)
    # Along both axes that are geometric a step is worth its value, which the densities are multiplied by.
    spread_prior = spreads / (1 + (spreads / SPREAD_PRIOR) ** 2)
    scale_prior = np.exp(-((np.log(SCALES / SCALE_PRIOR) / math.log(SCALE_FACTOR)) ** 2) / 2)
    posterior = np.empty((len(spreads), len(SCALES), len(grid)))
    distance = grid[:, None] - grid
    for place, spread in enumerate(spreads):
        around = np.exp(-((distance / spread) ** 2) / 2)
        around /= around.sum(axis=0)
        with np.errstate(divide="ignore"):
            posterior[place] = (
                np.log(likely @ around).sum(axis=1) + np.log(spread_prior[place] * scale_prior)[:, None]
            )
    weights = np.exp(posterior - posterior.max())
    weights /= weights.sum()
    middle = np.cumsum(weights.sum(axis=(0, 1)))
    low, rate, high = (
        math.exp(float(np.interp(q, middle, grid))) for q in ((1 - CONFIDENCE) / 2, 0.5, (1 + CONFIDENCE) / 2)
    )
    spread = float(np.interp(0.5, np.cumsum(weights.sum(axis=(1, 2))), spreads))
    return Threshold(
        rate_rps=rate,
        interval_rps=(low, high),
        start_sd=spread,
        starts=len(starts),
        probes=sum(map(len, starts)),
    )
