"""The database goes away, is slow, or refuses a statement; PgBouncer starts anew."""

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

from contract_checks.backend import Answer, Backend
from contract_checks.crowds import KEY, ONE, at_once, warm
from contract_checks.docker import output, wait_until
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden
from contract_checks.holds import at_lock, far_away, locked
from contract_checks.needs import for_scenario, needs
from contract_checks.wire import RECIPE, wires

# PgBouncer lets a client wait for two seconds before it gives up (query_wait_timeout), on each of the
# application's connections anew.
LIMIT_S = 3.0
BACK_LIMIT_S = 5.0
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
        for answer in at_once(8, 20, lambda number: backend.get((RECIPES, ONE)[number % 2], KEY)):
            _assert_soon(answer, 503, LIMIT_S, "without the database")
        _assert_soon(backend.get("/healthz"), 200, 1, "/healthz without the database")
    finally:
        backend.stack.start("db")
    _assert_back(backend)


@for_scenario("recipe")
def check_pgbouncer_restart(backend: Backend) -> None:
    """Every connection of the application breaks at once: nobody is told 500, and it recovers."""
    warm(backend)
    backend.stack.restart("pgbouncer")
    _assert_back(backend)


@needs("DB_POOL_MAX")
@for_scenario("recipe")
def check_given_up(backend: Backend) -> None:
    """Clients that give up spoil no connection: neither while the database holds its answers back, nor in any step of a
    request to a database 50 ms away."""
    settings = backend.implementation.honours(WORKERS="1", DB_POOL_MAX=str(POOL))
    with backend.variant(**settings) as variant, ThreadPoolExecutor(POOL) as pool:
        warm(variant)
        # The session can be asked for, the recipe cannot.
        with locked(backend.stack, "core_recipe"):
            _hang_up(variant, GIVEN_UP, after_s=0.5)
            for _ in range(2 * POOL):
                what = f"after {GIVEN_UP} clients that gave up"
                _assert_soon(variant.get(ONE, "unknown"), 401, SPOILED_S, what)
        with far_away(backend.stack, FAR_S):
            _hang_up(variant, FAR_GIVEN_UP, after_s=0)
        time.sleep(AGAIN_S)
        with locked(backend.stack, "core_step"):
            asked = [pool.submit(variant.get, ONE, KEY) for _ in range(POOL)]
            wait_until(lambda: at_lock(variant) == POOL, 1)
            serve = at_lock(variant)
        assert serve == POOL, (
            f"{AGAIN_S:.0f} s after {FAR_GIVEN_UP} clients gave up, {serve} of {POOL} connections serve"
        )
        for one in asked:
            assert_golden(one.result(), 1)


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
        assert_golden(variant.get(ONE, KEY), 1)
        with ThreadPoolExecutor(WAITING) as pool, locked(backend.stack, "core_recipe"):
            waiting = [pool.submit(variant.get, ONE, KEY) for _ in range(WAITING)]
            time.sleep(0.3)
            _assert_soon(variant.get("/healthz"), 200, 1, "/healthz beside requests that wait")
            for one in waiting:
                _assert_soon(one.result(), 503, WAIT_LIMIT_S, "a request that waits for the database")


@needs("DB_POOL_MAX")
@for_scenario("recipe")
def check_first_come(backend: Backend) -> None:
    """Clients that wait for the one connection get it about in the order in which they asked."""
    with backend.variant(DB_POOL_MAX="1", **backend.implementation.honours(WORKERS="1")) as variant:
        warm(variant)

        def ended() -> float:
            assert_golden(variant.get(ONE, KEY), 1)
            return time.monotonic()

        asking = []
        with ThreadPoolExecutor(QUEUE) as pool, locked(backend.stack, "core_recipe"):
            for _ in range(QUEUE):
                asking.append(pool.submit(ended))
                time.sleep(APART_S)
    overtaken = [later.result() < earlier.result() for earlier, later in combinations(asking, 2)]
    share = sum(overtaken) / len(overtaken)
    assert share <= OVERTAKEN_MOST, (
        f"{share:.0%} of the pairs of waiting clients were answered in the wrong order"
    )


@needs("DB_POOL_MAX")
@for_scenario("recipe")
def check_bugs(backend: Backend) -> None:
    """A statement that PostgreSQL refuses, as it does with a typo, is 500 and a line in the log: it is no outage."""
    with backend.variant(DB_POOL_MAX="2", **backend.implementation.honours(WORKERS="1")) as variant:
        warm(variant)
        before = output(variant.container)
        with backend.stack.connect() as owner:
            owner.execute("alter table core_step rename to core_step_away")
            try:
                # Servers may close a connection after a bug.
                headers = [(b"cookie", b"sessionid=" + KEY.encode()), (b"connection", b"close")]
                for _ in range(8):
                    assert_error(variant.request("GET", ONE, headers), 500, what="a table that is not there")
            finally:
                owner.execute("alter table core_step_away rename to core_step")
        assert output(variant.container) != before, "8 requests met a bug, and no line of the log says so"
        warm(variant)


def _assert_soon(answer: Answer, status: int, limit_s: float, what: str) -> None:
    assert_error(answer, status, what=what)
    assert answer.seconds <= limit_s, f"{what}: {status} only after {answer.seconds:.1f} s"


def _assert_back(backend: Backend) -> None:
    """503 is fine for a few seconds, then 50 right answers in a row."""
    end = time.monotonic() + BACK_LIMIT_S
    while (answer := backend.get(ONE, KEY)).status == 503 and time.monotonic() < end:
        time.sleep(0.05)
    for _ in range(50):
        assert_golden(answer, 1)
        answer = backend.get(ONE, KEY)


CHECKS = (
    check_given_up, check_waits_end, check_first_come, check_bugs, check_database_away, check_pgbouncer_restart,
)  # fmt: skip
