"""SIGTERM to a backend that is at work."""

import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

from contract_checks.backend import Answer, Backend
from contract_checks.docker import docker, end_of_log, wait_until
from contract_checks.golden import assert_golden
from contract_checks.needs import for_scenario
from contract_checks.wire import HEALTHY, HEALTHZ, RECIPE, Closed, Wire, request, wires

GRACE_S = 13.0  # the contract's 12 s, and one for the engine to notice
LONG, LONG_MS = 8, 4000  # so many requests in flight, so long
CLIENTS = 8
LOAD, LOAD_LIMIT_S = 3 * CLIENTS, 10
"""So many pairs of answers are a load; a busy machine may take that long for them."""


@contextmanager
def _stopping(backend: Backend) -> Iterator[float]:
    """Sends SIGTERM and yields when; at the end the process has to have ended, with status 0 and in good time."""
    docker("kill", "--signal", "TERM", backend.container)
    began = time.monotonic()
    yield began
    left_s = max(2, began + GRACE_S - time.monotonic())  # the engine takes its time to answer
    try:
        status = docker("wait", backend.container, timeout_s=left_s).strip()
    except subprocess.TimeoutExpired:
        status = "none, it still runs"
    assert status == "0", (
        f"{time.monotonic() - began:.1f} s after SIGTERM the exit status is {status};"
        f" the end of its log:\n{end_of_log(backend.container, 10)}"
    )


@for_scenario("work")
def check_stop_finishes(backend: Backend) -> None:
    """Requests in flight are answered, and nobody new is served meanwhile."""
    with backend.variant() as variant, wires(variant, LONG) as busy:
        for wire in busy:
            wire.send(request("POST", f"/work?delay_ms={LONG_MS}", body=b"[1,2]"))
        time.sleep(0.7)
        with _stopping(variant):
            time.sleep(1.5)
            assert not variant.alive(), "a new connection is served 1.5 s after SIGTERM"
            for wire in busy:
                wire.expect(b"Sum: 3", "in flight at SIGTERM")


@for_scenario("recipe")
def check_stop_under_load(backend: Backend) -> None:
    """Clients that do not pause: an answer that begins is whole, and the connection ends before the next."""
    stop, answers = threading.Event(), list[Answer]()
    with backend.variant() as variant, ThreadPoolExecutor(CLIENTS) as pool:
        try:
            clients = [pool.submit(_hammer, variant, stop, answers) for _ in range(CLIENTS)]
            time.sleep(1)
            wait_until(lambda: len(answers) > LOAD, LOAD_LIMIT_S)
            with _stopping(variant):
                pass
        finally:
            stop.set()
        for client in clients:
            client.result()
    assert len(answers) > LOAD, f"only {2 * len(answers)} answers: that was no load"


def check_stop_closes_idle(backend: Backend) -> None:
    """Idle connections are closed soon."""
    with backend.variant() as variant, wires(variant, 50) as idle:
        for wire in idle:
            wire.expect(HEALTHY, "before SIGTERM", HEALTHZ)
        with _stopping(variant) as began:
            for wire in idle:
                left_s = began + 8 - time.monotonic()
                assert wire.closed(left_s), "an idle connection is open 8 s after SIGTERM"


def _hammer(backend: Backend, stop: threading.Event, answers: list[Answer]) -> None:
    """Large and small answers in turn, on a new connection when one ends, until none is to be had."""
    with suppress(OSError):
        while not stop.is_set():
            with Wire(backend, 5) as wire, suppress(Closed):
                while not stop.is_set():
                    answer = wire.ask(RECIPE)
                    assert_golden(answer, 1)
                    answers.append(answer)
                    wire.expect(HEALTHY, "around SIGTERM", HEALTHZ)


CHECKS = (check_stop_finishes, check_stop_under_load, check_stop_closes_idle)
