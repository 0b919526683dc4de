"""WORKERS, THREADS and OFFLOAD, seen in the threads that a container has and uses."""

import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from contract_checks.backend import Backend
from contract_checks.crowds import assert_prompt
from contract_checks.docker import wait_until
from contract_checks.errors import ODD, Undecided, assert_error
from contract_checks.needs import for_model, for_scenario, needs
from contract_checks.processes import pids
from contract_checks.users import assert_text
from contract_checks.wire import request, wires
from contract_checks.work import JSON, LARGE_SUM, NOT_JSON, OTHER_SHAPE, SUMS, large, post

FEW, MANY = 2, 12
WAIT_S = 0.4
CLOSE = [*JSON, (b"connection", b"close")]
N = 60
CLIENTS, PATIENCE_S = 16, 30.0
OFFLOADED_LEAST, LARGE_N = 1 / 3, 12
"""Of the CPU time of so many requests with the large body: what is left to those that serve HTTP is to receive it."""
SERVING_LEAST = 1 / 4
"""Of the CPU time of requests that are refused: a thread that spends more of it is one of those that serve HTTP."""
ROUNDS = 6
BUSY = 0.9
"""Of one worker: below, it waited for its clients."""


def tasks(backend: Backend, processes: Iterable[int] = ()) -> dict[int, int]:
    """Each thread of the container, or of these processes, by its number, and how often it has gone to sleep."""
    found = {}
    for pid in processes or pids(backend):
        for status in Path(f"/proc/{pid}/task").glob("*/status"):
            try:
                text = status.read_text()
            except OSError:  # it has ended
                continue
            sleeps = re.search(r"^voluntary_ctxt_switches:\s*(\d+)", text, re.MULTILINE)
            found[int(status.parent.name)] = int(sleeps[1]) if sleeps else 0
    return found


def scheduled_ns(processes: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Each thread of these processes, by its number: how long it was on a CPU, and how long it waited for one."""
    found = {}
    for pid in processes:
        for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(OSError):  # it has ended
                ran, waited, _ = map(int, file.read_text().split())
                found[int(file.parent.name)] = ran, waited
    return found


def cpu_ns(processes: Iterable[int]) -> dict[int, int]:
    """Each thread of these processes, by its number, and how long it was on a CPU."""
    return {task: ran for task, (ran, _) in scheduled_ns(processes).items()}


@needs("WORKERS")
def check_workers(backend: Backend) -> None:
    """More WORKERS are more processes or threads; or, where a runtime starts those on demand, more that work at once."""
    counts: dict[int, int] = {}
    with backend.variant(WORKERS="1") as variant:
        counts[1] = _at_rest(variant)
    with backend.variant(WORKERS="4") as variant:
        wait_until(lambda: len(tasks(variant)) >= counts[1] + 3, 5, 0.2)
        counts[4] = len(tasks(variant))
    if counts[4] >= counts[1] + 3:
        return
    at_rest = f"threads of all processes at rest, by WORKERS: {counts}"
    if "work-large" in backend.implementation.scenarios:
        raise Undecided(f"{at_rest}; there is no work to see them by")
    at_work = {}
    for workers in (1, 4):
        with backend.variant(WORKERS=str(workers)) as variant:
            at_work[workers] = _at_work(variant)
    assert_more_at_work(at_work, at_rest)


def _at_rest(backend: Backend) -> int:
    """The threads of all processes, once there have been as many for a second: a busy machine starts them late."""
    number, since = len(tasks(backend)), time.monotonic()
    end = since + 10
    while time.monotonic() < min(since + 1, end):
        time.sleep(0.2)
        if (now := len(tasks(backend))) != number:
            number, since = now, time.monotonic()
    return number


def assert_more_at_work(at_work: dict[int, float], at_rest: str) -> None:
    """at_work: by WORKERS. Raises Undecided where the clients were too slow to keep one of them busy."""
    told = f"{at_rest}; threads that had work at the same time, under load: {at_work}"
    if at_work[1] < BUSY:
        raise Undecided(told)
    assert at_work[4] >= at_work[1] + 1, told


def _at_work(backend: Backend) -> float:
    """How many threads ran, or waited for a CPU, in the mean, while many clients had work for them. So it does not matter
    how many CPUs there are, and who else uses them."""
    processes, body = pids(backend), large()
    post(backend, body)

    def spent_ns() -> int:
        return sum(ran + waited for ran, waited in scheduled_ns(processes).values())

    with ThreadPoolExecutor(MANY) as pool:
        began_ns, before_ns = time.monotonic_ns(), spent_ns()
        for answer in [pool.submit(post, backend, body) for _ in range(MANY * ROUNDS)]:
            assert_text(answer.result(), f"Sum: {LARGE_SUM}", "POST /work with the large body")
        return (spent_ns() - before_ns) / (time.monotonic_ns() - began_ns)


@for_model("sync")
@needs("THREADS")
@for_scenario("work")
def check_handler_threads(backend: Backend) -> None:
    """A request that waits holds a thread: THREADS at once, the others after them; and they are threads indeed. The last
    one answers /healthz beside a request that waits for 10 s."""
    took: dict[int, float] = {}
    most: dict[int, int] = {}
    for threads in (FEW, MANY):
        settings = {"THREADS": str(threads), **backend.implementation.honours(WORKERS="1")}
        with backend.variant(**settings) as variant:
            took[threads], most[threads] = _wait_at_once(variant)
            with wires(variant, threads - 1) as slow:
                for wire in slow:
                    wire.send(request("POST", "/work?delay_ms=10000", body=b"[1]"))
                time.sleep(0.2)
                assert_prompt(variant)
    at_least_s = WAIT_S * MANY / FEW
    if "WORKERS" in backend.implementation.settings:
        at_least_s /= 2  # there may be several processes
    assert took[FEW] >= at_least_s * 0.9, (
        f"{MANY} requests that wait {WAIT_S} s took {took[FEW]:.1f} s with THREADS={FEW}"
    )
    assert took[MANY] < at_least_s * 0.7, (
        f"{MANY} requests that wait {WAIT_S} s took {took[MANY]:.1f} s with THREADS={MANY}"
    )
    assert most[MANY] >= most[FEW] + (MANY - FEW) // 2, f"threads under load, by THREADS: {most}"


def _wait_at_once(backend: Backend) -> tuple[float, int]:
    """How long MANY requests at once take, each on a connection that ends with it, and the threads seen."""
    processes, most = pids(backend), 0  # asked for beforehand, because the engine takes its time
    with ThreadPoolExecutor(MANY) as pool:
        began = time.monotonic()
        query = f"/work?delay_ms={WAIT_S * 1000:.0f}"
        waiting = [pool.submit(backend.request, "POST", query, CLOSE, b"[1]") for _ in range(MANY)]
        while not all(answer.done() for answer in waiting):
            most = max(most, len(tasks(backend, processes)))
            time.sleep(0.02)
        for answer in waiting:
            assert_text(answer.result(), "Sum: 1", f"POST {query}")
        return time.monotonic() - began, most


@for_model("async")
@needs("THREADS", "OFFLOAD")
@for_scenario("work-large")
def check_offload_threads(backend: Backend) -> None:
    """Work that leaves the event loop has up to THREADS threads."""
    most: dict[int, int] = {}
    for threads in (1, MANY):
        settings = {
            "THREADS": str(threads),
            "OFFLOAD": "parse+sum",
            **backend.implementation.honours(WORKERS="1"),
        }
        with backend.variant(**settings) as variant:
            most[threads] = _large_at_once(variant)
    assert most[MANY] >= most[1] + MANY // 3, f"threads under load with OFFLOAD=parse+sum, by THREADS: {most}"


def _large_at_once(backend: Backend) -> int:
    """The most threads seen while large bodies are worked on. Their last bytes are sent together, so that they are whole at
    about one moment, however slowly a busy machine sends the rest."""
    processes, most = pids(backend), 0
    asked = request("POST", "/work", body=large())
    with wires(backend, CLIENTS, PATIENCE_S) as clients:
        for _ in range(ROUNDS):  # the same for both, because pools may grow with time
            for part in (asked[:-1], asked[-1:]):
                for client in clients:
                    assert client.send(part), "closed in the middle of a large body"
            for client in clients:
                most = max(most, len(tasks(backend, processes)))
                answer = client.answer()
                assert answer, "closed instead of answered, with OFFLOAD=parse+sum"
                assert_text(answer, f"Sum: {LARGE_SUM}", "POST /work with OFFLOAD=parse+sum")
    return max(most, len(tasks(backend, processes)))


@needs("OFFLOAD")
@for_scenario("work-large")
def check_offload(backend: Backend) -> None:
    """OFFLOAD=sum and parse+sum give the same answers as none; with parse+sum other threads spend the CPU time."""
    for offload in ("none", "sum", "parse+sum"):
        settings = {"OFFLOAD": offload, **backend.implementation.honours(WORKERS="1")}
        with backend.variant(**settings) as variant:
            _assert_same(variant, f"OFFLOAD={offload}")
            spent = _helpers_share(variant, _serving(variant))
    assert spent >= OFFLOADED_LEAST, (
        f"OFFLOAD=parse+sum: threads beside those that serve HTTP spent {spent:.0%} of the CPU time of large bodies"
    )


def _assert_same(backend: Backend, what: str) -> None:
    refused = [*NOT_JSON, *OTHER_SHAPE]
    bodies = [*(body for body, _ in SUMS), *refused]
    with ThreadPoolExecutor(8) as pool:
        answers = dict(zip(bodies, pool.map(lambda body: post(backend, body), bodies), strict=True))
    for body, total in SUMS:
        assert_text(answers[body], f"Sum: {total}", f"POST /work {body[:40]!r} with {what}")
    for body in refused:
        assert_error(answers[body], *ODD, what=f"POST /work {body[:40]!r} with {what}")
    answer = post(backend, b"[1]", "?delay_ms=200")
    assert_text(answer, "Sum: 1", f"POST /work?delay_ms=200 with {what}")
    assert answer.seconds >= 0.19, f"delay_ms=200 with {what} took {answer.seconds:.2f} s"
    assert_text(post(backend, large()), f"Sum: {LARGE_SUM}", f"POST /work with the large body and {what}")


def _moved(count: Callable[[], dict[int, int]], action: Callable[[], object], times: int) -> dict[int, int]:
    """By how much each thread's count has grown when something was done so many times."""
    before = count()
    for _ in range(times):
        action()
    time.sleep(0.05)
    return {task: now - before.get(task, 0) for task, now in count().items()}


def _serving(backend: Backend) -> set[int]:
    """The threads that receive, refuse and answer: those that move while there is nothing to add. On a busy machine the next
    request may be there before such a thread sleeps, so the CPU time that it spends tells it as well."""
    processes = pids(backend)
    before_ns = cpu_ns(processes)
    sleeps = _moved(lambda: tasks(backend), lambda: post(backend, b"[1]", "?delay_ms=x"), N)
    spent_ns = {task: ns - before_ns.get(task, 0) for task, ns in cpu_ns(processes).items()}
    busy_ns = sum(spent_ns.values()) * SERVING_LEAST
    return {task for task, number in sleeps.items() if number >= N // 6 or spent_ns.get(task, 0) > busy_ns}


def _helpers_share(backend: Backend, serving: set[int]) -> float:
    """Of the CPU time of large bodies, what the others spent."""
    processes = pids(backend)
    post(backend, large())
    spent = _moved(lambda: cpu_ns(processes), lambda: post(backend, large()), LARGE_N)
    return sum(ns for task, ns in spent.items() if task not in serving) / sum(spent.values())


CHECKS = (check_workers, check_handler_threads, check_offload_threads, check_offload)
