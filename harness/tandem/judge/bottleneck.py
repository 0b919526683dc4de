"""Names what limited a window, with the shares that decided it. Pure."""

from tandem.judge.accounting import utilisation_evidence
from tandem.judge.judge import host_findings
from tandem.record.window import Role, Window

GENERATOR_BUSY, PROXY_BUSY, POOLER_BUSY, DATABASE_BUSY, APP_BUSY = 0.70, 0.80, 0.80, 0.80, 0.80
FAULTS_BUSY = 0.80
SET_BUSY = 0.90
"""A CPU set that several roles share is exhausted from here on, whatever each of them uses."""
THREAD_BUSY = 0.90
POOL_WAIT_SHARE = 0.20
LOCK_WAIT_SHARE = 0.20
"""Of the database connections that can be in use: so many wait for a lock in the mean."""
PROXY_QUEUE_SHARE = 0.20
"""Of the connections: so many requests wait in HAProxy's queue in the mean."""

LIMITS = {
    "loadgen": ("generator", GENERATOR_BUSY),
    "proxy": ("proxy", PROXY_BUSY),
    "pgbouncer": ("pooler", POOLER_BUSY),
    "faults": ("faults", FAULTS_BUSY),
    "db": ("database", DATABASE_BUSY),
    "app": ("app-cpu", APP_BUSY),
}


def _share(role: Role) -> float:
    return role.cpu_cores / role.cores_available


def bottleneck(
    window: Window,
    db_pool_usable: int | None,
    handler_threads: int | None = None,
    admitted: int | None = None,
) -> tuple[str, list[str]]:
    """What limited a window, and the shares that decided it.

    The first that matches: a role above its share of its own CPU set, in the order generator, proxy (or its
    queue), pooler, latency proxy, database, application; a set that is exhausted by several roles together, named
    after its largest user; one thread of the application at a full core; waiting for a lock in the database; waiting for a database
    connection, as PgBouncer and the application's own pool tell it, or else by their number; waiting for a handler
    thread; else `latency-bound`. What the application's pool tells is among the evidence whatever the limit is.
    db_pool_usable: None where the scenario has no statements. handler_threads: of the whole application; None where
    handlers do not occupy one. admitted: how many requests HAProxy lets in at once, where that was chosen; its queue
    limits nothing if the application cannot use so many.
    An open loop below saturation is limited by nothing: its rate was given.
    """
    roles = window.roles
    evidence = [
        f"{name} {role.cpu_cores:.2f} of {role.cores_available} cores ({_share(role):.0%})"
        for name, role in sorted(roles.items(), key=lambda item: -_share(item[1]))
    ]
    sets: dict[str, list[str]] = {}
    for name, role in roles.items():
        sets.setdefault(role.cpuset or "all", []).append(name)
    busy_sets = {cpuset: sum(_share(roles[name]) for name in names) for cpuset, names in sets.items()}
    evidence += [
        f"CPU set {cpuset} {busy:.0%} busy"
        for cpuset, busy in sorted(busy_sets.items())
        if len(sets[cpuset]) > 1
    ]

    evidence += _app_pool(window)
    evidence += utilisation_evidence(window)
    inside = min((n for n in (db_pool_usable, handler_threads) if n is not None), default=None)
    spare = admitted is not None and inside is not None and inside < admitted
    for name, (tag, limit) in LIMITS.items():
        if name in roles and _share(roles[name]) > limit:
            return tag, evidence
        if name == "proxy" and not spare and (queued := _proxy_queue(window)):
            return tag, [*evidence, queued]
    for cpuset, names in sets.items():
        if len(names) > 1 and busy_sets[cpuset] > SET_BUSY:
            largest = max(names, key=lambda name: roles[name].cpu_cores)
            return LIMITS[largest][0], [
                *evidence,
                f"{largest} is the largest user of the exhausted CPU set {cpuset}",
            ]
    app = roles.get("app")
    if app is not None and (app.busiest_thread_cores or 0) >= THREAD_BUSY:
        return "app-thread", [
            *evidence,
            f"one thread of the application used {app.busiest_thread_cores:.2f} of a core",
        ]
    if window.load == "open":
        return "offered-load", [*evidence, "nothing was exhausted at the offered rate"]
    if locked := _lock_wait(window, db_pool_usable):
        return "database", [*evidence, locked]
    if any(finding.code in ("steal", "foreign-cpu") for finding in host_findings(window)):
        return "unknown", [*evidence, "the stack did not exhaust its CPUs, but others took a part of them"]
    if waiting := _pool_wait(window, db_pool_usable):
        return "pool-wait", [*(line for line in evidence if line not in waiting), *waiting]
    if handler_threads is not None and handler_threads < window.connections:
        shared = f"{window.connections} connections share {handler_threads} handler threads, and no CPU is exhausted"
        return "thread-pool", [*evidence, shared]
    return "latency-bound", [*evidence, "no resource was exhausted: requests wait for answers"]


def _proxy_queue(window: Window) -> str | None:
    """Why requests wait in HAProxy, if they do."""
    queue = window.proxy.queue_mean if window.proxy else None
    if queue is None or queue <= PROXY_QUEUE_SHARE * window.connections:
        return None
    return f"{queue:.0f} of {window.connections} requests wait in HAProxy's queue in the mean"


def _lock_wait(window: Window, db_pool_usable: int | None) -> str | None:
    """Why statements wait in the database, if it is for each other's locks."""
    waiting = window.lock_waits_mean
    in_use = min(db_pool_usable or 0, window.connections)
    if waiting is None or waiting <= LOCK_WAIT_SHARE * in_use:
        return None
    return f"{waiting:.0f} of {in_use} database connections wait for a lock in the mean"


def _app_pool(window: Window) -> list[str]:
    """How long the application's own pool was waited for, if it tells."""
    waited_ms, mean_ms = window.app_pool_wait_ms, window.service_time_ms.mean
    if waited_ms is None or not mean_ms:
        return []
    share = f"{waited_ms:.1f} of {mean_ms:.1f} ms ({waited_ms / mean_ms:.0%})"
    return [f"a checkout waits {share} for a connection of the application's own pool"]


def _pool_wait(window: Window, db_pool_usable: int | None) -> list[str]:
    """Why requests wait for a database connection, if they do.

    The application's pool tells the wait per checkout. A request that takes several connections waits longer than
    that, so a share above the limit is above it in any case. Where its pool tells, nobody has to infer it from counts.
    """
    pooler, told_ms, mean_ms = window.pooler, window.app_pool_wait_ms, window.service_time_ms.mean
    if db_pool_usable is None or not mean_ms:
        return []
    waits = []
    if told_ms is not None and told_ms > POOL_WAIT_SHARE * mean_ms:
        waits += _app_pool(window)
    if pooler is not None and pooler.wait_us_per_query is not None and window.requests:
        waited_ms = pooler.wait_us_per_query * pooler.queries / window.requests / 1e3
        if waited_ms > POOL_WAIT_SHARE * mean_ms:
            waits.append(
                f"requests wait {waited_ms:.1f} of {mean_ms:.1f} ms ({waited_ms / mean_ms:.0%}) for a server connection in PgBouncer"
            )
    if not waits and told_ms is None and db_pool_usable < window.connections:
        waits.append(
            f"{window.connections} connections share {db_pool_usable} database connections, and no CPU is exhausted"
        )
    return waits
