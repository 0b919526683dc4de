"""The database is killed, or hangs, under load and comes back."""

import time

from contract_checks.backend import Backend
from contract_checks.docker import docker, pause, wait_until
from contract_checks.golden import RECIPES, bodies, session
from contract_checks.load import READ, Load, load
from contract_checks.needs import for_scenario
from contract_checks.processes import pids

BACK_LIMIT_S = 5.0
STEADY_LIMIT_S = 10.0  # for each client to have had some right answers, on a busy machine
# PgBouncer ends a query after three seconds, and lets the next one wait for two.
PAUSED_S, PAUSED_LIMIT_S = 4.0, 6.0


@for_scenario("note-write")
def check_database_killed(backend: Backend) -> None:
    """PostgreSQL is killed under load and recovers: what was acknowledged is there, on the disk and not in its memory."""
    stack = backend.stack
    # Without a pause: what does not wait for the disk is written down five times a second, and what came since is lost.
    with load(backend, pause_s=0) as work:
        _assert_steady(work, 0)
        try:
            docker("kill", stack.container("db"))
            work.stop.set()
        finally:
            stack.start("db")
    served = wait_until(lambda: backend.get(f"{RECIPES}/{READ}", session(1)).status == 200, BACK_LIMIT_S)
    assert served, f"{BACK_LIMIT_S:.0f} s after the database's return nobody is served"


@for_scenario("recipe", "note-write")
def check_database_paused(backend: Backend) -> None:
    """PostgreSQL hangs under load, connections stay open: 503 soon, right answers soon after, and no note lost or twice."""
    name = backend.stack.container("db")
    with load(backend) as work:
        _assert_steady(work, 0)
        before = pids(backend)
        begun = time.monotonic()
        try:
            pause(name)
            gone = time.monotonic()
            time.sleep(PAUSED_S)
        finally:
            returning = time.monotonic()
            docker("unpause", name)
        back = time.monotonic()
        _assert_steady(work, back)
        time.sleep(0.5)
    for one in work.told:
        if one.right:
            assert one.text or one.body == bodies()[READ], f"not the golden body: {one}"
            assert one.began < gone or one.ended > returning, f"while it was away: {one}"
            continue
        assert (one.status, one.body) == (503, b'{"error":"database unavailable"}'), str(one)
        assert one.ended - one.began <= PAUSED_LIMIT_S, f"too late: {one}"
        assert one.ended >= begun, f"before anything happened: {one}"
        assert one.began - back <= BACK_LIMIT_S, f"{one.began - back:.1f} s after the return: {one}"
    assert any(one.status == 503 for one in work.told), "nobody was told 503"
    now = pids(backend)
    assert now == before, f"the processes are {sorted(now)}, they were {sorted(before)}"


def _assert_steady(work: Load, since: float) -> None:
    """Waits until each client gets right answers."""
    steady = wait_until(lambda: work.steady(since), STEADY_LIMIT_S)
    last = ", ".join(map(str, work.told[-3:])) or "no answer at all"
    when = "after the database's return" if since else "to begin with"
    assert steady, f"within {STEADY_LIMIT_S:.0f} s {when} not every client is served: {last}"


CHECKS = (check_database_killed, check_database_paused)
