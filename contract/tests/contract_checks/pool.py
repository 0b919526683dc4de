"""GET /pool: what an application's own pool tells of the wait for a database connection, where bench.toml says so."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from contract_checks.backend import Backend
from contract_checks.dashboard import PATH as DASHBOARD
from contract_checks.database_settings import ask
from contract_checks.errors import assert_error
from contract_checks.golden import RECIPES, assert_golden, session
from contract_checks.holds import locked
from contract_checks.needs import for_scenario, needs, where_pool_tells

PATH = "/pool"
KEY = session(1)
N = 12
CLIENTS = 8  # fewer than any implementation has threads
HELD_S = 0.6  # well below the 1.5 s that a request waits for a connection


@dataclass(frozen=True)
class Use:
    """What the pool has counted; of two moments the difference is of interest."""

    checkouts: int
    wait_us: int

    def since(self, before: Use) -> Use:
        return Use(self.checkouts - before.checkouts, self.wait_us - before.wait_us)


def told(backend: Backend) -> Use:
    """What GET /pool says, on a connection of its own; fails unless it says it as the contract has it."""
    answer = backend.request("GET", PATH, [(b"connection", b"close")])
    assert answer.status == 200, f"GET {PATH}, which bench.toml declares: {answer}"
    assert answer.media_type == "application/json", f"GET {PATH}: {answer}"
    body = json.loads(answer.body)
    right = isinstance(body, dict) and list(body) == ["checkouts", "wait_us"]
    right = right and all(type(number) is int and number >= 0 for number in body.values())
    assert right, f"GET {PATH} is not two counts: {answer}"
    assert answer.body == json.dumps(body, separators=(",", ":")).encode(), (
        f"GET {PATH} is not compact: {answer}"
    )
    return Use(**body)


@where_pool_tells
@needs("DB_POOL_MAX")
@for_scenario("recipe")
def check_pool_told(backend: Backend) -> None:
    """Whoever asks the database takes a connection, and nobody else does. Of the one connection, the others wait as long as
    it is held, together as Little's law has it; one alone never waits."""
    with backend.variant(DB_POOL_MAX="1", **backend.implementation.honours(WORKERS="1")) as variant:
        ask(variant, 3)
        _assert_checkouts(variant)
        _, alone = _while_locked(variant, 1)
        took_s, together = _while_locked(variant, CLIENTS)
    held = f"the database let nobody on for {HELD_S} s"
    assert alone.checkouts == 1, f"{held}, one client: {alone}"
    assert alone.wait_us <= HELD_S * 1e6 / 10, f"{held}, one client, which has the connection: {alone}"
    assert together.checkouts == CLIENTS, f"{held}, {CLIENTS} clients: {together}"
    # All but one wait that long, and some longer. Half of it is left for clients that come late.
    least_us, most_us = (CLIENTS - 1) * HELD_S * 1e6 / 2, CLIENTS * took_s * 1e6
    assert least_us <= together.wait_us <= most_us, (
        f"{held}, DB_POOL_MAX=1 and {CLIENTS} clients: {together}; they waited for {least_us:.0f} us at least"
        f" and {most_us:.0f} us at most"
    )


def _assert_checkouts(backend: Backend) -> None:
    def dashboard() -> None:
        if backend.implementation.serves("fan-out"):
            assert backend.get(DASHBOARD, KEY).status == 200

    def unknown() -> None:
        assert_error(backend.get(f"{RECIPES}/1", "unknown"), 401, what="an unknown session")

    def nothing() -> None:
        assert backend.get("/healthz").status == 200
        assert_error(backend.get("/nothing"), 404, what="/nothing")
        assert_error(backend.get(f"{RECIPES}/1"), 401, what="no session")

    for what, act, least, most in (
        (f"{N} recipes", partial(ask, backend, N), N, N),
        ("a session that the database does not know", unknown, 1, 1),
        ("a dashboard, of five statements", dashboard, int(backend.implementation.serves("fan-out")), 5),
        ("requests that need no database", nothing, 0, 0),
    ):
        before = told(backend)
        act()
        grown = told(backend).since(before)
        assert least <= grown.checkouts <= most, f"{what}: {grown}"


def _while_locked(backend: Backend, clients: int) -> tuple[float, Use]:
    """So many requests at once, each of which stops at its first statement for HELD_S; how long all took, in seconds."""
    before = told(backend)
    with ThreadPoolExecutor(clients) as pool:
        with locked(backend.stack, "user_sessions_session"):
            began = time.monotonic()
            waiting = [pool.submit(backend.get, f"{RECIPES}/1", KEY) for _ in range(clients)]
            time.sleep(HELD_S)
        for answer in waiting:
            assert_golden(answer.result(), 1)
        took_s = time.monotonic() - began
    return took_s, told(backend).since(before)


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
    if implementation.honours(WORKERS="2"):
        with backend.variant(WORKERS="2") as variant:
            if variant.get(PATH).status == 404:
                _assert_absent(variant, "with WORKERS=2")
            else:
                _assert_whole(variant)


def _assert_absent(backend: Backend, why: str) -> None:
    for method in ("GET", "POST"):
        assert_error(backend.request(method, PATH), 404, what=f"{method} {PATH}, {why}")


def _assert_whole(backend: Backend) -> None:
    """Whichever of two workers is asked, its counts are those of both."""
    before = told(backend)
    headers = [(b"cookie", b"sessionid=" + KEY.encode()), (b"connection", b"close")]
    with ThreadPoolExecutor(CLIENTS) as pool:
        for answer in pool.map(lambda _: backend.request("GET", f"{RECIPES}/1", headers), range(N)):
            assert_golden(answer, 1)
    found = [told(backend).since(before).checkouts for _ in range(4)]
    assert found == [N] * 4, f"WORKERS=2: {N} recipes, and the pool tells {found} checkouts"


CHECKS = (check_pool_told, check_pool_not_told)
