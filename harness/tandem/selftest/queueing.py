"""Queues of known load, end to end: against the recursion over the server's own log, and against the theory of queues."""

import math
from dataclasses import dataclass

import numpy as np
import scipy

from tandem.judge.judge import LATENESS_P99_WARN_MS
from tandem.lab.sites import APP, APP_PORT
from tandem.load.rows import Floats
from tandem.record.selftest import Outcome
from tandem.record.trial import Arrivals
from tandem.selftest.known_answer import KnownAnswer, close
from tandem.selftest.stage import HONEST, Running, SeenFromBothEnds, Stage
from tandem.selftest.timing import LEAST_MS, LEAST_SHARE, late, path, require_same, way
from tandem.selftest.units import evenly_spaced_mean, lindley, mean_error, poisson_mean

LOADS = (0.5, 0.7)
SERVICE_S, WAKING_SHARE = 0.005, 0.04
"""Time of a service, and the share that a server which arrivals at random wake up may take beyond the recursion: 0.2 ms on a slow host."""
WINDOWS = 10
"""Windows of each queue. A window that the host disturbs is made again by itself, and each is long enough for a beginning without a
queue not to matter."""


@dataclass(frozen=True)
class Queue:
    """A single server with arrivals at random or evenly spaced, and with exponential services or ones that are all alike."""

    name: str
    poisson: bool
    exponential: bool = True

    def behaviour(self, load: float, number: int) -> str:
        """The server's behaviour in the window of that number: each draws other service times."""
        how = "" if self.exponential else "&busy=1"
        return f"kind=queue&us={SERVICE_S * 1e6:.0f}{how}&seed={round(load * 100) + 1000 * number}"

    def arrivals(self, number: int) -> Arrivals | None:
        return Arrivals(process="poisson", seed=number) if self.poisson else None

    def mean(self, load: float) -> float:
        """Mean response time in service times, by theory."""
        return poisson_mean(load, self.exponential) if self.poisson else evenly_spaced_mean(load)


EVEN = Queue("queue", poisson=False)
RANDOM_S = 25
AT_RANDOM = Queue("M/M/1 queue", poisson=True), Queue("M/D/1 queue", poisson=True, exponential=False)
DRAWN_MS = 0.5
"""Distance of the mean from the recursion that is allowed where arrivals are drawn, or the way, if that is more: the way is
measured on an idle path, one request at a time; of those that come at random several are on it."""


def as_asked(busy: float, load: float, requests: int) -> bool:
    """Whether a load of so many exponential services is the one that was asked for. Their mean scatters by 1 / sqrt(requests);
    besides, a server may take a tenth of a millisecond, 2 % of SERVICE_S, more than it is told."""
    return close(busy / load, 1, 0.02 + 3 / math.sqrt(requests))


def queue(
    running: Running, of: Queue, load: float, idle: SeenFromBothEnds, seconds: int, windows: int
) -> Outcome:
    """A single server, over all windows together. The generator is held against the recursion over the server's log, the
    recursion against the log itself and against the theory at the load that there was, which has to be the one that was
    asked for. Where the generator draws the arrivals, the recursion is over the instants at which requests were due."""
    rate, way_s = round(load / SERVICE_S), float(np.median(way(idle)))
    least_ms, errors, said = (max(DRAWN_MS, way_s * 1e3), 4, "four") if of.poisson else (LEAST_MS, 3, "three")
    seen = [
        running.steady_window(
            seconds, of.behaviour(load, number), rate_rps=rate, connections=50, arrivals=of.arrivals(number)
        )
        for number in range(windows)
    ]
    for one in seen:
        require_same(one)
    late_s = np.concatenate([late(one) for one in seen])
    took_s = np.concatenate([one.served.service_s for one in seen])
    own_s = np.concatenate([one.served.response_s for one in seen])
    recursion_s = np.concatenate([lindley(one.served.arrival_s, one.served.service_s) for one in seen])
    wanted_ms = float((recursion_s + late_s).mean() + way_s) * 1e3
    found_ms = float(np.concatenate([one.response_s() for one in seen]).mean()) * 1e3
    replayed, busy = recursion_s.mean() / own_s.mean(), rate * float(took_s.mean())
    spread = errors * mean_error(load, len(took_s), random=of.poisson, exponential=of.exponential)
    theory, unqueued_ms = of.mean(busy), float((took_s + late_s).mean() + way_s) * 1e3
    in_services = float(recursion_s.mean() / took_s.mean())
    waking = WAKING_SHARE if of.poisson else LEAST_SHARE
    consistent = close(replayed, 1, waking) and as_asked(busy, load, len(took_s))
    consistent &= abs(in_services - theory) <= spread
    return KnownAnswer[float](
        name=f"{of.name} at {load:.0%} load",
        expected=f"{wanted_ms:.2f} ms by the recursion, which theory puts at {theory:.3f} service times at {busy:.1%} load;"
        f" it gives {in_services:.3f} service times and {replayed:.4f} of the server's own log",
        tolerance=f"{least_ms:.1f} ms or 1 %; {spread:.2f} ({said} standard errors of {len(took_s):,} requests)",
        right=lambda ms: close(ms, wanted_ms, LEAST_SHARE, least_ms) and consistent,
        shown=lambda ms: f"{ms:.2f} ms",
        broken="without the queue",
        caught=lambda ms: not close(ms, wanted_ms, LEAST_SHARE, least_ms),
    ).judged(found_ms, unqueued_ms)


FAST_RPS, FAST_S, LATE_P99_MS = 2000, 5, 1.0
"""A rate beyond those of most windows, and how late the generator may be at it. Where it shares its CPU with services, it may be as late
as the judge lets it be."""


def _gaps_p(due_s: Floats, seconds: float) -> float:
    """Probability of gaps as uneven as these, if arrivals are at random: by Kolmogorov and Smirnov, against the exponential."""
    return float(scipy.stats.kstest(np.diff(due_s) * len(due_s) / seconds, "expon").pvalue)


def schedule(running: Running) -> Outcome:
    """A server that answers at once, without HAProxy beside the generator: requests leave when they are due, and arrive at
    random."""
    drawn, address = Arrivals(process="poisson", seed=1), f"{APP}:{APP_PORT}"
    seen = running.steady_window(
        FAST_S, HONEST, rate_rps=FAST_RPS, connections=50, address=address, arrivals=drawn
    )
    late_ms, due_s = float(np.quantile(late(seen), 0.99)) * 1e3, seen.rows.due_s
    assert due_s is not None
    core, limit_ms = seen.window.roles["loadgen"].cpu_cores, LATE_P99_MS
    if seen.window.roles["loadgen"].cpuset == seen.window.roles["db"].cpuset:
        limit_ms = LATENESS_P99_WARN_MS
    return KnownAnswer[float](
        name=f"arrivals at random, {FAST_RPS:,}/s",
        expected=f"exponential gaps, {FAST_RPS * FAST_S:,} requests, p99 of the lateness under {limit_ms:.0f} ms",
        tolerance="p > 0.001",
        right=lambda p: p > 0.001 and late_ms < limit_ms and len(seen.rows) == FAST_RPS * FAST_S,
        shown=lambda p: (
            f"p {p:.2g}, {len(seen.rows):,} requests, {late_ms:.2f} ms late at p99, {core:.2f} cores"
        ),
        broken="evenly spaced",
        caught=lambda p: p < 0.001,
    ).judged(_gaps_p(due_s, FAST_S), _gaps_p(np.arange(len(due_s)) / FAST_RPS, FAST_S))


def run(stage: Stage, requests: int = 100_000) -> list[Outcome]:
    """Evenly spaced arrivals at 50 and 70 % load, with so many requests that the theory binds to 2 and 4 %."""
    with stage.running() as running:
        idle = path(running, round(0.5 / SERVICE_S))
        seconds = {load: round(requests * SERVICE_S / load / WINDOWS) for load in LOADS}
        return [queue(running, EVEN, load, idle, seconds[load], WINDOWS) for load in LOADS]


def at_random(stage: Stage) -> list[Outcome]:
    """Arrivals that the generator draws, at half load."""
    with stage.running() as running:
        idle = path(running, round(0.5 / SERVICE_S))
        queues = [queue(running, of, 0.5, idle, RANDOM_S, 1) for of in AT_RANDOM]
        return [schedule(running), *queues]
