"""SIGTERM to a backend that is at work."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait

from contract_checks.backend import Backend
from contract_checks.docker import docker, end_of_log, inspect, wait_until
from contract_checks.golden import RECIPES, assert_golden, session
from contract_checks.needs import for_scenario
from contract_checks.wire import Wire, request, wires

GRACE_S = 13.0  # the contract's 12 s, and one for the engine to notice
LONG = 8
IN_FLIGHT_S = 4  # so long a stopping backend has reason to live, and a busy machine has to let it answer
CLIENTS = 8
LOAD, LOAD_LIMIT_S = 5 * CLIENTS, 10
"""So many answers are a load; a busy machine may take that long for them."""
HEALTHZ = request("GET", "/healthz")
RECIPE = request("GET", f"{RECIPES}/1", f"Cookie: sessionid={session(1)}")


@for_scenario("work")
def check_stop_finishes(backend: Backend) -> None:
    """Requests in flight are answered, and nobody new is served meanwhile."""
    with backend.variant() as variant, wires(variant, LONG) as busy:
        _send_long(busy, 1000 * IN_FLIGHT_S)
        began = _terminate(variant)
        time.sleep(1.5)
        assert not _served(variant), "a new connection is served 1.5 s after SIGTERM"
        _assert_sums(busy)
        _assert_ended(variant, began)


@for_scenario("recipe")
def check_stop_under_load(backend: Backend) -> None:
    """Clients that do not pause: an answer that begins is whole, and the connection ends before the next."""
    stop, answers = threading.Event(), list[float]()
    with backend.variant() as variant, ThreadPoolExecutor(CLIENTS) as pool:
        try:
            clients = [
                pool.submit(_hammer, variant, stop, number % 2 == 0, answers) for number in range(CLIENTS)
            ]
            time.sleep(1)
            wait_until(lambda: len(answers) > LOAD, LOAD_LIMIT_S)
            began = _terminate(variant)
            _assert_ended(variant, began)
        finally:
            stop.set()
        wait(clients)
    for client in clients:
        client.result()
    assert len(answers) > LOAD, f"only {len(answers)} answers: that was no load"


def check_stop_closes_idle(backend: Backend) -> None:
    """Idle connections are closed soon."""
    with backend.variant() as variant, wires(variant, 50) as idle:
        for wire in idle:
            assert wire.ask(HEALTHZ).status == 200
        began = _terminate(variant)
        for wire in idle:
            left_s = max(0.1, began + 8 - time.monotonic())
            assert wire.closed(left_s), "an idle connection is open 8 s after SIGTERM"
        _assert_ended(variant, began)


def _send_long(busy: list[Wire], delay_ms: int) -> None:
    for wire in busy:
        wire.send(request("POST", f"/work?delay_ms={delay_ms}", body=b"[1,2]"))
    time.sleep(0.7)


def _assert_sums(busy: list[Wire]) -> None:
    for number, wire in enumerate(busy, 1):
        answer = wire.answer()
        assert answer, f"request {number} of {len(busy)} that was in flight got no answer"
        assert (answer.status, answer.body) == (200, b"Sum: 3"), f"in flight at SIGTERM: {answer}"


def _terminate(backend: Backend) -> float:
    docker("kill", "--signal", "TERM", backend.container)
    return time.monotonic()


def _assert_ended(backend: Backend, began: float) -> None:
    """Status 0, in good time."""
    ended = wait_until(
        lambda: inspect(backend.container)["State"]["Status"] == "exited",
        began + GRACE_S - time.monotonic(),
        0.2,
    )
    took_s = time.monotonic() - began
    log = end_of_log(backend.container, 10)
    assert ended, f"still running {took_s:.0f} s after SIGTERM; the end of its log:\n{log}"
    status = inspect(backend.container)["State"]["ExitCode"]
    assert status == 0, f"ended with status {status} {took_s:.1f} s after SIGTERM; the end of its log:\n{log}"
    print(f"ended {took_s:.1f} s after SIGTERM")


def _served(backend: Backend) -> bool:
    """Whether a new connection gets an answer before the backend ends; one that just hangs is not served."""
    try:
        with Wire(backend, IN_FLIGHT_S) as wire:
            wire.send(HEALTHZ)
            return wire.answer() is not None
    except (OSError, AssertionError):
        return False


def _hammer(backend: Backend, stop: threading.Event, large: bool, answers: list[float]) -> None:
    """One request after the other, on a new connection when one ends, until none is to be had. answers: how long each took."""
    while not stop.is_set():
        try:
            wire = Wire(backend, 5)
        except OSError:
            return
        with wire:
            while not stop.is_set():
                if not wire.send(RECIPE if large else HEALTHZ):
                    break
                answer = wire.answer()
                if answer is None:
                    break
                if large:
                    assert_golden(answer, 1)
                assert answer.status == 200, f"around SIGTERM: {answer}"
                answers.append(answer.seconds)


CHECKS = (check_stop_finishes, check_stop_under_load, check_stop_closes_idle)
