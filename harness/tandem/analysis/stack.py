"""Our stack as a closed network: demands counted in windows, limits from settings, and what a cell that differs may owe. Pure.

A core that roles share is one station. Where some of them work inside a span and others outside of it, the core counts as
inside, as a whole: permits are then held a little longer than in truth. A request keeps its database connection from its
first statement to its last, so what the application computes for it is inside as well.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from tandem.analysis.network import CUSTOMERS, Network, Span, Station, gains, limit, solve
from tandem.record.part import Number, Part
from tandem.record.window import Window

OFF = 0.10
"""A prediction that is farther from the measurement than this is named, with what may explain it."""
CHANGED = 1.10
"""A demand or a round trip that is this many times the calibrated one explains something."""
STEAL, FOREIGN = 0.02, 0.05
"""Shares of the CPU time that others took, from which on they may explain something."""
BEHIND_POOL = ("db", "pgbouncer", "faults")
TAGS = {
    "loadgen": "generator",
    "proxy": "proxy",
    "pgbouncer": "pooler",
    "faults": "faults",
    "db": "database",
    "app": "app-cpu",
    "pool": "pool-wait",
    "threads": "thread-pool",
    "admitted": "proxy",
    CUSTOMERS: "latency-bound",
}
"""Station or span -> the word that windows use for the same limit."""


class Calibrated(Part):
    """What windows of one variant tell of one request: medians."""

    demands_us: dict[str, Number]
    """Role -> CPU time of a request."""
    cpusets: dict[str, str]
    """Role -> its CPUs; empty: all."""
    cores: dict[str, int]
    """CPU set -> how many they are."""
    round_trips: Number
    """Round trips of a request to the database, as PgBouncer or the database counted them."""
    distance_ms: Number
    """Round trip before the load, without the CPU time that it costs; 0 without a latency proxy."""
    during_ms: Number | None = None
    """The whole round trip, during the load."""
    steal_share: Number = 0.0
    foreign_share: Number = 0.0
    """Share of the CPU time that processes which do not belong to the stack took."""
    windows: int


@dataclass(frozen=True)
class Setup:
    """What limits how many requests are where. None: no such limit."""

    connections: int
    wait_ms: float = 0.0
    """Wait of a request, apart from the database; a handler thread waits with it."""
    distance_ms: float = 0.0
    """Time of each round trip to the database, apart from CPU time."""
    threads: int | None = None
    """Requests that can be handled at once: workers x threads."""
    pool: int | None = None
    admitted: int | None = None
    """Requests that HAProxy lets in at once."""
    parallel: int | None = None
    """Cores that the application can use at once."""


class Predicted(Part):
    """What the network says of a cell."""

    throughput_rps: Number
    response_ms: Number
    utilisation: dict[str, Number]
    """Station or span -> share in use."""
    limited_by: str
    """The limit, in the words of a window's bottleneck."""
    gains: dict[str, Number] = Field(default_factory=dict)
    """What there is more of -> throughput by the present one, were there twice as much of it."""


def parallel(language: str, model: str, settings: Mapping[str, str]) -> int | None:
    """How many cores an application can use. One process of Python or Node runs one thread at a time; a runtime thread of
    an async model uses one core; threads that handle requests, and green ones unless they are told, use what there is. settings: effective ones."""
    told = settings.get("WORKERS")
    if (model == "sync" and language not in ("python", "javascript")) or (model == "green" and not told):
        return None
    return int(told or 1)


def round_trips(window: Window) -> float:
    """Round trips of one request, counted: PgBouncer's queries, else the database's statements."""
    answered = window.requests + window.probes
    if not answered:
        return 0.0
    if window.pooler is not None and window.statements:
        return window.pooler.queries / answered
    return sum(one.calls for one in window.statements.values()) / answered


def calibrated(windows: Sequence[Window]) -> Calibrated | None:
    """Medians over closed windows of one variant; None without any."""
    closed = [window for window in windows if window.load == "closed" and window.goodput_rps > 0]
    if not closed:
        return None
    roles = closed[0].roles
    demands = {
        role: statistics.median(
            window.roles[role].cpu_cores / window.goodput_rps * 1e6
            for window in closed
            if role in window.roles
        )
        for role in roles
    }
    trips = statistics.median(map(round_trips, closed))
    far = [window.db_rtt_ms for window in closed if window.db_rtt_ms is not None]
    cpu_ms = sum(demands.get(role, 0.0) for role in BEHIND_POOL) / trips / 1e3 if trips else 0.0
    # A round trip takes at least what was asked for; beyond that, CPU time is among the demands already.
    distances = [max(float(rtt.setting), rtt.before_p50 - cpu_ms) for rtt in far]
    return Calibrated(
        demands_us=demands,
        cpusets={name: role.cpuset for name, role in roles.items()},
        cores={role.cpuset: role.cores_available for role in roles.values()},
        round_trips=trips,
        distance_ms=statistics.median(distances) if distances else 0.0,
        during_ms=statistics.median(rtt.during_p50 for rtt in far) if far else None,
        steal_share=statistics.median(window.host.steal_share for window in closed),
        foreign_share=statistics.median(window.host.foreign_cpu_share or 0.0 for window in closed),
        windows=len(closed),
    )


def network(found: Calibrated, setup: Setup) -> Network:
    """The database connection within the thread within what HAProxy admits within the client's connection. Each CPU set is
    one station, in the innermost span of its roles, named after its largest user."""
    asks = found.round_trips > 0
    inside, outside = list[Station](), list[Station]()
    for cpuset, cores in found.cores.items():
        roles = [r for r, own in found.cpusets.items() if own == cpuset and found.demands_us.get(r, 0.0) > 0]
        if roles:
            demand_ms = sum(found.demands_us[role] for role in roles) / 1e3
            usable = min(cores, setup.parallel or cores) if roles == ["app"] else cores
            station = Station(max(roles, key=lambda role: found.demands_us[role]), demand_ms, usable)
            (outside if {"app", *BEHIND_POOL}.isdisjoint(roles) else inside).append(station)
    pool = Span("pool", setup.pool, tuple(inside), found.round_trips * setup.distance_ms)
    spans = (
        pool if asks else Span("pool", None),
        Span("threads", setup.threads, () if asks else tuple(inside), setup.wait_ms),
        Span("admitted", setup.admitted),
        Span("client", None, tuple(outside)),
    )
    return Network(setup.connections, spans)


def predict(found: Calibrated, setup: Setup) -> Predicted:
    """Throughput, use of each station and what limits, under these limits and at this distance."""
    asked = network(found, setup)
    solution, more = solve(asked), gains(asked)
    limiting = limit(more)
    return Predicted(
        throughput_rps=solution.throughput_rps,
        response_ms=solution.response_ms,
        utilisation=dict(solution.utilisation),
        limited_by=TAGS.get(limiting, "pool-wait" if "pool" in limiting.split("+") else limiting),
        gains=dict(more),
    )


def beside(
    base: Calibrated, here: Calibrated | None, setup: Setup, settings: Mapping[str, str], measured_rps: float
) -> tuple[Predicted, float | None, list[str]]:
    """A prediction; how far it is from the measurement, as a share of this, below 0 where it is too low; and why, where that is
    much. base: what it follows from; here: the same of the windows that were measured; None: there are none. settings: effective
    ones."""
    predicted = predict(base, setup)
    if here is None or not measured_rps:
        return predicted, None, []
    off = predicted.throughput_rps / measured_rps - 1
    return predicted, off, likely(base, here, settings, too_high=off > 0) if abs(off) > OFF else []


def likely(base: Calibrated, here: Calibrated, settings: Mapping[str, str], too_high: bool) -> list[str]:
    """Why a cell may differ from its prediction. base: what it was predicted from. here: the same of the cell's own
    windows. settings: effective ones. Only what was counted, or follows from a setting, is named."""
    found = []
    for role, then in base.demands_us.items():
        now = here.demands_us.get(role, then)
        factor = now / then if then > 0 else 1.0
        large = now >= 0.1 * max(here.demands_us.values())
        if large and (factor > CHANGED if too_high else factor < 1 / CHANGED):
            found.append(f"a request cost {role} {now:,.0f} µs of CPU, not {then:,.0f}")
    if too_high:
        if here.during_ms is not None and here.during_ms > CHANGED * max(here.distance_ms, 1.0):
            trip = f"{here.during_ms:.1f} ms during the load and {here.distance_ms:.1f} ms before it, without CPU time"
            found.append(f"a round trip took {trip}")
        if here.round_trips > CHANGED * base.round_trips:
            found.append(f"a request made {here.round_trips:.1f} round trips, not {base.round_trips:.1f}")
        if settings.get("DB_PERSISTENT") == "0":
            found.append(
                "each request opens a connection: its login makes round trips that no count of statements has"
            )
        if settings.get("DB_PREPARE") == "each":
            found.append("each statement is prepared each time, a round trip that no count of statements has")
        if int(settings.get("WORKERS") or 1) > 1:
            workers = settings["WORKERS"]
            found.append(
                f"connections are spread over {workers} workers as they come: one may have all threads busy while another idles"
            )
    if here.steal_share > STEAL:
        found.append(f"the host took {here.steal_share:.0%} of the CPU time")
    if here.foreign_share > FOREIGN:
        found.append(f"other processes took {here.foreign_share:.0%} of the CPU time")
    return found or ["nothing that was counted explains it"]
