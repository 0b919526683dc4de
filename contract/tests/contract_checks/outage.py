"""The database goes away, is slow, or refuses a statement; PgBouncer starts anew."""

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

from contract_checks.backend import Answer, Backend
from contract_checks.crowds import RECIPE, warm
from contract_checks.docker import output, wait_until
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden, session
from contract_checks.holds import at_lock, far_away, locked
from contract_checks.needs import for_scenario, needs
from contract_checks.wire import wires

KEY = session(1)
# PgBouncer lets a client wait for two seconds before it gives up (query_wait_timeout), on each of the
# application's connections anew.
LIMIT_S = 3.0
BACK_LIMIT_S = 5.0
PATHS = (RECIPES, f"{RECIPES}/1")
POOL, GIVEN_UP = 6, 3
FAR_GIVEN_UP, FAR_S, AGAIN_S = 12, 0.05, 3.0
WAITING, WAIT_LIMIT_S = 4, 5.0  # fewer than any implementation has threads
QUEUE, APART_S, OVERTAKEN_MOST = 24, 0.02, 0.2  # the newest first: nearly all pairs; at random: half of them
SPOILED_S = 1.0  # a request that has to wait for a connection gives up after 1.5 s


@for_scenario("recipe", "recipes")
def check_database_away(backend: Backend) -> None:
    """Without PostgreSQL: 503 soon, /healthz fine. With it again: right answers soon, and they stay."""
    warm(backend)
    backend.stack.stop("db")
    try:
        _assert_unavailable(backend)
    finally:
        backend.stack.start("db")
    _assert_back(backend, "PostgreSQL")


@for_scenario("recipe")
def check_pgbouncer_restart(backend: Backend) -> None:
    """Every connection of the application breaks at once: nobody is told 500, and it recovers."""
    warm(backend)
    backend.stack.restart("pgbouncer")
    _assert_back(backend, "PgBouncer")


@needs("DB_POOL_MAX")
@for_scenario("recipe")
def check_given_up(backend: Backend) -> None:
    """Clients that give up spoil no connection: neither while the database holds its answers back, nor in any step of a
    request to a database 50 ms away."""
    honoured = backend.implementation.honours(WORKERS="1")
    with backend.variant(DB_POOL_MAX=str(POOL), **honoured) as variant:
        warm(variant)
        # The session can be asked for, the recipe cannot.
        with locked(backend.stack, "core_recipe"):
            _hang_up(variant, GIVEN_UP, after_s=0.5)
            for number in range(2 * POOL):
                answer = variant.get(f"{RECIPES}/1", "unknown")
                what = f"request {number + 1} after {GIVEN_UP} clients that gave up"
                assert_error(answer, 401, what=what)
                assert answer.seconds <= SPOILED_S, f"{what}: an answer after {answer.seconds:.1f} s"
        with far_away(backend.stack, FAR_S):
            _hang_up(variant, FAR_GIVEN_UP, after_s=0)
        serve = 0

        def all_serve() -> bool:
            nonlocal serve
            with ThreadPoolExecutor(POOL) as pool:
                with locked(backend.stack, "core_step"):
                    asked = [pool.submit(variant.get, f"{RECIPES}/1", KEY) for _ in range(POOL)]
                    wait_until(lambda: at_lock(variant) == POOL, 1)
                    serve = at_lock(variant)
                return serve == POOL and all(answer.result().status == 200 for answer in asked)

        assert wait_until(all_serve, AGAIN_S), (
            f"{AGAIN_S:.0f} s after {FAR_GIVEN_UP} clients gave up, {serve} of {POOL} connections serve"
        )


def _hang_up(backend: Backend, number: int, after_s: float) -> None:
    """So many clients ask at once and go away after that time, one after the other, FAR_S apart."""
    with wires(backend, number) as clients:
        for client in clients:
            client.send(RECIPE)
        time.sleep(after_s)
        for client in clients:
            time.sleep(FAR_S)
            client.abort()


@needs("DB_POOL_MAX")
@for_scenario("recipe")
def check_waits_end(backend: Backend) -> None:
    """Clients that wait for the one connection are told 503 within 5 s, and /healthz is answered at once meanwhile."""
    with backend.variant(DB_POOL_MAX="1", **backend.implementation.honours(WORKERS="1")) as variant:
        assert_golden(variant.get(f"{RECIPES}/1", KEY), 1)
        with ThreadPoolExecutor(WAITING) as pool, locked(backend.stack, "core_recipe"):
            waiting = [pool.submit(variant.get, f"{RECIPES}/1", KEY) for _ in range(WAITING)]
            time.sleep(0.3)
            _assert_healthy(variant, "beside requests that wait")
            for answer in [one.result() for one in waiting]:
                assert_error(answer, 503, what="a request that waits for the database")
                assert answer.seconds <= WAIT_LIMIT_S, f"503 only after {answer.seconds:.1f} s"


@needs("DB_POOL_MAX")
@for_scenario("recipe")
def check_first_come(backend: Backend) -> None:
    """Clients that wait for the one connection get it about in the order in which they asked."""
    with backend.variant(DB_POOL_MAX="1", **backend.implementation.honours(WORKERS="1")) as variant:
        warm(variant)
        ended: list[int] = []

        def ask(number: int) -> None:
            assert_golden(variant.get(f"{RECIPES}/1", KEY), 1)
            ended.append(number)

        with ThreadPoolExecutor(QUEUE) as pool:
            with locked(backend.stack, "core_recipe"):
                asking = []
                for number in range(QUEUE):
                    asking.append(pool.submit(ask, number))
                    time.sleep(APART_S)
            for one in asking:
                one.result()
    overtaken = sum(later < earlier for earlier, later in combinations(ended, 2))
    share = overtaken / (QUEUE * (QUEUE - 1) / 2)
    assert share <= OVERTAKEN_MOST, (
        f"{share:.0%} of the pairs of waiting clients were answered in the wrong order: {ended}"
    )


@needs("DB_POOL_MAX")
@for_scenario("recipe")
def check_bugs(backend: Backend) -> None:
    """A statement that PostgreSQL refuses, as it does with a typo, is 500 and a line in the log: it is no outage."""
    with backend.variant(DB_POOL_MAX="2", **backend.implementation.honours(WORKERS="1")) as variant:
        warm(variant)
        before = len("".join(output(variant.container)).splitlines())
        with backend.stack.connect() as owner:
            owner.execute("alter table core_step rename to core_step_away")
            try:
                # Servers may close a connection after a bug.
                headers = [(b"cookie", b"sessionid=" + KEY.encode()), (b"connection", b"close")]
                answers = [variant.request("GET", f"{RECIPES}/1", headers) for _ in range(8)]
            finally:
                owner.execute("alter table core_step_away rename to core_step")
        for answer in answers:
            assert_error(answer, 500, what="a table that is not there")
        lines = "".join(output(variant.container)).splitlines()[before:]
        assert any(map(str.strip, lines)), "8 requests met a bug, and no line of the log says so"
        warm(variant)


def _assert_unavailable(backend: Backend) -> None:
    def once(path: str) -> Answer:
        return backend.get(path, KEY)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(once, PATHS * 4))
    answers += [once(path) for path in PATHS * 5]
    for answer in answers:
        assert_error(answer, 503, what="without the database")
        assert answer.seconds <= LIMIT_S, f"without the database: 503 only after {answer.seconds:.1f} s"
    _assert_healthy(backend, "without the database")


def _assert_healthy(backend: Backend, what: str) -> None:
    health = backend.get("/healthz")
    assert health.status == 200, f"/healthz {what}: {health}"
    assert health.seconds <= 1, f"/healthz {what} took {health.seconds:.1f} s"


def _assert_back(backend: Backend, what: str) -> None:
    """503 is fine for a few seconds, then 50 right answers in a row."""
    began = time.monotonic()

    def right() -> bool:
        answer = backend.get(f"{RECIPES}/1", KEY)
        if answer.status != 200:
            assert_error(answer, 503, what=f"just after {what} came back")
        return answer.status == 200

    assert wait_until(right, BACK_LIMIT_S), (
        f"{BACK_LIMIT_S:.0f} s after {what} came back the answer is still 503"
    )
    after_s = time.monotonic() - began
    for number in range(50):
        answer = backend.get(f"{RECIPES}/1", KEY)
        assert answer.status == 200, (
            f"answer {number + 1} of 50, {after_s:.1f} s after {what} came back: {answer}"
        )
        assert_golden(answer, 1)


CHECKS = (
    check_given_up,
    check_waits_end,
    check_first_come,
    check_bugs,
    check_database_away,
    check_pgbouncer_restart,
)
