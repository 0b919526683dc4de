"""Checks by simulation alone, with the shipped code: they run with the unit tests, in a second or two.

With the exact models of calibrated servers and of generators that stop: their times are seconds from the start of the load, arrays
are in the order of arrival.
"""

import heapq
from dataclasses import dataclass

import numpy as np
import scipy

from tandem.engine.blocks import complete_blocks
from tandem.judge import judge
from tandem.load.rows import Floats, Rows, open_loop
from tandem.record.selftest import Outcome
from tandem.selftest.known_answer import KnownAnswer, close
from tandem.selftest.statistics import position_p


@dataclass(frozen=True)
class Pause:
    """A pause: from `at_s` on, for `for_s` seconds, nothing goes on."""

    at_s: float
    for_s: float

    def postponed(self, moment_s: float) -> float:
        """The moment, or the end of the pause if it lies within."""
        return self.at_s + self.for_s if self.at_s <= moment_s < self.at_s + self.for_s else moment_s


NEVER = Pause(0.0, 0.0)


@dataclass(frozen=True)
class SimulatedLoad:
    """Times of an evenly paced open loop."""

    intended_s: Floats
    sent_s: Floats
    end_s: Floats

    @property
    def response_s(self) -> Floats:
        """Response times, from the moment at which a request was due."""
        return self.end_s - self.intended_s

    @property
    def service_s(self) -> Floats:
        """Service times, from the moment at which a request was sent: a generator without correction has only these."""
        return self.end_s - self.sent_s


RATE_RPS, BASE_S = 500, 0.005


def paced(
    seconds: float, connections: int, base_s: float = BASE_S, server: Pause = NEVER, generator: Pause = NEVER
) -> SimulatedLoad:
    """An open loop of RATE_RPS over so many connections, against a server that takes `base_s` for each request.

    A request is sent when it is due and a connection is free. server: whatever would end within the pause ends
    with it. generator: what falls due within it is sent at its end.
    """
    intended = np.arange(int(np.ceil(seconds * RATE_RPS - 1e-9))) / RATE_RPS
    free = [0.0] * connections
    sent, end = np.empty_like(intended), np.empty_like(intended)
    for i, due in enumerate(intended):
        sent[i] = generator.postponed(max(float(due), heapq.heappop(free)))
        end[i] = server.postponed(sent[i] + base_s)
        heapq.heappush(free, float(end[i]))
    return SimulatedLoad(intended, sent, end)


def lindley(arrival_s: Floats, service_s: Floats) -> Floats:
    """Response times of a single server that serves in the order of arrival.

    Lindley, D. V. (1952): The theory of queues with a single server. In closed form: request i ends at the
    service of requests 0 to i after the latest of the moments at which a busy period could have begun.
    """
    served = np.cumsum(service_s)
    before = served - service_s
    return served + np.maximum.accumulate(arrival_s - before) - arrival_s


def evenly_spaced_mean(load: float) -> float:
    """Mean response time, in service times, of a single server with exponential service and evenly spaced arrivals.

    D/M/1: 1 / (1 - s), where s is the root below 1 of s = exp(-(1 - s) / load), by the W function of Lambert. Kleinrock,
    Queueing Systems I, 6.4.
    """
    return float(1 / (1 + load * scipy.special.lambertw(-np.exp(-1 / load) / load).real))


def poisson_mean(load: float, exponential: bool) -> float:
    """Mean response time, in service times, for arrivals at random, with exponential or always equal service.

    Pollaczek and Khinchine: 1 + load (1 + c²) / (2 (1 - load)), c the service's coefficient of variation. Kleinrock, 5.6.
    """
    return 1 + load * (2 if exponential else 1) / (2 * (1 - load))


def mean_error(
    load: float, requests: int, runs: int = 300, random: bool = False, exponential: bool = True
) -> float:
    """Standard deviation, in service times, of the mean response time over so many requests: simulated,
    because the response times of a queue depend on each other. random: arrivals are, and not evenly spaced."""
    chance = np.random.default_rng(1)

    def one() -> float:
        arrival = (
            np.sort(chance.uniform(0, requests / load, requests)) if random else np.arange(requests) / load
        )
        service = chance.exponential(1, requests) if exponential else np.ones(requests)
        return float(lindley(arrival, service).mean())

    return float(np.std([one() for _ in range(runs)]))


DURATION_S, CONNECTIONS = 60, 10_000
FEW = 10
LONG = 100_000


def rebuilt(load: SimulatedLoad) -> Floats:
    """Response times as the shipped code computes them from a generator's rows, which do not tell what was due."""
    ones = np.ones(len(load.sent_s), dtype=np.int64)
    rows = Rows(load.sent_s, load.sent_s, load.end_s, 200 * ones, ones)
    return open_loop(rows, RATE_RPS, DURATION_S, 0).response_s


def stall_figures(times_s: Floats) -> list[float]:
    """Mean, p99 and p99.9 in seconds."""
    return [float(times_s.mean()), *map(float, np.quantile(times_s, [0.99, 0.999]))]


def stall_shown(found: list[float]) -> str:
    mean_s, p99_s, p999_s = found
    return f"mean {mean_s * 1e3:.1f} ms, p99 {p99_s:.3g} s, p99.9 {p999_s:.3g} s"


def stalled(
    name: str, expected: str, wanted: list[float], measured_s: Floats, broken: str, control_s: Floats
) -> Outcome:
    """Judges response times, whose mean, p99 and p99.9 have to be within 5, 3 and 2 %; the control has to miss the stall."""
    return KnownAnswer[list[float]](
        name=name,
        expected=expected,
        tolerance="5 %, 3 %, 2 %",
        right=lambda found: all(map(close, found, wanted, (0.05, 0.03, 0.02))),
        shown=stall_shown,
        broken=broken,
        caught=lambda found: found[1] < 0.05,
    ).judged(stall_figures(measured_s), stall_figures(control_s))


def server_stall() -> Outcome:
    """A server that stands still for 2 of 60 s: a generator that counts from the actual send hardly notices."""
    expected, wanted = "mean 38.3 ms, p99 1.40 s, p99.9 1.94 s", [0.0383, 1.40, 1.94]
    broken = f"counted from the actual send over {FEW} connections"
    many, few = (paced(DURATION_S, number, server=Pause(20, 2)) for number in (CONNECTIONS, FEW))
    return stalled("rows of a server that stalls", expected, wanted, rebuilt(many), broken, few.service_s)


def generator_stop() -> Outcome:
    """A generator that stands still for 1 of 60 s."""
    load = paced(DURATION_S, CONNECTIONS, generator=Pause(20, 1))
    late_ms = float((load.sent_s - load.intended_s).max()) * 1e3
    return KnownAnswer[float](
        name="rows of a generator that stops",
        expected="p99 0.40 s, lateness over the limit",
        tolerance="5 %",
        right=lambda p99: close(p99, 0.40, 0.05) and late_ms > judge.LATENESS_GAP_VOID_MS,
        shown=lambda p99: f"p99 {p99:.3f} s, {late_ms:.0f} ms late",
        broken="counted from the actual send",
        caught=lambda p99: not close(p99, 0.40, 0.05),
    ).judged(*(float(np.quantile(times_s, 0.99)) for times_s in (rebuilt(load), load.service_s)))


def queueing() -> Outcome:
    """The recursion against the theory of queues, 100,000 requests."""
    chance = np.random.default_rng(20)
    service, gaps = chance.exponential(1, LONG), chance.exponential(1, LONG)
    wanted = {0.5: (1.255, 0.02), 0.7: (1.876, 0.04)}
    exact = all(abs(evenly_spaced_mean(load) - mean) < 0.001 for load, (mean, _) in wanted.items())
    evenly, randomly = (
        {load: float(lindley(arrivals / load, service).mean()) for load in wanted}
        for arrivals in (np.arange(LONG), np.cumsum(gaps))
    )
    return KnownAnswer[dict[float, float]](
        name="recursion against the theory of queues",
        expected="1.255 service times at 50 %, 1.876 at 70 %",
        tolerance="2 %, 4 %",
        right=lambda found: exact and all(close(found[load], *limits) for load, limits in wanted.items()),
        shown=lambda found: ", ".join(f"{mean:.3f}" for mean in found.values()),
        broken="arrivals at random instead of evenly spaced",
        caught=lambda found: not any(close(found[load], *limits) for load, limits in wanted.items()),
    ).judged(evenly, randomly)


def blocks() -> Outcome:
    """The order of visits: complete blocks, every position alike, the same for the same seed."""
    runs, number = ["a", "b", "c", "d"], 400
    found = complete_blocks(runs, number, 1)
    complete = all(sorted(order) == runs for order in found)
    again = complete_blocks(runs, number, 1) == found != complete_blocks(runs, number, 2)
    return KnownAnswer[float](
        name="blocks of a schedule",
        expected="complete, positions uniform, fixed by the seed",
        tolerance="p > 0.001",
        right=lambda p: complete and again and p > 0.001,
        shown=lambda p: f"complete: {complete}, chi-square p {p:.2g}, same seed same order: {again}",
        broken="always the same order",
        caught=lambda p: p <= 0.001,
    ).judged(position_p(found), position_p([runs] * number))


CHECKS = (server_stall, generator_stop, queueing, blocks)
