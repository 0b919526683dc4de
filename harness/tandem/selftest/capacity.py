"""The capacity search against simulated servers whose limit is known. Pure; seeded."""

import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from tandem.record.outcome import Outcome
from tandem.studies.capacity.search import LEAD, MOST_PROBES, Search

SEARCHES = 2_000
NEAR = 0.05
"""A probe within this share of the limit may come out wrong."""
WRONG = 0.10
BASE_MS, FULL_MS, SLO_MS = 12.0, 400.0, 50.0
WANTED = 0.95
"""19 of 20."""


@dataclass
class Server:
    """Its p99 jumps at the limit; near the limit every tenth probe comes out on the wrong side."""

    limit_rps: float
    noise: random.Random

    def p99_ms(self, rate_rps: int) -> float:
        over = rate_rps > self.limit_rps
        if abs(rate_rps / self.limit_rps - 1) < NEAR and self.noise.random() < WRONG:
            over = not over
        return (FULL_MS if over else BASE_MS) * self.noise.lognormvariate(0, 0.1)


def search(server: Server, start_rps: int, lead: int = LEAD) -> Search:
    """A whole search, probe by probe."""
    state = Search(start_rps, lead=lead)
    while (rate := state.next_rps()) is not None:
        state.tell(rate, server.p99_ms(rate) <= SLO_MS)
    return state


def brackets(state: Search, limit_rps: float) -> bool:
    """Does the limit lie between the edges?"""
    lower, upper = state.lower_rps, state.upper_rps
    return lower is not None and upper is not None and lower <= limit_rps <= upper


def simulate(lead: int = LEAD, searches: int = SEARCHES, seed: int = 1) -> tuple[float, float, int]:
    """Share of searches whose bracket holds the limit; probes of a search in the mean and at the most.

    Limits are spread over two decades; a search starts at 0.3 to 1.6 times the limit.
    """
    noise = random.Random(seed)
    held, probes = 0, []
    for _ in range(searches):
        server = Server(limit_rps=200 * 100 ** noise.random(), noise=noise)
        state = search(server, int(server.limit_rps * noise.uniform(0.3, 1.6)), lead)
        held += brackets(state, server.limit_rps)
        probes.append(state.probes)
    return held / searches, statistics.fmean(probes), max(probes)


def known_limit() -> Outcome:
    """Brackets a known limit in 19 of 20 searches and 12 probes; without repetition it does not."""
    share, mean, most = simulate()
    without, _, _ = simulate(lead=1)
    return Outcome(
        name="capacity search brackets a known limit",
        group="statistics",
        expected=f"{WANTED:.0%} of searches, {MOST_PROBES} probes at the most",
        measured=f"{share:.1%} of {SEARCHES:,} searches, {mean:.1f} probes in the mean, {most} at the most",
        tolerance=f"at least {WANTED:.0%}",
        passed=share >= WANTED and most <= MOST_PROBES,
        negative_control=f"edges decided by one probe: {without:.1%}",
        negative_control_failed=without < WANTED,
    )


def checks() -> list[Callable[[], Outcome]]:
    """What `tandem selftest` runs of this module."""
    return [known_limit]
