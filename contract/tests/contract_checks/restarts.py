"""The database and PgBouncer go away under load and come back."""

import time
from collections.abc import Callable

from contract_checks.backend import Backend
from contract_checks.docker import docker, pause, wait_until
from contract_checks.golden import RECIPES, bodies, session
from contract_checks.load import READ, Load, Told, load
from contract_checks.needs import for_scenario
from contract_checks.processes import pids

BACK_LIMIT_S = 5.0
STEADY_LIMIT_S = 10.0  # for each client to have had some right answers, on a busy machine
# What the contract allows, 2 s for the statement and 1.5 s for a connection, and time for a busy machine.
AWAY_LIMIT_S = 4.5
# PgBouncer ends a query after three seconds, and lets the next one wait for two.
PAUSED_LIMIT_S = 6.0


@for_scenario("recipe", "note-write")
def check_database_restart(backend: Backend) -> None:
    """PostgreSQL stops and starts again: 503 between, and no note is lost or written twice."""
    stack = backend.stack
    _interrupt(backend, AWAY_LIMIT_S, 2, lambda: stack.stop("db"), lambda: stack.start("db"))


@for_scenario("note-write")
def check_database_killed(backend: Backend) -> None:
    """PostgreSQL is killed under load and recovers: what was acknowledged is there, on the disk and not in its memory."""
    stack = backend.stack
    # Without a pause: what does not wait for the disk is written down five times a second, and what came since is lost.
    with load(backend, pause_s=0) as work:
        assert wait_until(lambda: work.steady(0), STEADY_LIMIT_S), (
            f"no steady load to begin with: {_last(work)}"
        )
        try:
            docker("kill", stack.container("db"))
            work.stop.set()
        finally:
            stack.start("db")
    served = wait_until(lambda: backend.get(f"{RECIPES}/{READ}", session(1)).status == 200, BACK_LIMIT_S)
    assert served, f"{BACK_LIMIT_S:.0f} s after the database's return nobody is served"


@for_scenario("recipe", "note-write")
def check_pgbouncer_stopped(backend: Backend) -> None:
    """The same with PgBouncer, whose name has no address meanwhile."""
    stack = backend.stack
    _interrupt(backend, AWAY_LIMIT_S, 2, lambda: stack.stop("pgbouncer"), lambda: stack.start("pgbouncer"))


@for_scenario("recipe", "note-write")
def check_database_paused(backend: Backend) -> None:
    """PostgreSQL hangs: connections stay open and nothing answers on them."""
    name = backend.stack.container("db")
    _interrupt(
        backend,
        PAUSED_LIMIT_S,
        6,
        lambda: pause(name),
        lambda: docker("unpause", name),
        PAUSED_LIMIT_S,
    )


def _interrupt(
    backend: Backend,
    limit_s: float,
    away_s: float,
    take: Callable[[], object],
    give: Callable[[], object],
    settled_s: float = 0.0,
) -> None:
    """Takes something away for a while, under load; `give` may wait until it is healthy."""
    with load(backend) as work:
        assert wait_until(lambda: work.steady(0), STEADY_LIMIT_S), (
            f"no steady load to begin with: {_last(work)}"
        )
        before = pids(backend)
        took = False
        try:
            begun = time.monotonic()
            take()
            took, gone = True, time.monotonic()
            time.sleep(away_s)
        finally:
            returning = time.monotonic()
            give()
        assert took
        back = time.monotonic()
        steady = wait_until(lambda: work.steady(back), STEADY_LIMIT_S)
        after = time.monotonic()
        time.sleep(0.5)
    print(f"{len(work.told)} answers; right again for all {after - back:.1f} s after the return")
    for one in work.told:
        _assert_allowed(one, limit_s)
        assert one.right or one.ended >= begun, f"before anything happened: {one}"
        away = one.began >= gone and one.ended <= returning
        assert not (away and one.right), f"while it was away: {one}"
        late_s = one.began - back
        assert one.right or late_s <= BACK_LIMIT_S, f"{late_s:.1f} s after the return: {one}"
    assert steady, f"{STEADY_LIMIT_S:.0f} s after the return not every client is served: {_last(work)}"
    longest = max((one.ended - one.began for one in work.told if not one.right), default=0.0)
    assert any(one.status == 503 for one in work.told), "nobody was told 503"
    print(f"the slowest 503 took {longest:.1f} s")
    now = pids(backend)
    assert now == before, f"the processes are {sorted(now)}, they were {sorted(before)}"


def _assert_allowed(one: Told, limit_s: float) -> None:
    if one.right:
        assert one.text or one.body == bodies()[READ], f"not the golden body: {one}"
        return
    assert one.status == 503, str(one)
    assert one.body == b'{"error":"database unavailable"}', str(one)
    assert one.ended - one.began <= limit_s, f"too late: {one}"


def _last(work: Load) -> str:
    return ", ".join(map(str, work.told[-3:])) or "no answer at all"


CHECKS = (check_database_restart, check_database_killed, check_pgbouncer_stopped, check_database_paused)
