"""GET /pool: what an application's own pool tells of the wait for a database connection, where bench.toml says so."""

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from contract_checks.backend import Backend
from contract_checks.dashboard import PATH as DASHBOARD
from contract_checks.database_settings import KEY, N, ask, held
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden
from contract_checks.needs import for_scenario, needs, where_pool_tells

PATH = "/pool"
CLIENTS = 8  # fewer than any implementation has threads
HELD_S = 0.6  # well below the 1.5 s that a request waits for a connection
COUNTS = re.compile(rb'\{"checkouts":\d+,"wait_us":\d+\}')
CLOSE = (b"connection", b"close")


def told(backend: Backend) -> Counter[str]:
    """What GET /pool says, on a connection of its own; fails unless it says it as the contract has it."""
    answer = backend.request("GET", PATH, [CLOSE])
    assert (answer.status, answer.media_type) == (200, "application/json"), f"GET {PATH}: {answer}"
    assert COUNTS.fullmatch(answer.body), (
        f"GET {PATH}, which bench.toml declares, has to be two counts: {answer}"
    )
    return Counter(json.loads(answer.body))


def counted[T](backend: Backend, act: Callable[[], T]) -> tuple[T, Counter[str]]:
    """What something gives that is done, and what the pool counts meanwhile."""
    before = told(backend)
    given = act()
    return given, told(backend) - before


@where_pool_tells
@needs("DB_POOL_MAX")
@for_scenario("recipe")
def check_pool_told(backend: Backend) -> None:
    """Whoever asks the database takes a connection, and nobody else does. Of the one connection, the others wait as long as
    it is held, together as Little's law has it; one alone never waits."""
    with backend.variant(DB_POOL_MAX="1", **backend.implementation.honours(WORKERS="1")) as variant:
        ask(variant, 3)
        _assert_checkouts(variant)
        _, alone = counted(variant, partial(_hold, variant, 1))
        took_s, together = counted(variant, partial(_hold, variant, CLIENTS))
    what = f"DB_POOL_MAX=1, the database let nobody on for {HELD_S} s: one client {dict(alone)}, {CLIENTS} {dict(together)}"
    assert (alone["checkouts"], together["checkouts"]) == (1, CLIENTS), what
    assert alone["wait_us"] <= HELD_S * 1e6 / 10, f"{what}; one alone has the connection"
    # All but one wait that long, and some longer. Half of it is left for clients that come late.
    least_us, most_us = (CLIENTS - 1) * HELD_S * 1e6 / 2, CLIENTS * took_s * 1e6
    assert least_us <= together["wait_us"] <= most_us, (
        f"{what}; they waited for {least_us:.0f} to {most_us:.0f} us"
    )


def _assert_checkouts(backend: Backend) -> None:
    _, many = counted(backend, partial(ask, backend))
    assert many["checkouts"] == N, f"{N} recipes: {many}"
    cases = [
        (f"{RECIPES}/1", "unknown", 401, 1, 1),
        (f"{RECIPES}/1", None, 401, 0, 0),
        ("/healthz", None, 200, 0, 0),
        ("/nothing", None, 404, 0, 0),
    ]
    if backend.implementation.serves("fan-out"):
        cases.append((DASHBOARD, KEY, 200, 1, 5))
    for path, key, status, least, most in cases:
        answer, grown = counted(backend, partial(backend.get, path, key))
        assert answer.status == status, f"{path} with the session {key!r}: {answer}"
        assert least <= grown["checkouts"] <= most, f"{path} with the session {key!r}: {grown}"


def _hold(backend: Backend, clients: int) -> float:
    """So many requests at once, each of which stops at its first statement for HELD_S; how long all took, in seconds."""
    began = time.monotonic()
    with held(backend, clients) as waiting:
        time.sleep(HELD_S)
    for answer in waiting:
        assert_golden(answer.result(), 1)
    return time.monotonic() - began


def _assert_absent(backend: Backend, why: str) -> None:
    for method in ("GET", "POST"):
        assert_error(backend.request(method, PATH), 404, what=f"{method} {PATH}, {why}")


def check_pool_not_told(backend: Backend) -> None:
    """Without a pool that counts for all there is no such path: undeclared, DB_PERSISTENT=0, or several processes."""
    implementation = backend.implementation
    if not implementation.pool_tells:
        _assert_absent(backend, "which bench.toml does not declare")
        return
    alone = implementation.honours(WORKERS="1")
    if implementation.honours(DB_PERSISTENT="0"):
        with backend.variant(DB_PERSISTENT="0", **alone) as variant:
            _assert_absent(variant, "with DB_PERSISTENT=0")
    if not alone:
        return
    with backend.variant(WORKERS="2") as variant:
        if variant.get(PATH).status == 404:
            _assert_absent(variant, "with WORKERS=2")
            return
        # Whichever of the two workers is asked, its counts are those of both.
        before = told(variant)
        headers = [(b"cookie", b"sessionid=" + KEY.encode()), CLOSE]
        with ThreadPoolExecutor(CLIENTS) as pool:
            for answer in pool.map(lambda _: variant.request("GET", f"{RECIPES}/1", headers), range(N)):
                assert_golden(answer, 1)
        found = [told(variant)["checkouts"] - before["checkouts"] for _ in range(4)]
    assert found == [N] * 4, f"WORKERS=2: {N} recipes, and the pool tells {found} checkouts"


CHECKS = (check_pool_told, check_pool_not_told)
