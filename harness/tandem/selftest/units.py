"""Checks by simulation alone, with the shipped code: they run with the unit tests, in a second or two."""

import numpy as np

from tandem.engine.blocks import complete_blocks
from tandem.judge import judge
from tandem.load.rows import Floats, Rows, open_loop
from tandem.record.selftest import Outcome
from tandem.selftest.known_answer import KnownAnswer, close
from tandem.selftest.models import Pause, SimulatedLoad, evenly_spaced_mean, lindley, paced
from tandem.selftest.statistics import position_p

RATE_RPS, DURATION_S, BASE_S, CONNECTIONS = 500, 60, 0.005, 10_000
FEW = 10
LONG = 100_000


def rebuilt(load: SimulatedLoad) -> Floats:
    """Response times as the shipped code computes them from a generator's rows, which do not tell what was due."""
    ones = np.ones(len(load.sent_s), dtype=np.int64)
    rows = Rows(load.sent_s, load.sent_s, load.end_s, 200 * ones, ones)
    return open_loop(rows, RATE_RPS, DURATION_S, 0).response_s


def stall_figures(times_s: Floats) -> list[float]:
    """Mean, p99 and p99.9 in seconds."""
    return [float(times_s.mean()), *map(float, np.quantile(times_s, [0.99, 0.999]))]


def stall_right(found: list[float], wanted: list[float]) -> bool:
    """Whether mean, p99 and p99.9 are within 5, 3 and 2 %."""
    limits = zip(found, wanted, (0.05, 0.03, 0.02), strict=True)
    return all(close(one, other, share) for one, other, share in limits)


def stall_shown(found: list[float]) -> str:
    mean_s, p99_s, p999_s = found
    return f"mean {mean_s * 1e3:.1f} ms, p99 {p99_s:.3g} s, p99.9 {p999_s:.3g} s"


def server_stall() -> Outcome:
    """A server that stands still for 2 of 60 s: a generator that counts from the actual send hardly notices."""
    naive = paced(RATE_RPS, DURATION_S, BASE_S, FEW, server=Pause(20, 2)).service_s
    return KnownAnswer(
        name="rows of a server that stalls",
        group="response times",
        expected="mean 38.3 ms, p99 1.40 s, p99.9 1.94 s",
        tolerance="5 %, 3 %, 2 %",
        right=lambda found: stall_right(found, [0.0383, 1.40, 1.94]),
        shown=stall_shown,
        broken=f"counted from the actual send over {FEW} connections",
        caught=lambda found: found[1] < 0.05,
    ).judged(
        stall_figures(rebuilt(paced(RATE_RPS, DURATION_S, BASE_S, CONNECTIONS, server=Pause(20, 2)))),
        stall_figures(naive),
    )


def generator_stop() -> Outcome:
    """A generator that stands still for 1 of 60 s."""
    load = paced(RATE_RPS, DURATION_S, BASE_S, CONNECTIONS, generator=Pause(20, 1))
    late_ms = float((load.sent_s - load.intended_s).max()) * 1e3
    return KnownAnswer[float](
        name="rows of a generator that stops",
        group="response times",
        expected="p99 0.40 s, lateness over the limit",
        tolerance="5 %",
        right=lambda p99: close(p99, 0.40, 0.05) and late_ms > judge.LATENESS_GAP_VOID_MS,
        shown=lambda p99: f"p99 {p99:.3f} s, {late_ms:.0f} ms late",
        broken="counted from the actual send",
        caught=lambda p99: not close(p99, 0.40, 0.05),
    ).judged(*(float(np.quantile(times_s, 0.99)) for times_s in (rebuilt(load), load.service_s)))


def queueing() -> Outcome:
    """The recursion against the theory of queues, 100,000 requests."""
    chance = np.random.default_rng(20)
    service, gaps = chance.exponential(1, LONG), chance.exponential(1, LONG)
    wanted = {0.5: (1.255, 0.02), 0.7: (1.876, 0.04)}
    exact = all(abs(evenly_spaced_mean(load) - mean) < 0.001 for load, (mean, _) in wanted.items())
    evenly, randomly = (
        {load: float(lindley(arrivals / load, service).mean()) for load in wanted}
        for arrivals in (np.arange(LONG), np.cumsum(gaps))
    )
    return KnownAnswer[dict[float, float]](
        name="recursion against the theory of queues",
        group="queueing",
        expected="1.255 service times at 50 %, 1.876 at 70 %",
        tolerance="2 %, 4 %",
        right=lambda found: exact and all(close(found[load], *limits) for load, limits in wanted.items()),
        shown=lambda found: ", ".join(f"{mean:.3f}" for mean in found.values()),
        broken="arrivals at random instead of evenly spaced",
        caught=lambda found: not any(close(found[load], *limits) for load, limits in wanted.items()),
    ).judged(evenly, randomly)


def blocks() -> Outcome:
    """The order of visits: complete blocks, every position alike, the same for the same seed."""
    runs, number = ["a", "b", "c", "d"], 400
    found = complete_blocks(runs, number, 1)
    complete = all(sorted(order) == runs for order in found)
    again = complete_blocks(runs, number, 1) == found != complete_blocks(runs, number, 2)
    return KnownAnswer[float](
        name="blocks of a schedule",
        group="schedule",
        expected="complete, positions uniform, fixed by the seed",
        tolerance="p > 0.001",
        right=lambda p: complete and again and p > 0.001,
        shown=lambda p: f"complete: {complete}, chi-square p {p:.2g}, same seed same order: {again}",
        broken="always the same order",
        caught=lambda p: p <= 0.001,
    ).judged(position_p(found), position_p([runs] * number))


CHECKS = (server_stall, generator_stop, queueing, blocks)
