"""When the requests of a load are due, and which they are. Pure and fixed by the seed."""

import numpy as np

from tandem.errors import TandemError
from tandem.load.generator import Load
from tandem.load.rows import Ints
from tandem.record.trial import Arrivals

CLOSED = 20_000
"""So many requests of a closed loop are drawn; then they come once more in the same order."""


def schedule(load: Load, sizes: list[int]) -> tuple[Ints, Ints]:
    """Due instants in nanoseconds, and the number of each request; a closed loop is due at once. sizes: distinct requests of
    each of the load's parts, which are numbered one after the other. Of several generators' arrivals those of this one.

    Raises TandemError for bursts that do not fit in their period.
    """
    random = np.random.Generator(np.random.PCG64(load.arrivals.seed))
    rate_rps = load.whole_rps or load.rate_rps
    if rate_rps is None:
        due = np.zeros(CLOSED, dtype=np.int64)
    else:
        due = (instants_s(load.arrivals, rate_rps, load.duration_s, random) * 1e9).astype(np.int64)
    which = _requests([part.weight for part in load.parts], sizes, len(due), random)
    own = slice(load.share[0], None, load.share[1])
    return due[own], which[own]


def instants_s(
    arrivals: Arrivals, rate_rps: float, duration_s: float, random: np.random.Generator
) -> np.typing.NDArray[np.float64]:
    """When requests arrive, so many that the rate is exact.

    Given how many arrive, the instants of a Poisson process are as many independent uniform ones in order (Ross,
    Stochastic Processes, theorem 2.3.1). Raises TandemError for bursts that do not fit in their period.
    """
    number = int(np.ceil(duration_s * rate_rps - 1e-9))
    if arrivals.process == "poisson":
        return np.sort(random.uniform(0.0, duration_s, number))
    if arrivals.process == "paced" or arrivals.size is None or arrivals.pause_ms is None:
        return np.arange(number) / rate_rps
    period_s, pause_s = arrivals.size / rate_rps, arrivals.pause_ms / 1e3
    if pause_s >= period_s:
        raise TandemError(
            f"at {rate_rps:,}/s a burst of {arrivals.size} comes every {period_s * 1e3:,.0f} ms, which leaves no pause of"
            f" {arrivals.pause_ms:,} ms: use larger bursts or a shorter pause"
        )
    bursts, within = np.divmod(np.arange(number), arrivals.size)
    return np.asarray(bursts * period_s + within * (period_s - pause_s) / arrivals.size)


def _requests(weights: list[int], sizes: list[int], number: int, random: np.random.Generator) -> Ints:
    """Which request each arrival is: of the parts in their exact shares, in random order; within a part each alike."""
    edges = np.round(np.cumsum([0, *weights]) / sum(weights) * number).astype(np.int64)
    part = random.permutation(np.repeat(np.arange(len(weights)), np.diff(edges)))
    first = np.cumsum([0, *sizes[:-1]])
    return np.asarray(first[part] + random.integers(0, np.asarray(sizes)[part]), dtype=np.int64)
