"""The dashboard: golden bodies, its five statements, and reads that are independent of each other."""

import json
from concurrent.futures import ThreadPoolExecutor

from contract_checks import statements
from contract_checks.backend import Backend, at_once
from contract_checks.cookies import assert_unauthorized
from contract_checks.docker import wait_until
from contract_checks.errors import assert_error
from contract_checks.golden import USERS, assert_golden_dashboard, session
from contract_checks.holds import at_lock, locked
from contract_checks.needs import for_model, for_scenario, needs

PATH = "/api/v1/dashboard"
READS = ("dashboard_recipes", "dashboard_teams", "dashboard_notes", "dashboard_events")
N = 10


def right(backend: Backend, user: int = 1) -> bytes:
    """The dashboard of the user, which has to be golden."""
    answer = backend.get(PATH, session(user))
    assert_golden_dashboard(answer, user)
    return answer.body


@for_scenario("fan-out")
def check_dashboards(backend: Backend) -> None:
    """The dashboards of all users, one after the other and at once; without a session 401."""
    for clients in (1, 24):
        at_once(lambda user: right(backend, user), range(1, USERS + 1), clients)
    assert_unauthorized(backend, PATH)


@for_scenario("fan-out")
def check_dashboard_statements(backend: Backend) -> None:
    """The five statements once per request, with the rows of the body and no more."""
    stack = backend.stack
    # PgBouncer asks `select 1` of a connection that idled long, and four reads at once may take any four.
    at_once(lambda _: right(backend), range(32), clients=8)
    statements.reset(stack)
    *_, body = (json.loads(right(backend, 2)) for _ in range(N))
    found = {one.text: (one.calls, one.rows) for one in statements.seen(stack)}
    rows = {name: len(body[name.removeprefix("dashboard_")]) for name in READS}
    expected = {name: (N, N * each) for name, each in {"session": 1, **rows}.items()}
    assert found == expected, f"{N} dashboards: calls and rows are {found}, not {expected}"
    statements.reset(stack)
    assert_error(backend.get(PATH, "unknown"), 401, what="a dashboard with an unknown session")
    calls = {one.text: one.calls for one in statements.seen(stack)}
    assert calls == {"session": 1}, f"a dashboard with an unknown session: calls are {calls}"


@needs("DB_POOL_MAX")
@for_scenario("fan-out")
def check_dashboard_pool_of_one(backend: Backend) -> None:
    """With one connection the dashboard works as ever, also for several clients at once."""
    with backend.variant(DB_POOL_MAX="1", **backend.implementation.honours(WORKERS="1")) as variant:
        right(variant)
        at_once(lambda _: right(variant), range(60), clients=6)


@for_model("async")
@needs("DB_POOL_MAX")
@for_scenario("fan-out")
def check_dashboard_at_once(backend: Backend) -> None:
    """The four reads of one request are sent together: all of them wait for a lock at the same time."""
    settings = {"DB_POOL_MAX": "8", **backend.implementation.honours(WORKERS="1")}
    with backend.variant(**settings) as variant, ThreadPoolExecutor(1) as pool:
        at_once(lambda _: right(variant), range(8), clients=4)
        # All four read one of these; the session's statement does not.
        with locked(backend.stack, "core_recipe", "core_team"):
            waiting = pool.submit(right, variant)
            together = wait_until(lambda: at_lock(variant) == 4, 1.2)
        assert together, "the four reads of a dashboard were not sent at once"
        waiting.result()
    assert wait_until(lambda: backend.get(PATH, session(1)).status == 200, 3)


CHECKS = (check_dashboards, check_dashboard_statements, check_dashboard_pool_of_one, check_dashboard_at_once)
