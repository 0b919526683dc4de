"""Known times, end to end: stalls, stops, hangs and distributions, against the server's own log."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tandem.errors import TandemError
from tandem.hosts import HERE, Host
from tandem.load.rows import Floats
from tandem.record.selftest import Outcome
from tandem.record.window import Verdict
from tandem.selftest.known_answer import KnownAnswer, close
from tandem.selftest.stage import HONEST, Running, SeenFromBothEnds, Stage, require
from tandem.selftest.units import BASE_S, RATE_RPS, Pause, paced, stall_figures, stall_shown, stalled

FEW = 12
OPENED = 4 * FEW
"""Few enough for the uncorrected figure to miss the stall."""
LEAST_MS, LEAST_SHARE = 0.3, 0.01
TAIL_MS = 2.0
"""Tolerance of p99 where generator, proxy and the way back share a CPU: an answer then waits its turn now and then."""
PATH_S, DISTRIBUTION_S, PAUSED_S, HANG_S = 5, 7, 10, 5
DRAWS = 20
"""Ways that are drawn for each request."""


def require_same(seen: SeenFromBothEnds) -> None:
    """Raises TandemError unless generator and server count the same requests."""
    text = f"the server logged {len(seen.served)} requests, the generator {len(seen.rows)}"
    require(len(seen.served) == len(seen.rows), text)


# ---- pauses ----


def uncorrected_s(seen: SeenFromBothEnds) -> Floats:
    """Response times as the generator itself counts them: from the actual send."""
    return np.asarray(seen.rows.end_s - seen.rows.start_s)


def stall(running: Running, idle: SeenFromBothEnds) -> Outcome:
    """The server stands still for 2 s. idle: a window that tells how long the way is, which a backlog takes as well."""
    seen = running.steady_window(
        PAUSED_S, "kind=stall&us=5000&at_ms=4000&for_ms=2000", rate_rps=RATE_RPS, connections=FEW
    )
    low, high = 2.0, PAUSED_S - 1.0
    each_s = BASE_S + float(np.median(way(idle)))
    wanted = stall_figures(paced(high - low, OPENED, each_s, server=Pause(2, 2)).response_s)
    expected, broken = f"{stall_shown(wanted)} in {PAUSED_S} s", "uncorrected, as the generator itself counts"
    measured_s, control_s = seen.response_s(low, high), uncorrected_s(seen)
    return stalled("server stalls for 2 s", expected, wanted, measured_s, broken, control_s)


def stopped_s(host: Host, container_pid: int, after_s: float, for_s: float) -> float | None:
    """Stops the generator once, some seconds after it has begun. Returns how long it stood still; None: there was none."""
    group, deadline = host.cgroup(container_pid), time.monotonic() + 30
    while not (pids := group.processes("oha")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(after_s)
    began = time.monotonic()
    for number, lasts_s in ((signal.SIGSTOP, for_s), (signal.SIGCONT, 0.0)):
        for pid in pids:
            host.signal(pid, number)
        time.sleep(lasts_s)
    return time.monotonic() - began if pids else None


def generator_stop(running: Running) -> Outcome:
    """The generator stands still for 1 s: its own figures would not show it, and the window is void."""
    with ThreadPoolExecutor() as threads:
        stopping = threads.submit(stopped_s, HERE, running.app.stack.service("loadgen").pid, 5, 1)
        seen = running.window(PAUSED_S, "kind=constant&us=5000", rate_rps=RATE_RPS, connections=FEW)
        stood_still_s = stopping.result()
    if stood_still_s is None:
        raise TandemError("the generator was not found among the processes of its container")
    low, high = 1.0, PAUSED_S - 1.0
    model = paced(high - low, OPENED, generator=Pause(4, stood_still_s))
    wanted = float(np.quantile(model.response_s, 0.99))
    void = seen.window.verdict is Verdict.VOID and "generator-stalled" in seen.codes()
    said = f"{seen.window.verdict}: {', '.join(sorted(seen.codes())) or 'nothing'}"
    return KnownAnswer[float](
        name="generator stopped for 1 s",
        expected=f"p99 {wanted:.2f} s in {PAUSED_S} s, void: generator-stalled",
        tolerance="5 %",
        right=lambda p99: close(p99, wanted, 0.05) and void,
        shown=lambda p99: f"p99 {p99:.3g} s, {said}",
        broken="uncorrected",
        caught=lambda p99: not close(p99, wanted, 0.05),
    ).judged(
        *(float(np.quantile(times_s, 0.99)) for times_s in (seen.response_s(low, high), uncorrected_s(seen)))
    )


def hang(running: Running, honest: SeenFromBothEnds) -> Outcome:
    """The server answers nothing in the last two seconds. honest: a window in which it did answer."""
    behaviour = f"kind=stall&us=5000&at_ms={(HANG_S - 2) * 1000}&for_ms=60000"
    seen = running.steady_window(HANG_S, behaviour, rate_rps=RATE_RPS, connections=FEW)
    wanted = (HANG_S - 2) / HANG_S

    def answered(one: SeenFromBothEnds) -> float:
        return one.window.good / (one.window.scheduled or 1)

    return KnownAnswer[SeenFromBothEnds](
        name="the last 2 s hang",
        expected=f"invalid: incomplete, about {wanted:.0%} answered",
        tolerance="15 %",
        right=lambda one: (
            one.window.verdict is Verdict.INVALID
            and "incomplete" in one.codes()
            and abs(answered(one) - wanted) < 0.15
        ),
        shown=lambda one: (
            f"{one.window.verdict}: {', '.join(sorted(one.codes()))}, {answered(one):.0%} answered"
        ),
        broken="the same server that does not hang",
        caught=lambda one: "incomplete" not in one.codes(),
    ).judged(seen, honest)


# ---- distributions ----

DISTRIBUTIONS = {
    "constant 10 ms": "kind=constant&us=10000",
    "2 ms, and 100 ms for a tenth": "kind=mixture&us=2000&slow_us=100000&slow_share=0.1&seed=3",
    "lognormal, median 10 ms": "kind=lognormal&us=10000&sigma=0.5&seed=3",
}
QUANTILES = (0.5, 0.9, 0.99)


def late(seen: SeenFromBothEnds) -> Floats:
    """Seconds by which each request left after it was due: by its schedule, or request i at i / rate after the beginning.

    Taken from the rows, because the generator's pacer counts whole milliseconds and begins anywhere in one.
    """
    assert seen.window.offered_rps is not None
    return np.asarray(seen.rows.start_s - seen.rows.due(seen.window.offered_rps))


def true_response(seen: SeenFromBothEnds) -> Floats:
    """Response times with the server's own times in them; without the way there and back."""
    return np.asarray(late(seen) + seen.served.response_s)


def way(seen: SeenFromBothEnds) -> Floats:
    """Seconds that each request spent on its way there and back, which true_response leaves out."""
    require_same(seen)
    return np.asarray(uncorrected_s(seen) - seen.served.response_s)


def with_way(true_s: Floats, way_s: Floats) -> Floats:
    """Response times as a client has them: each true one with a way drawn from those that there were.

    A median of the way would do for p50; the tail has requests that waited for a CPU on their way, and how many of them
    there are is the host's doing, not the generator's or the harness's.
    """
    drawn = np.random.default_rng(0).choice(way_s, (DRAWS, len(true_s)))
    return np.asarray((true_s + drawn).ravel())


def _quantiles(values_ms: Floats) -> str:
    p50, p90, p99 = values_ms
    return f"p50 {p50:.2f}, p90 {p90:.2f}, p99 {p99:.2f} ms"


def distribution(name: str, seen: SeenFromBothEnds, ways_s: Floats) -> Outcome:
    """Percentiles of a known distribution, against the server's own log. ways_s: of other windows in which it waits."""
    require_same(seen)
    wanted = np.quantile(with_way(true_response(seen), ways_s), QUANTILES) * 1e3
    found = np.quantile(seen.response_s(), QUANTILES) * 1e3
    shared = seen.window.roles["loadgen"].cpuset == seen.window.roles["proxy"].cpuset
    least_ms = np.array([LEAST_MS, LEAST_MS, TAIL_MS if shared else LEAST_MS])
    allowed_ms = np.maximum(least_ms, LEAST_SHARE * wanted)
    return KnownAnswer[Floats](
        name=name,
        expected=_quantiles(wanted),
        tolerance=f"0.3 ms or 1 %; p99 {least_ms[-1]:.1f} ms or 1 %",
        right=lambda values: bool((np.abs(values - wanted) <= allowed_ms).all()),
        shown=lambda values: f"{_quantiles(values)}, {seen.window.verdict}",
        broken="the same figures, twice the tolerance later",
    ).judged(found, found + 2 * allowed_ms)


def path(running: Running, rate_rps: int) -> SeenFromBothEnds:
    """A window of a server that answers at once."""
    seen = running.steady_window(PATH_S, HONEST, rate_rps=rate_rps, connections=OPENED)
    require_same(seen)
    return seen


def run(stage: Stage) -> list[Outcome]:
    """The checks of this module, in one fresh start."""
    with stage.running() as running:
        idle = path(running, RATE_RPS)
        seen = {
            name: running.steady_window(DISTRIBUTION_S, behaviour, rate_rps=RATE_RPS, connections=OPENED)
            for name, behaviour in DISTRIBUTIONS.items()
        }
        # Where the server waits, a request meets the host's moods twice, on its way there and on its way back. Where it
        # answers at once, both are one moment, and the tail is shorter.
        ways_s = {name: way(window) for name, window in seen.items()}
        out = [
            distribution(name, window, np.concatenate([ways_s[other] for other in seen if other != name]))
            for name, window in seen.items()
        ]
        return [*out, stall(running, idle), generator_stop(running), hang(running, idle)]


def hangs(stage: Stage) -> list[Outcome]:
    """The weekly class: a hang at the end fails every time."""
    with stage.running() as running:
        honest = path(running, RATE_RPS)
        return [hang(running, honest) for _ in range(5)]
