"""The Universal Scalability Law, fitted only where it fits. Pure.

X(n) = lambda n / (1 + sigma (n - 1) + kappa n (n - 1)): N. J. Gunther, Guerrilla Capacity Planning, 2007, chapter 4.
sigma is contention (waiting for what is shared), kappa is coherency (keeping it consistent).
"""

import warnings
from collections.abc import Sequence

import numpy as np
import scipy

from tandem.load.rows import Floats
from tandem.record.part import Number, Part

LEAST_POINTS = 5
R2_LEAST = 0.95
RELATIVE_ERROR_MOST = 0.5
AT_BOUND = 1e-7
SIGMA_MOST, KAPPA_MOST = 1.0, 1.0
FLOOR = 0.01
"""A rate is not known better than this, whatever a few rounds say."""


class Usl(Part):
    """The law's parameters, or why there are none."""

    lambda_rps: Number | None = None
    """Rate of one client alone."""
    sigma: Number | None = None
    kappa: Number | None = None
    peak_at: Number | None = None
    """sqrt((1 - sigma) / kappa): where the law has its maximum."""
    r2: Number | None = None
    reason: str | None = None
    """Why the law is not given."""


def law(n: Floats, scale: float, sigma: float, kappa: float) -> Floats:
    """The law's rate at each n."""
    return np.asarray(scale * n / (1 + sigma * (n - 1) + kappa * n * (n - 1)))


def fit(values: Sequence[int], rates_rps: Sequence[float], errors_rps: Sequence[float | None]) -> Usl:
    """Least squares, weighted by standard errors. values: clients; errors_rps: of each mean rate, None if unknown.

    Parameters are given only if R2 (of the weighted squares) is at least 0.95, sigma and kappa lie inside their
    bounds, and each parameter is known to half of itself; else `reason` says what is wrong.
    """
    if len(values) < LEAST_POINTS:
        return Usl(reason=f"{len(values)} points, and three parameters need {LEAST_POINTS}")
    n, x = np.array(values, dtype=np.float64), np.array(rates_rps, dtype=np.float64)
    errors = np.maximum([error or 0.0 for error in errors_rps], FLOOR * x)
    first = x[0] / n[0]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", scipy.optimize.OptimizeWarning)
            found, covariance = scipy.optimize.curve_fit(
                law,
                n,
                x,
                p0=(first, 0.05, 1e-4),
                sigma=errors,
                bounds=((0, 0, 0), (np.inf, SIGMA_MOST, KAPPA_MOST)),
                x_scale=(first, 0.1, 1e-3),
                max_nfev=10_000,
            )
    except (RuntimeError, scipy.optimize.OptimizeWarning) as failure:
        return Usl(reason=f"the fit does not converge: {failure}")
    weights = 1 / errors**2
    mean = np.average(x, weights=weights)
    r2 = float(1 - (weights * (x - law(n, *found)) ** 2).sum() / (weights * (x - mean) ** 2).sum())
    scale, sigma, kappa = map(float, found)
    if not r2 >= R2_LEAST:
        return Usl(
            r2=r2 if np.isfinite(r2) else None, reason=f"it does not fit: R2 is {r2:.3f}, below {R2_LEAST}"
        )
    for name, value, most in (("sigma", sigma, SIGMA_MOST), ("kappa", kappa, KAPPA_MOST)):
        if not AT_BOUND < value < most * (1 - AT_BOUND):
            return Usl(
                r2=r2, reason=f"{name} is {value:.3g}, at its bound: the points do not show its effect"
            )
    for name, value, own in zip(
        ("lambda", "sigma", "kappa"), found, np.sqrt(np.diag(covariance)), strict=True
    ):
        if not own <= RELATIVE_ERROR_MOST * value:
            return Usl(r2=r2, reason=f"{name} is {value:.3g} ± {own:.2g}: the points do not determine it")
    peak = float(np.sqrt((1 - sigma) / kappa))
    return Usl(lambda_rps=scale, sigma=sigma, kappa=kappa, peak_at=peak, r2=r2)
