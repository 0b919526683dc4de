"""Exact models of calibrated servers and of generators that stop. Pure.

Times are seconds from the start of the load; arrays are in the order of arrival.
"""

import heapq
from dataclasses import dataclass

import numpy as np
import scipy

from tandem.load.rows import Floats


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


def paced(
    rate_rps: float,
    duration_s: float,
    base_s: float,
    connections: int,
    server: Pause = NEVER,
    generator: Pause = NEVER,
) -> SimulatedLoad:
    """An open loop over so many connections, against a server that takes `base_s` for each request.

    A request is sent when it is due and a connection is free. server: whatever would end within the pause ends
    with it. generator: what falls due within it is sent at its end.
    """
    intended = np.arange(int(np.ceil(duration_s * rate_rps - 1e-9))) / rate_rps
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

    D/M/1: 1 / (1 - s), where s is the root below 1 of s = exp(-(1 - s) / load). Kleinrock, Queueing Systems I, 6.4.
    """
    root = scipy.optimize.brentq(
        lambda s: s - np.exp(-(1 - s) / load), 0, 1 - 1e-9 if load > 0.99 else 1 - (1 - load) / 2
    )
    return float(1 / (1 - root))


def poisson_mean(load: float, exponential: bool) -> float:
    """The same for arrivals at random, with exponential service or with one that always takes as long.

    Pollaczek and Khinchine: 1 + load (1 + c²) / (2 (1 - load)), c the service's coefficient of variation. Kleinrock, 5.6.
    """
    return 1 + load * (2 if exponential else 1) / (2 * (1 - load))


def mean_error(
    load: float, requests: int, runs: int = 300, seed: int = 1, random: bool = False, exponential: bool = True
) -> float:
    """Standard deviation, in service times, of the mean response time over so many requests: simulated,
    because the response times of a queue depend on each other. random: arrivals are, and not evenly spaced."""
    chance = np.random.default_rng(seed)

    def one() -> float:
        arrival = (
            np.sort(chance.uniform(0, requests / load, requests)) if random else np.arange(requests) / load
        )
        service = chance.exponential(1, requests) if exponential else np.ones(requests)
        return float(lindley(arrival, service).mean())

    return float(np.std([one() for _ in range(runs)]))
