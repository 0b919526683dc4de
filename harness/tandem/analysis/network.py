"""A closed queueing network with permits: how many requests per second go through, and what limits them. Pure.

Customers are the connections of a closed loop. They pass stations, which are cores that requests share, and delays, where
nobody waits for anybody. Spans lie within each other: a request enters one with a permit, such as a handler thread or a
database connection, and keeps it to the span's end.

Without permits this is a product-form network, and its solution is exact, and the same as that of exact mean value
analysis (Reiser and Lavenberg 1980). It is computed by convolution (Buzen 1973), all of whose terms are positive: the
recursion over marginal probabilities, which stations of several servers need, loses its digits near saturation. The time at
a core does not depend on how service times are distributed where requests share it (processor sharing; Baskett, Chandy,
Muntz and Palacios 1975).

Permits are two resources held at once, which no product form has. Each span is replaced by one station that serves as fast
as the span alone would with so many requests in it, and no faster than with all its permits: a flow-equivalent server
(Chandy, Herzog and Woo 1975; for passive resources: Sauer 1981). Exact where the permits are as many as the customers.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from tandem.analysis.ratios import Floats

MOST_CUSTOMERS = 4096
"""Most customers of a network: the work grows with their square."""
MATTERS = 0.02
"""What raises the throughput by less than this when it is doubled limits nothing."""
CUSTOMERS = "connections"


@dataclass(frozen=True)
class Station:
    """Cores that requests share. demand_ms: of one request, in all its visits."""

    name: str
    demand_ms: float
    servers: int = 1


@dataclass(frozen=True)
class Span:
    """What a request does between taking a permit and giving it back, but for the span within. permits: None for any number."""

    name: str
    permits: int | None
    stations: tuple[Station, ...] = ()
    delay_ms: float = 0.0


@dataclass(frozen=True)
class Network:
    """A closed network. spans: the innermost first."""

    customers: int
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Solution:
    """A network's figures. Throughput and response time are those of the whole; by Little's law their product is the customers."""

    throughput_rps: float
    response_ms: float
    utilisation: dict[str, float]
    """Station -> share of its servers in use; span with permits -> share of them that is held, in the mean."""


def _log_station(station: Station, customers: int) -> Floats:
    """Logarithms of the station's factors for 0 to so many requests in it."""
    servers = np.minimum(np.arange(1, customers + 1), station.servers)
    return np.concatenate([[0.0], np.cumsum(np.log(station.demand_ms / servers))])


def _convolved(one: Floats, other: Floats) -> Floats:
    """Convolution of factors given by their logarithms, which neither overflow nor underflow."""
    return np.array([np.logaddexp.reduce(one[: n + 1] + other[n::-1]) for n in range(len(one))])


def _solved(spans: tuple[Span, ...], customers: int) -> tuple[Floats, dict[str, Floats]]:
    """Throughput per ms with 0 to so many requests in the outermost span; and the permits held then, by span."""
    *inner, span = spans
    delay = Station("delay", span.delay_ms, customers)  # each has a server of its own
    others = np.concatenate([[0.0], np.full(customers, -np.inf)])  # of nothing: only nobody can be there
    for station in (*span.stations, delay):
        if station.demand_ms > 0:
            others = _convolved(others, _log_station(station, customers))
    whole, held = others, dict[str, Floats]()
    if inner:
        rates, within = _solved(tuple(inner), customers)
        equivalent = np.concatenate([[0.0], np.cumsum(-np.log(rates[1:]))])
        whole = _convolved(others, equivalent)
        with np.errstate(invalid="ignore"):
            for n in range(customers + 1):
                share = np.exp(equivalent[: n + 1] + others[n::-1] - whole[n])
                for name, permits in within.items():
                    held.setdefault(name, np.empty(customers + 1))[n] = share @ permits[: n + 1]
    rates = np.concatenate([[0.0], np.exp(whole[:-1] - whole[1:])])
    if span.permits is not None:
        most = min(span.permits, customers)
        rates[most:] = rates[most]
        held = {
            name: np.concatenate([own[:most], np.full(customers + 1 - most, own[most])])
            for name, own in held.items()
        }
        held[span.name] = np.minimum(np.arange(customers + 1.0), most)
    return rates, held


@lru_cache(maxsize=1024)
def solve(network: Network) -> Solution:
    """Raises ValueError for a network in which nothing takes time, or with more customers than it is made for."""
    if not 1 <= network.customers <= MOST_CUSTOMERS:
        raise ValueError(f"a network has 1 to {MOST_CUSTOMERS} customers, not {network.customers}")
    spans = network.spans
    while spans and max([spans[0].delay_ms, *(s.demand_ms for s in spans[0].stations)]) <= 0:
        spans = spans[1:]  # nothing takes time in it
    if not spans:
        raise ValueError("nothing in the network takes time")
    rates, held = _solved(spans, network.customers)
    rate_per_ms = float(rates[-1])
    permits = {span.name: span.permits for span in spans if span.permits is not None}
    used = {s.name: rate_per_ms * s.demand_ms / s.servers for span in spans for s in span.stations}
    used |= {name: float(own[-1]) / permits[name] for name, own in held.items()}
    return Solution(rate_per_ms * 1e3, network.customers / rate_per_ms, used)


def _with_more(network: Network, names: Collection[str]) -> Network:
    """The network with twice the permits of these spans, and twice the servers of these stations."""
    spans = []
    for span in network.spans:
        more = tuple(replace(s, servers=2 * s.servers) if s.name in names else s for s in span.stations)
        permits = 2 * span.permits if span.permits is not None and span.name in names else span.permits
        spans.append(replace(span, permits=permits, stations=more))
    return replace(network, spans=tuple(spans))


def gains(network: Network) -> dict[str, float]:
    """What there is more of -> by how much that raises the throughput when it is doubled; the largest gain first. All permits
    are doubled together as well, since equal limits hide each other."""
    more = {CUSTOMERS: replace(network, customers=min(2 * network.customers, MOST_CUSTOMERS))}
    limited = [span.name for span in network.spans if span.permits is not None]
    for span in network.spans:
        stations = [station.name for station in span.stations]
        each = [span.name, *stations] if span.name in limited else stations
        more |= {name: _with_more(network, [name]) for name in each}
    if len(limited) > 1:
        more["+".join(limited)] = _with_more(network, limited)
    now = solve(network).throughput_rps
    found = {name: solve(other).throughput_rps / now for name, other in more.items()}
    return dict(sorted(found.items(), key=lambda gain: -gain[1]))


def limit(found: dict[str, float]) -> str:
    """What limits, of `gains`: what helps most when there is twice of it. What is one thing goes before what is two that
    help together no more than it does alone. CUSTOMERS where nothing does: then requests wait for answers."""
    best = max(found.values())
    if best < 1 + MATTERS:
        return CUSTOMERS
    return min((name for name in found if found[name] >= best - MATTERS), key=lambda name: name.count("+"))
