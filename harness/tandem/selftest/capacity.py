"""The capacity search and its interval against simulated servers whose limit is known. Pure; seeded."""

import math
import random
import statistics
from dataclasses import dataclass

from tandem.analysis.threshold import SPREADS, StartProbes, threshold
from tandem.record.selftest import Outcome
from tandem.selftest.known_answer import KnownAnswer
from tandem.studies.capacity.search import LEAD, MORE_PROBES, MOST_PROBES, Approach, Search, next_start_rps

SEARCHES = 2_000
NEAR = 0.05
"""A probe within this share of the limit may come out wrong."""
WRONG = 0.10
BASE_MS, FULL_MS, SLO_MS = 12.0, 400.0, 50.0
WANTED = 0.95
"""Share of searches whose bracket holds the limit."""
STUDIES, STARTS = 150, 6
START_SD, PROBE_SD = 0.08, 0.05
"""Scatter of starts and of probes, as on a small machine: standard deviations of logarithms."""
COVERED = 0.93
"""Least share of intervals that hold the limit, of 95 %."""


@dataclass
class Server:
    """A server whose p99 jumps at the limit; near the limit every tenth probe comes out on the wrong side."""

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
    """Whether the limit lies between the edges."""
    lower, upper = state.edges
    return lower is not None and upper is not None and lower <= limit_rps <= upper


def simulate(lead: int = LEAD) -> tuple[float, float, int]:
    """Share of searches whose bracket holds the limit; probes of a search in the mean and at most.

    Limits are spread over two decades; a search starts at 0.3 to 1.6 times the limit.
    """
    noise = random.Random(1)
    held, probes = 0, []
    for _ in range(SEARCHES):
        server = Server(limit_rps=200 * 100 ** noise.random(), noise=noise)
        state = search(server, int(server.limit_rps * noise.uniform(0.3, 1.6)), lead)
        held += brackets(state, server.limit_rps)
        probes.append(state.probes)
    return held / SEARCHES, statistics.fmean(probes), max(probes)


def known_limit() -> Outcome:
    """The search finds a known limit in 19 of 20 cases; without repetition it does not."""
    return KnownAnswer[tuple[float, float, int]](
        name="capacity search brackets a known limit",
        expected=f"{WANTED:.0%} of searches, {MOST_PROBES + MORE_PROBES} probes at most",
        tolerance=f"at least {WANTED:.0%}",
        right=lambda found: found[0] >= WANTED and found[2] <= MOST_PROBES + MORE_PROBES,
        shown=lambda found: (
            f"{found[0]:.1%} of {SEARCHES:,} searches, {found[1]:.1f} probes on average, {found[2]} at most"
        ),
        broken="edges decided by one probe",
        caught=lambda found: found[0] < WANTED,
    ).judged(simulate(), simulate(lead=1))


def study(noise: random.Random) -> tuple[float, list[StartProbes]]:
    """A limit, and the probes of a whole study of servers whose starts and probes scatter around it."""
    limit_rps = 200 * 100 ** noise.random()

    def follow(state: Search | Approach) -> list[tuple[float, bool]]:
        own_rps, probes = limit_rps * math.exp(noise.gauss(0, START_SD)), []
        while (rate := state.next_rps()) is not None:
            passed = rate <= own_rps * math.exp(noise.gauss(0, PROBE_SD))
            state.tell(rate, passed)
            probes.append((float(rate), passed))
        return probes

    made: list[StartProbes] = [follow(Search(max(1, int(limit_rps * noise.uniform(0.3, 1.6)))))]
    while len(made) < STARTS:
        made.append(follow(Approach(next_start_rps(made))))
    return limit_rps, made


def coverage() -> tuple[float, float, float]:
    """Share of intervals that hold the limit; the same where the first start is taken for all; and the mean width of an
    interval to either side, as a share."""
    noise = random.Random(1)
    held, naive, widths = 0, 0, []
    for _ in range(STUDIES):
        limit_rps, starts = study(noise)
        found = threshold(starts)
        alone = threshold(starts[:1], SPREADS[:1])
        assert found is not None
        assert alone is not None
        held += found.interval_rps[0] <= limit_rps <= found.interval_rps[1]
        naive += alone.interval_rps[0] <= limit_rps <= alone.interval_rps[1]
        widths.append(math.log(found.interval_rps[1] / found.interval_rps[0]) / 2)
    return held / STUDIES, naive / STUDIES, statistics.fmean(widths)


def interval_of_the_capacity() -> Outcome:
    """Starts differ by 8 % and probes by 5 %."""
    share, naive, width = coverage()
    return KnownAnswer[float](
        name="interval of the capacity",
        expected=f"95 % of the intervals hold the limit; {width:.1%} to either side on average",
        tolerance=f"at least {COVERED:.0%}",
        right=lambda found: found >= COVERED,
        shown=lambda found: f"{found:.1%} of {STUDIES} studies",
        broken="the search's start taken for all",
    ).judged(share, naive)


CHECKS = (known_limit, interval_of_the_capacity)
