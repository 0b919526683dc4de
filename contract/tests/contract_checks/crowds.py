"""Many connections at once: slow ones, idle ones, ones that break off."""

import resource
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from multiprocessing.pool import AsyncResult, ThreadPool

from contract_checks.backend import Answer, Backend
from contract_checks.catalog import CONTRACT
from contract_checks.docker import wait_until
from contract_checks.golden import RECIPES, assert_golden, session
from contract_checks.needs import for_scenario
from contract_checks.processes import descriptors
from contract_checks.wire import HEALTHY, HEALTHZ, RECIPE, Wire, request, wires

KEY, ONE = session(1), f"{RECIPES}/1"
INDEX, PAGE = request("GET", "/"), (CONTRACT / "golden" / "index.html").read_bytes()
SLOW = 300  # more than any implementation has threads
PROMPT_S = 1.0
IDLE = 2_000
KEPT_S = 65.5
BATCH = 250  # a part of them; fewer than fit into any listen queue


def check_slow_clients(backend: Backend) -> None:
    """300 clients that send their heads a byte a second keep nobody from being served."""
    with wires(backend, SLOW) as slow:
        for at in range(4):
            for wire in slow:
                assert wire.send(HEALTHZ[at : at + 1]), "a slow client was thrown out"
            assert_prompt(backend)
            time.sleep(1)
        for wire in slow[:20]:
            wire.expect(HEALTHY, "a slow client's request", HEALTHZ[4:])


@for_scenario("recipe", "work")
def check_broken_off(backend: Backend) -> None:
    """200 clients that go away in the middle of something leave no open file behind."""
    warm(backend)
    before = descriptors(backend)
    for data in (b"", HEALTHZ[:20], request("POST", "/work", "Content-Length: 100") + b"[1", RECIPE):
        for number in range(50):
            with Wire(backend) as wire:
                wire.send(data)
                if number % 2:
                    wire.abort()

    # Some are the application's own, for the requests before.
    assert wait_until(lambda: descriptors(backend) <= before + 40, 8, 0.5), (
        "the files of 200 clients stay open"
    )
    warm(backend)


@for_scenario("idle")
def check_idle_crowd(backend: Backend) -> None:
    """2,000 idle connections, and others are served; then every one of them is used once more."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    batches: list[list[Wire]] = []
    with ExitStack() as crowd:
        for before in range(0, IDLE, BATCH):
            batches.append(crowd.enter_context(wires(backend, BATCH)))
            _use(batches[-1], f"a new connection beside {before} idle ones")
        assert_prompt(backend)
        for batch in batches:
            _use(batch, f"one of {IDLE} idle connections")


def _use(batch: list[Wire], what: str) -> None:
    for wire in batch:
        wire.send(INDEX)
    for wire in batch:
        wire.expect(PAGE, what)


def on_new(backend: Backend, times: int, data: bytes = HEALTHZ) -> list[float]:
    """How long a request takes, in seconds, each time on a connection of its own; the quickest first."""
    seconds = []
    for _ in range(times):
        with Wire(backend) as wire:
            answer = wire.ask(data)
        assert answer.status == 200, f"on a new connection: {answer}"
        seconds.append(answer.seconds)
    return sorted(seconds)


def assert_prompt(backend: Backend) -> None:
    """A new client is answered soon; the best of three tries, because the machine may be busy."""
    took_s = on_new(backend, 3)[0]
    assert took_s <= PROMPT_S, f"a new client waited for {took_s:.1f} s"


def at_once(clients: int, times: int, ask: Callable[[int], Answer]) -> list[Answer]:
    """The answers to so many requests, in the order of their numbers, asked by so many clients."""
    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(ask, range(times)))


def warm(backend: Backend) -> None:
    """Opens the connections that a pool keeps. A busy machine may refuse some of the first requests, but no more."""
    first, later = (at_once(8, 32, lambda _: backend.get(ONE, KEY)) for _ in range(2))
    for answer in (*(one for one in first if one.status != 503), *later):
        assert_golden(answer, 1)


@cache
def idling(backend: Backend) -> AsyncResult[bool]:
    """Begins to hold an idle connection, on a thread that holds up no end; conftest.py does so before the first check."""

    def hold() -> bool:
        with Wire(backend) as wire:
            wire.ask(HEALTHZ)
            return not wire.closed(KEPT_S) and wire.ask(HEALTHZ).status == 200

    return ThreadPool(1).apply_async(hold)


def check_keep_alive(backend: Backend) -> None:
    """A connection that has idled for 65 s is still good: proxies close theirs after a minute."""
    assert idling(backend).get(), f"an idle connection was closed within {KEPT_S:.0f} s"


CHECKS = (check_slow_clients, check_broken_off, check_idle_crowd)
