"""Known times, end to end, against the server's own log: stalls, stops, hangs, distributions, and queues of known load, which are held
against the theory of queues as well."""

import math
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import scipy

from tandem.errors import TandemError
from tandem.hosts import HERE, Host
from tandem.judge.judge import LATENESS_P99_WARN_MS
from tandem.lab.sites import APP, APP_PORT
from tandem.load.rows import Floats
from tandem.record.selftest import Outcome
from tandem.record.trial import Arrivals
from tandem.record.window import Verdict
from tandem.selftest.known_answer import KnownAnswer, close
from tandem.selftest.stage import HONEST, Running, SeenFromBothEnds, Stage, require
from tandem.selftest.units import (
    BASE_S,
    RATE_RPS,
    Pause,
    evenly_spaced_mean,
    lindley,
    mean_error,
    paced,
    poisson_mean,
    stall_figures,
    stall_shown,
    stalled,
)

FEW = 12
OPENED = 4 * FEW
"""Few enough for the uncorrected figure to miss the stall."""
LEAST_MS, LEAST_SHARE = 0.3, 0.01
TAIL_MS = 2.0
"""Tolerance of p99 where generator, proxy and the way back share a CPU: an answer then waits its turn now and then."""
PATH_S, DISTRIBUTION_S, PAUSED_S, HANG_S = 5, 7, 10, 5
DRAWS = 20
"""Ways that are drawn for each request."""


def require_same(seen: SeenFromBothEnds) -> None:
    """Raises TandemError unless generator and server count the same requests."""
    text = f"the server logged {len(seen.served)} requests, the generator {len(seen.rows)}"
    require(len(seen.served) == len(seen.rows), text)


# ---- pauses ----


def uncorrected_s(seen: SeenFromBothEnds) -> Floats:
    """Response times as the generator itself counts them: from the actual send."""
    return np.asarray(seen.rows.end_s - seen.rows.start_s)


def stall(running: Running, idle: SeenFromBothEnds) -> Outcome:
    """The server stands still for 2 s. idle: a window that tells how long the way is, which a backlog takes as well."""
    seen = running.steady_window(
        PAUSED_S, "kind=stall&us=5000&at_ms=4000&for_ms=2000", rate_rps=RATE_RPS, connections=FEW
    )
    low, high = 2.0, PAUSED_S - 1.0
    each_s = BASE_S + float(np.median(way(idle)))
    wanted = stall_figures(paced(high - low, OPENED, each_s, server=Pause(2, 2)).response_s)
    expected, broken = f"{stall_shown(wanted)} in {PAUSED_S} s", "uncorrected, as the generator itself counts"
    measured_s, control_s = seen.response_s(low, high), uncorrected_s(seen)
    return stalled("server stalls for 2 s", expected, wanted, measured_s, broken, control_s)


def stopped_s(host: Host, container_pid: int, after_s: float, for_s: float) -> float | None:
    """Stops the generator once, some seconds after it has begun. Returns how long it stood still; None: there was none."""
    group, deadline = host.cgroup(container_pid), time.monotonic() + 30
    while not (pids := group.processes("oha")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(after_s)
    began = time.monotonic()
    for number, lasts_s in ((signal.SIGSTOP, for_s), (signal.SIGCONT, 0.0)):
        for pid in pids:
            host.signal(pid, number)
        time.sleep(lasts_s)
    return time.monotonic() - began if pids else None


def generator_stop(running: Running) -> Outcome:
    """The generator stands still for 1 s: its own figures would not show it, and the window is void."""
    with ThreadPoolExecutor() as threads:
        stopping = threads.submit(stopped_s, HERE, running.app.stack.service("loadgen").pid, 5, 1)
        seen = running.window(PAUSED_S, "kind=constant&us=5000", rate_rps=RATE_RPS, connections=FEW)
        stood_still_s = stopping.result()
    if stood_still_s is None:
        raise TandemError("the generator was not found among the processes of its container")
    low, high = 1.0, PAUSED_S - 1.0
    model = paced(high - low, OPENED, generator=Pause(4, stood_still_s))
    wanted = float(np.quantile(model.response_s, 0.99))
    void = seen.window.verdict is Verdict.VOID and "generator-stalled" in seen.codes()
    said = f"{seen.window.verdict}: {', '.join(sorted(seen.codes())) or 'nothing'}"
    return KnownAnswer[float](
        name="generator stopped for 1 s",
        expected=f"p99 {wanted:.2f} s in {PAUSED_S} s, void: generator-stalled",
        tolerance="5 %",
        right=lambda p99: close(p99, wanted, 0.05) and void,
        shown=lambda p99: f"p99 {p99:.3g} s, {said}",
        broken="uncorrected",
        caught=lambda p99: not close(p99, wanted, 0.05),
    ).judged(
        *(float(np.quantile(times_s, 0.99)) for times_s in (seen.response_s(low, high), uncorrected_s(seen)))
    )


def hang(running: Running, honest: SeenFromBothEnds) -> Outcome:
    """The server answers nothing in the last two seconds. honest: a window in which it did answer."""
    behaviour = f"kind=stall&us=5000&at_ms={(HANG_S - 2) * 1000}&for_ms=60000"
    seen = running.steady_window(HANG_S, behaviour, rate_rps=RATE_RPS, connections=FEW)
    wanted = (HANG_S - 2) / HANG_S

    def answered(one: SeenFromBothEnds) -> float:
        return one.window.good / (one.window.scheduled or 1)

    return KnownAnswer[SeenFromBothEnds](
        name="the last 2 s hang",
        expected=f"invalid: incomplete, about {wanted:.0%} answered",
        tolerance="15 %",
        right=lambda one: (
            one.window.verdict is Verdict.INVALID
            and "incomplete" in one.codes()
            and abs(answered(one) - wanted) < 0.15
        ),
        shown=lambda one: (
            f"{one.window.verdict}: {', '.join(sorted(one.codes()))}, {answered(one):.0%} answered"
        ),
        broken="the same server that does not hang",
        caught=lambda one: "incomplete" not in one.codes(),
    ).judged(seen, honest)


# ---- distributions ----

DISTRIBUTIONS = {
    "constant 10 ms": "kind=constant&us=10000",
    "2 ms, and 100 ms for a tenth": "kind=mixture&us=2000&slow_us=100000&slow_share=0.1&seed=3",
    "lognormal, median 10 ms": "kind=lognormal&us=10000&sigma=0.5&seed=3",
}
QUANTILES = (0.5, 0.9, 0.99)


def late(seen: SeenFromBothEnds) -> Floats:
    """Seconds by which each request left after it was due: by its schedule, or request i at i / rate after the beginning.

    Taken from the rows, because the generator's pacer counts whole milliseconds and begins anywhere in one.
    """
    assert seen.window.offered_rps is not None
    return np.asarray(seen.rows.start_s - seen.rows.due(seen.window.offered_rps))


def true_response(seen: SeenFromBothEnds) -> Floats:
    """Response times with the server's own times in them; without the way there and back."""
    return np.asarray(late(seen) + seen.served.response_s)


def way(seen: SeenFromBothEnds) -> Floats:
    """Seconds that each request spent on its way there and back, which true_response leaves out."""
    require_same(seen)
    return np.asarray(uncorrected_s(seen) - seen.served.response_s)


def with_way(true_s: Floats, way_s: Floats) -> Floats:
    """Response times as a client has them: each true one with a way drawn from those that there were.

    A median of the way would do for p50; the tail has requests that waited for a CPU on their way, and how many of them
    there are is the host's doing, not the generator's or the harness's.
    """
    drawn = np.random.default_rng(0).choice(way_s, (DRAWS, len(true_s)))
    return np.asarray((true_s + drawn).ravel())


def _quantiles(values_ms: Floats) -> str:
    p50, p90, p99 = values_ms
    return f"p50 {p50:.2f}, p90 {p90:.2f}, p99 {p99:.2f} ms"


def distribution(name: str, seen: SeenFromBothEnds, ways_s: Floats) -> Outcome:
    """Percentiles of a known distribution, against the server's own log. ways_s: of other windows in which it waits."""
    require_same(seen)
    wanted = np.quantile(with_way(true_response(seen), ways_s), QUANTILES) * 1e3
    found = np.quantile(seen.response_s(), QUANTILES) * 1e3
    shared = seen.window.roles["loadgen"].cpuset == seen.window.roles["proxy"].cpuset
    least_ms = np.array([LEAST_MS, LEAST_MS, TAIL_MS if shared else LEAST_MS])
    allowed_ms = np.maximum(least_ms, LEAST_SHARE * wanted)
    return KnownAnswer[Floats](
        name=name,
        expected=_quantiles(wanted),
        tolerance=f"0.3 ms or 1 %; p99 {least_ms[-1]:.1f} ms or 1 %",
        right=lambda values: bool((np.abs(values - wanted) <= allowed_ms).all()),
        shown=lambda values: f"{_quantiles(values)}, {seen.window.verdict}",
        broken="the same figures, twice the tolerance later",
    ).judged(found, found + 2 * allowed_ms)


def path(running: Running, rate_rps: int) -> SeenFromBothEnds:
    """A window of a server that answers at once."""
    seen = running.steady_window(PATH_S, HONEST, rate_rps=rate_rps, connections=OPENED)
    require_same(seen)
    return seen


def run(stage: Stage) -> list[Outcome]:
    """The checks of this module, in one fresh start."""
    with stage.running() as running:
        idle = path(running, RATE_RPS)
        seen = {
            name: running.steady_window(DISTRIBUTION_S, behaviour, rate_rps=RATE_RPS, connections=OPENED)
            for name, behaviour in DISTRIBUTIONS.items()
        }
        # Where the server waits, a request meets the host's moods twice, on its way there and on its way back. Where it
        # answers at once, both are one moment, and the tail is shorter.
        ways_s = {name: way(window) for name, window in seen.items()}
        out = [
            distribution(name, window, np.concatenate([ways_s[other] for other in seen if other != name]))
            for name, window in seen.items()
        ]
        return [*out, stall(running, idle), generator_stop(running), hang(running, idle)]


def hangs(stage: Stage) -> list[Outcome]:
    """The weekly class: a hang at the end fails every time."""
    with stage.running() as running:
        honest = path(running, RATE_RPS)
        return [hang(running, honest) for _ in range(5)]


# ---- queues ----

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


def long_queues(stage: Stage, requests: int = 100_000) -> list[Outcome]:
    """Evenly spaced arrivals at 50 and 70 % load, with so many requests that the theory binds to 2 and 4 %."""
    with stage.running() as running:
        idle = path(running, round(0.5 / SERVICE_S))
        seconds = {load: round(requests * SERVICE_S / load / WINDOWS) for load in LOADS}
        return [queue(running, EVEN, load, idle, seconds[load], WINDOWS) for load in LOADS]


def arrivals(stage: Stage) -> list[Outcome]:
    """Arrivals that the generator draws, at half load."""
    with stage.running() as running:
        idle = path(running, round(0.5 / SERVICE_S))
        queues = [queue(running, of, 0.5, idle, RANDOM_S, 1) for of in AT_RANDOM]
        return [schedule(running), *queues]
