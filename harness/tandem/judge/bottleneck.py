"""Names what limited a window: its resources, ranked by how far they were used, and one rule. Pure.

Two kinds of resource are told apart. CPUs and threads *work*. Pools and the distance to the database are *held*: a
connection is held while what is behind it works, so a pool is full whenever that is exhausted. So what is held limits
only where nothing that works is exhausted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from tandem.judge.generators import BUSY, busy
from tandem.judge.judge import host_findings
from tandem.record.window import Resource, Role, Window

SET_BUSY = 0.90
"""A CPU set that several roles share is exhausted from here on, or where one of them by itself is above its own limit."""
THREAD_BUSY = 0.90
TIE = 0.10
"""Two resources whose utilisation is nearer than this are not told apart: shares scatter by as much between starts."""
POOL_WAIT_SHARE = 0.20
LOCK_WAIT_SHARE = 0.20
"""Share of the database connections that can be in use that waits for a lock in the mean."""
PROXY_QUEUE_SHARE = 0.20
"""Share of the connections whose requests wait in HAProxy's queue in the mean."""
DISTANCE_BUSY = 0.80
"""Share of the time of the connections that can be in use that is spent on the way to the database and back."""

LIMITS = {
    "loadgen": ("generator", BUSY),
    "proxy": ("proxy", 0.80),
    "pgbouncer": ("pooler", 0.80),
    "faults": ("faults", 0.80),
    "db": ("database", 0.80),
    "app": ("app-cpu", 0.80),
}
"""Role -> its tag, and the share of its CPUs from which on they are exhausted."""
BESIDE = ("beside", 0.80)
"""Tag and limit (as in LIMITS) of a service that runs beside a reader's own (tandem.lab.own_service)."""
OWN = frozenset({"app-cpu", "app-thread", "pool-wait", "thread-pool", "distance", "latency-bound"})
"""Limits inside the application, or in its waiting: only these make a rate a property of the implementation."""


@dataclass(frozen=True)
class Concurrency:
    """The requests that an application can have at once, and where; None: there is no such limit."""

    db_pool_usable: int | None = None
    """Connections of its pool, whether or not there are threads for them; None where the scenario has no statements."""
    handler_threads: int | None = None
    """Threads of the whole application; None where handlers do not occupy one."""
    admitted: int | None = None
    """Requests that HAProxy lets in at once; None: without a limit."""
    round_trips: int | None = None
    """Round trips of a request to the database, one after the other."""

    @property
    def inside(self) -> int | None:
        """Requests that are handled at once."""
        both = self.db_pool_usable, self.handler_threads
        return min((number for number in both if number is not None), default=None)

    @property
    def in_use(self) -> int | None:
        """Database connections that can be in use at once: no more than threads that ask."""
        return None if self.db_pool_usable is None else self.inside


def tags(bottleneck: str) -> list[str]:
    """The single tags of a bottleneck, several of which may be as busy as each other."""
    return bottleneck.split("+")


def is_own(bottleneck: str) -> bool:
    """Whether the rate is the implementation's: nothing that it shares with others was as busy."""
    return OWN.issuperset(tags(bottleneck))


def _share(role: Role) -> float:
    return role.cpu_cores / role.cores_available


def cpus(cpuset: str) -> str:
    """A CPU set, for people."""
    if cpuset == "all":
        return "all cores"
    return f"core {cpuset}" if cpuset.isdigit() else f"cores {cpuset}"


def working(window: Window) -> list[Resource]:
    """CPU sets with their parts, the application's busiest thread where it could use more than one core, and of several
    generators those that are busy by themselves; the most used first."""
    sets: dict[str, dict[str, Role]] = {}
    for name, role in window.roles.items():
        sets.setdefault(role.cpuset or "all", {})[name] = role
    found = []
    for cpuset, roles in sets.items():
        parts = {name: _share(role) for name, role in sorted(roles.items(), key=lambda one: -_share(one[1]))}
        largest, share = next(iter(parts.items()))
        tag, limit = LIMITS.get(largest, BESIDE)
        limit = limit if len(parts) == 1 or share > limit else SET_BUSY
        used = sum(parts.values())
        found.append(Resource(name=cpus(cpuset), tag=tag, utilisation=used, limit=limit, parts=parts))
    app = window.roles.get("app")
    if app is not None and app.busiest_thread_cores is not None and app.cores_available > 1:
        used, name = app.busiest_thread_cores, "one thread of the application"
        found.append(Resource(name=name, tag="app-thread", utilisation=used, limit=THREAD_BUSY))
    found += [
        Resource(name=f"generator {number}", tag="generator", utilisation=busy(one), limit=BUSY)
        for number, one in enumerate(window.generators, start=1)
        if busy(one) > BUSY
    ]
    return sorted(found, key=lambda resource: -resource.utilisation)


def distance(window: Window, at_once: Concurrency) -> Resource | None:
    """The way to the database and back, as a share of the time of the connections that can be in use: goodput /
    (connections / (round trips x idle round trip)). The round trip is the idle one: under load it contains the queues that
    are to be told apart from it."""
    usable = at_once.in_use
    if window.db_rtt_ms is None or not usable or not at_once.round_trips:
        return None
    held = window.goodput_rps * at_once.round_trips * window.db_rtt_ms.before_p50 / 1e3
    used = held / min(usable, window.connections)
    name = "the distance to the database"
    return Resource(name=name, tag="distance", utilisation=used, limit=DISTANCE_BUSY)


def nearest(ranked: Sequence[Resource]) -> list[Resource]:
    """The rule: of ranked resources the most used that is exhausted, and all that are within 10 points of it or above;
    none where none is exhausted."""
    first = next((one for one in ranked if one.utilisation > one.limit), None)
    if first is None:
        return []
    return list(takewhile(lambda one: one.utilisation > first.utilisation - TIE, ranked))


def bottleneck(window: Window, at_once: Concurrency) -> tuple[str, list[str]]:
    """What limited a window, and the shares that decided it.

    What works and is exhausted (`nearest`), several tags joined by `+` where they are within 10 points. Else, for
    an open loop, its rate. Else HAProxy's queue (which limits nothing if the application cannot use what HAProxy
    lets in), locks in the database, or what is held: connections, handler threads, and the distance. Else
    `latency-bound`. What the application's pool tells is among the evidence whatever the limit is. An open loop
    below saturation is limited by nothing: its rate was given.
    """
    roles, ranked = window.roles, working(window)
    evidence = [
        f"{name} {role.cpu_cores:.2f} of {role.cores_available} cores ({_share(role):.0%})"
        for name, role in sorted(roles.items(), key=lambda item: -_share(item[1]))
    ]
    evidence += [
        f"CPU set {roles[next(iter(one.parts))].cpuset or 'all'} {one.utilisation:.0%} busy"
        for one in ranked
        if len(one.parts) > 1
    ]
    evidence += _app_pool(window)
    if window.utilisation_bound_rps is not None and window.utilisation_bound_by is not None:
        bound = f"{window.utilisation_bound_by} would be exhausted at {window.utilisation_bound_rps:,.0f}/s"
        evidence.append(f"at this cost per request the CPUs of {bound}")
    tag, why = _limit(window, ranked, at_once)
    return tag, [*(line for line in evidence if line not in why), *why]


def _limit(window: Window, ranked: Sequence[Resource], at_once: Concurrency) -> tuple[str, list[str]]:
    """The bottleneck's tag, and what decided it beside the shares."""
    connections, queue = window.connections, window.proxy.queue_mean if window.proxy else None
    if exhausted := nearest(ranked):
        return "+".join(dict.fromkeys(one.tag for one in exhausted)), _why(exhausted)
    inside, admitted = at_once.inside, at_once.admitted
    spare = admitted is not None and inside is not None and inside < admitted
    if not spare and queue is not None and queue > PROXY_QUEUE_SHARE * connections:
        return "proxy", [f"on average, {queue:.0f} of {connections} requests wait in HAProxy's queue"]
    if window.load == "open":
        return "offered-load", ["nothing was exhausted at the offered rate"]
    in_use, locked = min(at_once.in_use or 0, connections), window.lock_waits_mean
    if locked is not None and locked > LOCK_WAIT_SHARE * in_use:
        return "database", [f"on average, {locked:.0f} of {in_use} database connections wait for a lock"]
    others = [one.text for one in host_findings(window) if one.code in ("steal", "foreign-cpu")]
    if others and _could_be_exhausted(window, ranked):
        return "unknown", [f"the stack did not exhaust its CPUs, but {others[0]}"]
    # Nothing that works is exhausted: what requests hold, or wait for.
    threads, far, why = at_once.handler_threads, distance(window, at_once), _pool_wait(window, at_once)
    found = ["pool-wait"] if why else []
    if not why and threads is not None and threads < connections:
        found = ["thread-pool"]
        why = [f"{connections} connections share {threads} handler threads, and no CPU is exhausted"]
    if far is not None and far.utilisation > far.limit:
        found.append(far.tag)
        share = f"{far.utilisation:.0%} of the time of the connections that can be in use"
        why.append(f"round trips to the database take {share}")
    if not found:
        return "latency-bound", ["no resource was exhausted: requests wait for answers"]
    return "+".join(found), why


def _could_be_exhausted(window: Window, ranked: Sequence[Resource]) -> bool:
    """Whether one of the resources would be exhausted, if all that others took of the CPUs had been its own."""
    cores = {role.cpuset or "all": role.cores_available for role in window.roles.values()}
    host = window.host
    taken = (host.steal_share + (host.foreign_cpu_share or 0.0)) * sum(cores.values())
    own = [window.roles[next(iter(one.parts))].cores_available if one.parts else 1.0 for one in ranked]
    return any(one.utilisation + taken / each > one.limit for one, each in zip(ranked, own, strict=True))


def _why(found: Sequence[Resource]) -> list[str]:
    """Evidence that the shares by themselves are not: who uses most of a shared set, and what is as busy."""
    threads = [one for one in found if one.tag == "app-thread"]
    lines = [f"one thread of the application used {one.utilisation:.2f} of a core" for one in threads]
    sets = [one for one in found if len(one.parts) > 1 and one.utilisation > one.limit]
    lines += [f"{next(iter(one.parts))} is the largest user of the exhausted {one.name}" for one in sets]
    if len(found) > 1:
        lines.append(f"within 10 points: {', '.join(f'{one.name} {one.utilisation:.0%}' for one in found)}")
    return lines


def resources(window: Window, at_once: Concurrency) -> list[Resource]:
    """All of a window, the most used first: what works, and what is held. A pool's use is that of its connections or
    threads by the requests that could have one: without a thread no request asks for a connection."""
    held = [distance(window, at_once)]
    for name, tag, size, most in (
        ("database connections", "pool-wait", at_once.db_pool_usable, at_once.handler_threads),
        ("handler threads", "thread-pool", at_once.handler_threads, None),
    ):
        if size and window.in_flight_mean is not None:
            asking = window.in_flight_mean if most is None else min(window.in_flight_mean, most)
            used = min(1.0, asking / size)
            held.append(Resource(name=name, tag=tag, utilisation=used, limit=1.0))
    found = [*working(window), *(one for one in held if one is not None)]
    return sorted(found, key=lambda one: -one.utilisation)


def _inside_ms(window: Window) -> float | None:
    """Mean time of a request behind HAProxy's queue: that of all, less the share of the connections that wait there."""
    mean_ms, queue = window.service_time_ms.mean, window.proxy.queue_mean if window.proxy else None
    return mean_ms if mean_ms is None or queue is None else mean_ms * (1 - min(queue / window.connections, 1))


def _app_pool(window: Window) -> list[str]:
    """The wait for the application's own pool, if it reports that."""
    waited_ms, mean_ms = window.app_pool_wait_ms, _inside_ms(window)
    if waited_ms is None or not mean_ms:
        return []
    share = f"{waited_ms:.1f} of {mean_ms:.1f} ms ({waited_ms / mean_ms:.0%})"
    return [f"a checkout waits {share} for a connection from the application's own pool"]


def _pool_wait(window: Window, at_once: Concurrency) -> list[str]:
    """Why requests wait for a database connection, if they do.

    The application's pool tells the wait per checkout. A request that takes several connections waits longer than
    that, so a share above the limit is above it in any case. Where its pool tells, nobody has to infer it from counts; and
    with fewer threads than connections they wait for a thread before they could wait for a connection.
    """
    usable, threads = at_once.db_pool_usable, at_once.handler_threads
    pooler, told_ms, mean_ms = window.pooler, window.app_pool_wait_ms, _inside_ms(window)
    if usable is None or not mean_ms:
        return []
    waits = _app_pool(window) if told_ms is not None and told_ms > POOL_WAIT_SHARE * mean_ms else []
    if pooler is not None and pooler.wait_us_per_query is not None and window.requests:
        waited_ms = pooler.wait_us_per_query * pooler.queries / window.requests / 1e3
        if waited_ms > POOL_WAIT_SHARE * mean_ms:
            share = f"{waited_ms:.1f} of {mean_ms:.1f} ms ({waited_ms / mean_ms:.0%})"
            waits.append(f"requests wait {share} for a server connection in PgBouncer")
    scarcer = threads is None or usable <= threads
    if not waits and told_ms is None and scarcer and usable < window.connections:
        share = f"{window.connections} connections share {usable} database connections"
        waits.append(f"{share}, and no CPU is exhausted")
    return waits
