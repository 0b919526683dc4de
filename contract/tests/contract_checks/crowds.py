"""Many connections at once: slow ones, idle ones, ones that break off."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

from contract_checks.backend import Answer, Backend
from contract_checks.docker import wait_until
from contract_checks.golden import RECIPES, assert_golden, session
from contract_checks.needs import for_scenario
from contract_checks.processes import descriptors
from contract_checks.wire import Wire, open_files, request, wires

KEY = session(1)
RECIPE = request("GET", f"{RECIPES}/1", f"Cookie: sessionid={KEY}")
INDEX = request("GET", "/")
HEALTHZ = request("GET", "/healthz")
SLOW = 300  # more than any implementation has threads
PROMPT_S = 1.0
IDLE = 2_000
KEPT_S = 65.5
BATCH = 250  # a part of them; fewer than fit into any listen queue


def check_slow_clients(backend: Backend) -> None:
    """300 clients that send their heads a byte a second keep nobody from being served."""
    with wires(backend, SLOW) as slow:
        for wire in slow:
            assert wire.send(HEALTHZ[:10]), "a slow client was thrown out at once"
        for at in range(10, 13):
            began = time.monotonic()
            for wire in slow:
                wire.send(HEALTHZ[at : at + 1])
            for _ in range(3):
                assert_prompt(backend)
            time.sleep(max(0.0, began + 1 - time.monotonic()))
        for wire in slow[:20]:
            answer = wire.ask(HEALTHZ[13:])
            assert answer.status == 200, f"a slow client's request: {answer}"


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

    def left() -> int:
        return descriptors(backend) - before

    assert wait_until(lambda: left() <= 40, 8, 0.5), f"200 clients went away; open files: {left()} more"
    warm(backend)


@for_scenario("idle")
def check_idle_crowd(backend: Backend) -> None:
    """2,000 idle connections, and others are served; then every one of them is used once more."""
    open_files()
    crowd: list[Wire] = []
    try:
        while len(crowd) < IDLE:
            batch: list[Wire] = []
            for _ in range(BATCH):
                batch.append(Wire(backend))
                crowd.append(batch[-1])
            _use(batch, f"connection {len(crowd)} of {IDLE}")
        assert_prompt(backend)
        for start in range(0, IDLE, BATCH):
            _use(crowd[start : start + BATCH], f"{IDLE} idle connections")
    finally:
        for wire in crowd:
            wire.abort()


def _use(batch: list[Wire], what: str) -> None:
    for wire in batch:
        assert wire.send(INDEX), f"{what}: closed"
    for wire in batch:
        answer = wire.answer()
        assert answer, f"{what}: closed instead of answered"
        assert answer.status == 200, f"{what}: {answer}"


def assert_prompt(backend: Backend) -> None:
    """A new client is answered soon; the best of three tries, because the machine may be busy."""
    took_s = min(_fresh(backend) for _ in range(3))
    assert took_s <= PROMPT_S, f"a new client waited for {took_s:.1f} s"


def _fresh(backend: Backend) -> float:
    began = time.monotonic()
    with Wire(backend, 5) as wire:
        answer = wire.ask(HEALTHZ)
    assert answer.status == 200, f"a new client: {answer}"
    return time.monotonic() - began


def warm(backend: Backend) -> None:
    """Opens connections that a pool keeps; all answers are right, though a busy machine may need a second try."""

    def once(_: int) -> Answer:
        answer = backend.get(f"{RECIPES}/1", KEY)
        return answer if answer.status != 503 else backend.get(f"{RECIPES}/1", KEY)

    with ThreadPoolExecutor(8) as pool:
        for answer in pool.map(once, range(64)):
            assert_golden(answer, 1)


@cache
def idling(backend: Backend) -> Future[bool]:
    """Begins to hold an idle connection, on a thread of its own; conftest.py does so before the first check."""
    good: Future[bool] = Future()

    def hold() -> None:
        try:
            with Wire(backend) as wire:
                wire.ask(HEALTHZ)
                good.set_result(not wire.closed(KEPT_S) and wire.ask(HEALTHZ).status == 200)
        except BaseException as error:
            good.set_exception(error)

    threading.Thread(target=hold, daemon=True).start()
    return good


def check_keep_alive(backend: Backend) -> None:
    """A connection that has idled for 65 s is still good: proxies close theirs after a minute."""
    assert idling(backend).result(), f"an idle connection was closed within {KEPT_S:.0f} s"


CHECKS = (check_slow_clients, check_broken_off, check_idle_crowd)
