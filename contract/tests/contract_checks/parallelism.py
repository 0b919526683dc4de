"""WORKERS, THREADS and OFFLOAD, seen in the threads that a container has and uses."""

import time
from collections import Counter
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
from contract_checks.work import LARGE_SUM, NOT_JSON, OTHER_SHAPE, SUMS, large, post

FEW, MANY = 2, 12
WAIT_S = 0.4
CLIENTS, PATIENCE_S = 16, 30.0
N, LARGE_N = 60, 12
OFFLOADED_LEAST = 1 / 3
"""Of the CPU time of requests with the large body: what is left to those that serve HTTP is to receive it."""
SERVING_LEAST = 1 / 4
"""Of the CPU time of requests that are refused: a thread that spends more of it is one of those that serve HTTP."""
SETTLED_S, SETTLED_TRIES = 2.0, 5  # a busy machine starts threads late
ROUNDS = 6
BUSY = 0.9
"""Of one worker: below, it waited for its clients."""


def cpu_ns(processes: Iterable[int]) -> tuple[Counter[int], Counter[int]]:
    """How long each thread of these processes was on a CPU, and how long it waited for one, by its number."""
    ran, waited = Counter[int](), Counter[int]()
    for pid in processes:
        for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(OSError):  # it has ended
                task = int(file.parent.name)
                ran[task], waited[task], _ = map(int, file.read_text().split())
    return ran, waited


def _sleeps(processes: Iterable[int]) -> dict[int, int]:
    """How often each thread of these processes has gone to sleep."""
    found = {}
    for pid in processes:
        for status in Path(f"/proc/{pid}/task").glob("*/status"):
            with suppress(OSError):  # it has ended
                text = status.read_text()
                found[int(status.parent.name)] = int(
                    text.partition("\nvoluntary_ctxt_switches:")[2].split()[0]
                )
    return found


def threads(processes: Iterable[int]) -> int:
    return len(cpu_ns(processes)[0])


@needs("WORKERS")
def check_workers(backend: Backend) -> None:
    """More WORKERS are more processes or threads; or, where a runtime starts those on demand, more that work at once."""
    with backend.variant(WORKERS="1") as variant:
        one = -1
        for _ in range(SETTLED_TRIES):
            if (now := threads(pids(variant))) == one:
                break
            one = now
            time.sleep(SETTLED_S)
    with backend.variant(WORKERS="4") as variant:
        if wait_until(lambda: threads(pids(variant)) >= one + 3, 5, 0.2):
            return
        at_rest = f"threads of all processes at rest: {one} and, with WORKERS=4, {threads(pids(variant))}"
    if "work-large" in backend.implementation.scenarios:
        raise Undecided(f"{at_rest}; there is no work to see them by")
    at_work = {}
    for workers in (1, 4):
        with backend.variant(WORKERS=str(workers)) as variant:
            at_work[workers] = _at_work(variant)
    assert_more_at_work(at_work, at_rest)


def assert_more_at_work(at_work: dict[int, float], at_rest: str) -> None:
    """at_work: by WORKERS. Raises Undecided where the clients were too slow to keep one of them busy."""
    told = f"{at_rest}; threads that had work at the same time, under load: {at_work}"
    if at_work[1] < BUSY:
        raise Undecided(told)
    assert at_work[4] >= at_work[1] + 1, told


def _at_work(backend: Backend) -> float:
    """How many threads ran, or waited for a CPU, in the mean, while many clients had work for them. So it does not matter
    how many CPUs there are, and who else uses them."""
    processes = pids(backend)
    _post_large(backend)

    def total_ns() -> int:
        return sum(part.total() for part in cpu_ns(processes))

    with ThreadPoolExecutor(MANY) as pool:
        began_ns, before_ns = time.monotonic_ns(), total_ns()
        list(pool.map(_post_large, [backend] * MANY * ROUNDS))
        return (total_ns() - before_ns) / (time.monotonic_ns() - began_ns)


def _post_large(backend: Backend) -> None:
    assert_text(post(backend, large()), f"Sum: {LARGE_SUM}", "POST /work with the large body")


def _at_once(backend: Backend, clients: int, asked: bytes, total: int) -> tuple[float, int]:
    """How long so many requests at once take, and the most threads seen. Their last bytes are sent together, so that they
    are whole at about one moment, however slowly a busy machine sends the rest."""
    processes, most = pids(backend), 0  # asked for beforehand, because the engine takes its time
    with wires(backend, clients, PATIENCE_S) as crowd:
        for part in (asked[:-1], asked[-1:]):
            began = time.monotonic()
            for wire in crowd:
                assert wire.send(part), f"closed in the middle of {asked[:40]!r}"
        time.sleep(WAIT_S / 2)  # all have begun, and those that wait have not ended
        for wire in crowd:
            most = max(most, threads(processes))
            answer = wire.answer()
            assert answer, f"closed instead of answered: {asked[:40]!r}"
            assert_text(answer, f"Sum: {total}", f"{asked[:40]!r}, {clients} at once")
    return time.monotonic() - began, max(most, threads(processes))


@for_model("sync")
@needs("THREADS")
@for_scenario("work")
def check_handler_threads(backend: Backend) -> None:
    """A request that waits holds a thread: THREADS at once, the others after them; and they are threads indeed. The last
    one answers /healthz beside a request that waits for 10 s."""
    took, most = {}, {}
    asked = request("POST", f"/work?delay_ms={WAIT_S * 1000:.0f}", "Connection: close", body=b"[1]")
    for number in (FEW, MANY):
        with backend.variant(THREADS=str(number), **backend.implementation.honours(WORKERS="1")) as variant:
            took[number], most[number] = _at_once(variant, MANY, asked, 1)
            with wires(variant, number - 1) as slow:
                for wire in slow:
                    wire.send(request("POST", "/work?delay_ms=10000", body=b"[1]"))
                time.sleep(0.2)
                assert_prompt(variant)
    at_least_s = WAIT_S * MANY / FEW
    if "WORKERS" in backend.implementation.settings:
        at_least_s /= 2  # there may be several processes
    told = f"{MANY} requests that wait {WAIT_S} s, by THREADS: they took {took} s, threads under load {most}"
    assert took[FEW] >= at_least_s * 0.9, told
    assert took[MANY] < at_least_s * 0.7, told
    assert most[MANY] >= most[FEW] + (MANY - FEW) // 2, told


@for_model("async")
@needs("THREADS", "OFFLOAD")
@for_scenario("work-large")
def check_offload_threads(backend: Backend) -> None:
    """Work that leaves the event loop has up to THREADS threads."""
    most = {}
    asked = request("POST", "/work", body=large())
    settings = {"OFFLOAD": "parse+sum", **backend.implementation.honours(WORKERS="1")}
    for number in (1, MANY):
        with backend.variant(THREADS=str(number), **settings) as variant:
            # As often for both, because pools may grow with time.
            most[number] = max(_at_once(variant, CLIENTS, asked, LARGE_SUM)[1] for _ in range(ROUNDS))
    assert most[MANY] >= most[1] + MANY // 3, f"threads under load with OFFLOAD=parse+sum, by THREADS: {most}"


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
    before_ns = cpu_ns(processes)[0]
    sleeps = _moved(lambda: _sleeps(processes), lambda: post(backend, b"[1]", "?delay_ms=x"), N)
    spent_ns = {task: ns - before_ns.get(task, 0) for task, ns in cpu_ns(processes)[0].items()}
    busy_ns = sum(spent_ns.values()) * SERVING_LEAST
    return {task for task, number in sleeps.items() if number >= N // 6 or spent_ns.get(task, 0) > busy_ns}


def _helpers_share(backend: Backend, serving: set[int]) -> float:
    """Of the CPU time of large bodies, what the others spent."""
    processes = pids(backend)
    post(backend, large())
    spent = _moved(lambda: cpu_ns(processes)[0], lambda: post(backend, large()), LARGE_N)
    return sum(ns for task, ns in spent.items() if task not in serving) / sum(spent.values())


CHECKS = (check_workers, check_handler_threads, check_offload_threads, check_offload)
