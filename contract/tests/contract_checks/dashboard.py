"""The dashboard: golden bodies, its five statements, and reads that are independent of each other."""

import json
from concurrent.futures import ThreadPoolExecutor

from contract_checks import statements
from contract_checks.backend import Answer, Backend
from contract_checks.docker import wait_until
from contract_checks.errors import assert_error
from contract_checks.golden import USERS, assert_golden_dashboard, expired, session
from contract_checks.holds import at_lock, locked
from contract_checks.needs import for_model, for_scenario, needs

PATH = "/api/v1/dashboard"
READS = ("dashboard_recipes", "dashboard_teams", "dashboard_notes", "dashboard_events")
N = 10


def ask(backend: Backend, user: int = 1) -> Answer:
    return backend.get(PATH, session(user))


@for_scenario("fan-out")
def check_dashboards(backend: Backend) -> None:
    """The dashboards of all users, one after the other and at once; without a session 401."""
    for user in range(1, USERS + 1):
        assert_golden_dashboard(ask(backend, user), user)
    with ThreadPoolExecutor(24) as pool:
        for user, answer in zip(
            range(1, USERS + 1), pool.map(lambda u: ask(backend, u), range(1, USERS + 1)), strict=True
        ):
            assert_golden_dashboard(answer, user)
    for key in (None, "", "unknown", expired(1)):
        assert_error(backend.get(PATH, key), 401, what=f"{PATH} with the session {key!r}")


@for_scenario("fan-out")
def check_dashboard_statements(backend: Backend) -> None:
    """The five statements once per request, with the rows of the body and no more."""
    # PgBouncer asks `select 1` of a connection that idled long, and four reads at once may take any four.
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: ask(backend), range(32)))
    statements.reset(backend.stack)
    answers = [ask(backend, 2) for _ in range(N)]
    for answer in answers:
        assert_golden_dashboard(answer, 2)
    found = {s.text: s for s in statements.seen(backend.stack)}
    calls = {name: s.calls for name, s in found.items()}
    assert calls == dict.fromkeys(("session", *READS), N), f"{N} dashboards: calls are {calls}"
    body = json.loads(answers[0].body)
    rows = {name: s.rows for name, s in found.items()}
    expected = {"session": N} | {name: N * len(body[name.removeprefix("dashboard_")]) for name in READS}
    assert rows == expected, f"{N} dashboards: rows are {rows}, in the bodies {expected}"
    statements.reset(backend.stack)
    assert_error(backend.get(PATH, "unknown"), 401, what="a dashboard with an unknown session")
    calls = {s.text: s.calls for s in statements.seen(backend.stack)}
    assert calls == {"session": 1}, f"a dashboard with an unknown session: calls are {calls}"


@needs("DB_POOL_MAX")
@for_scenario("fan-out")
def check_dashboard_pool_of_one(backend: Backend) -> None:
    """With one connection the dashboard works as ever, also for several clients at once."""
    with backend.variant(DB_POOL_MAX="1", **backend.implementation.honours(WORKERS="1")) as variant:
        assert_golden_dashboard(ask(variant), 1)
        with ThreadPoolExecutor(6) as pool:
            for answer in pool.map(lambda _: ask(variant), range(60)):
                assert_golden_dashboard(answer, 1)


@for_model("async")
@needs("DB_POOL_MAX")
@for_scenario("fan-out")
def check_dashboard_at_once(backend: Backend) -> None:
    """The four reads of one request are sent together: all of them wait for a lock at the same time."""
    settings = {"DB_POOL_MAX": "8", **backend.implementation.honours(WORKERS="1")}
    with backend.variant(**settings) as variant, ThreadPoolExecutor(4) as pool:
        for answer in pool.map(lambda _: ask(variant), range(8)):
            assert_golden_dashboard(answer, 1)
        # All four read one of these; the session's statement does not.
        with locked(backend.stack, "core_recipe", "core_team"):
            waiting = pool.submit(ask, variant)
            together = wait_until(lambda: at_lock(variant) == 4, 1.2)
        answer = waiting.result()
    assert together, "the four reads of a dashboard were not sent at once"
    assert_golden_dashboard(answer, 1)
    assert wait_until(lambda: ask(backend).status == 200, 3)


CHECKS = (
    check_dashboards,
    check_dashboard_statements,
    check_dashboard_pool_of_one,
    check_dashboard_at_once,
)
