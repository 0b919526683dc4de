"""What SciPy's tests cost beside the same by hand, and whether both say the same.

    python3 harness/benchmarks/scipy_tests.py

The t tests of tandem.analysis.ratios are SciPy's, the sign flips are its own code; the other side of each is here. A line
for each test and size: how long SciPy takes for one by hand, and the largest relative difference of what they say.
"""

import math
import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from tandem.analysis import ratios
from tandem.analysis.ratios import Floats

SEED = 20261121
LEAST_S = 0.3
"""Each side is repeated for so long, or made once where that takes longer."""
LIMIT = math.log1p(ratios.MARGIN)
T_TESTS = [(1, 6), (1, 20), (4000, 6), (4000, 12), (20_000, 20)]
"""Comparisons at once, blocks of each."""
SIGN_FLIPS = [(1, 6), (1, 12), (1, 20), (1, 25), (4000, 6), (4000, 12)]
Test = Callable[[Floats], Floats]


def _mean_and_error(ln: Floats) -> tuple[Floats, Floats]:
    return ln.mean(axis=-1), ln.std(axis=-1, ddof=1) / math.sqrt(ln.shape[-1])


def p_difference(ln: Floats) -> Floats:
    mean, error = _mean_and_error(ln)
    return np.asarray(2 * stats.t.sf(np.abs(mean / error), ln.shape[-1] - 1))


def p_equivalence(ln: Floats) -> Floats:
    (mean, error), freedom = _mean_and_error(ln), ln.shape[-1] - 1
    above, below = (stats.t.sf((LIMIT + side * mean) / error, freedom) for side in (1, -1))
    return np.asarray(np.maximum(above, below))


def interval(ln: Floats) -> Floats:
    mean, error = _mean_and_error(ln)
    half = stats.t.ppf((1 + ratios.CONFIDENCE) / 2, ln.shape[-1] - 1) * error
    return np.array([mean - half, mean + half])


def p_sign_flip(ln: Floats) -> Floats:
    exact = ln.shape[-1] <= ratios.EXACT_UP_TO
    found = stats.permutation_test(
        (ln,),
        np.mean,
        permutation_type="samples",
        n_resamples=2**ratios.EXACT_UP_TO if exact else ratios.MONTE_CARLO_FLIPS,
        batch=4096 if ln.ndim == 1 else 256,
        axis=-1,
        rng=np.random.default_rng(SEED),
    )
    return np.asarray(found.pvalue)


TESTS: list[tuple[str, Test, Test, list[tuple[int, int]]]] = [
    ("p of no difference", ratios.p_difference, p_difference, T_TESTS),
    ("p of equivalence", ratios.p_equivalence, p_equivalence, T_TESTS),
    ("interval", lambda ln: np.array(ratios.interval(ln)), interval, T_TESTS),
    ("p by sign flips", p_sign_flip, ratios.p_sign_flip, SIGN_FLIPS),
]
"""Name, by SciPy, by hand, sizes."""


def lasts_s(test: Test, ln: Floats) -> float:
    """Seconds of one call, on average."""
    began, calls = time.perf_counter(), 0
    while time.perf_counter() < began + LEAST_S:
        test(ln)
        calls += 1
    return (time.perf_counter() - began) / calls


def main() -> None:
    chance = np.random.default_rng(SEED)
    for name, by_scipy, by_hand, sizes in TESTS:
        for sets, blocks in sizes:
            ln = np.squeeze(chance.normal(0.01, 0.05, (sets, blocks)))
            one, other = by_scipy(ln), by_hand(ln)
            apart = float(np.max(np.abs(one - other) / np.abs(other)))
            new, old = lasts_s(by_scipy, ln), lasts_s(by_hand, ln)
            print(
                f"{name:18} {sets:6} x {blocks:2}  SciPy {new * 1e3:9.3f} ms, by hand {old * 1e3:8.3f} ms:"
                f" {new / old:7.1f} times; apart by {apart:.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
