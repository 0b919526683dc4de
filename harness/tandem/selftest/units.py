"""Checks by simulation alone, with the shipped code: they run with the unit tests, in a second or two."""

from collections.abc import Callable

import numpy as np
import scipy

from tandem.engine.blocks import complete_blocks
from tandem.judge import judge
from tandem.load.rows import Floats, Rows, open_loop
from tandem.record.outcome import Outcome
from tandem.selftest.models import Pause, SimulatedLoad, evenly_spaced_mean, lindley, paced

RATE_RPS, DURATION_S, BASE_S, CONNECTIONS = 500, 60, 0.005, 10_000
FEW = 10
LONG = 100_000


def within(found: float, wanted: float, share: float) -> bool:
    return abs(found - wanted) <= share * wanted


def rebuilt(load: SimulatedLoad) -> Floats:
    """Response times as the shipped code computes them from a generator's rows, which do not tell what was due."""
    ones = np.ones(len(load.sent_s), dtype=np.int64)
    rows = Rows(load.sent_s, load.sent_s, load.end_s, 200 * ones, ones)
    return open_loop(rows, RATE_RPS, DURATION_S, 0).response_s


def server_stall() -> Outcome:
    """A server that stands still for 2 of 60 s. A generator that counts from the actual send and has few
    connections would not notice."""
    load = paced(RATE_RPS, DURATION_S, BASE_S, CONNECTIONS, server=Pause(20, 2))
    found = rebuilt(load)
    mean_ms, p99, p999 = found.mean() * 1e3, *np.quantile(found, [0.99, 0.999])
    naive = paced(RATE_RPS, DURATION_S, BASE_S, FEW, server=Pause(20, 2)).service_s
    naive_p99_ms = float(np.quantile(naive, 0.99)) * 1e3
    return Outcome(
        name="rows of a server that stalls",
        group="response times",
        expected="mean 38.3 ms, p99 1.40 s, p99.9 1.94 s",
        measured=f"mean {mean_ms:.1f} ms, p99 {p99:.2f} s, p99.9 {p999:.2f} s",
        tolerance="5 %, 3 %, 2 %",
        passed=within(mean_ms, 38.3, 0.05) and within(p99, 1.40, 0.03) and within(p999, 1.94, 0.02),
        negative_control=f"counted from the actual send over {FEW} connections: p99 {naive_p99_ms:.1f} ms",
        negative_control_failed=naive_p99_ms < 50,
    )


def generator_stop() -> Outcome:
    """A generator that stands still for 1 of 60 s."""
    load = paced(RATE_RPS, DURATION_S, BASE_S, CONNECTIONS, generator=Pause(20, 1))
    p99 = float(np.quantile(rebuilt(load), 0.99))
    naive_ms = float(np.quantile(load.service_s, 0.99)) * 1e3
    late_ms = float((load.sent_s - load.intended_s).max()) * 1e3
    return Outcome(
        name="rows of a generator that stops",
        group="response times",
        expected="p99 0.40 s, lateness over the limit",
        measured=f"p99 {p99:.3f} s, {late_ms:.0f} ms late",
        tolerance="5 %",
        passed=within(p99, 0.40, 0.05) and late_ms > judge.LATENESS_GAP_VOID_MS,
        negative_control=f"counted from the actual send: p99 {naive_ms:.1f} ms",
        negative_control_failed=not within(naive_ms, 400, 0.05),
    )


def queueing() -> Outcome:
    """The recursion against the theory of queues, 100,000 requests."""
    chance = np.random.default_rng(20)
    service, gaps = chance.exponential(1, LONG), chance.exponential(1, LONG)
    evenly, randomly = {}, {}
    for load in (0.5, 0.7):
        evenly[load] = float(lindley(np.arange(LONG) / load, service).mean())
        randomly[load] = float(lindley(np.cumsum(gaps) / load, service).mean())
    wanted = {0.5: (1.255, 0.02), 0.7: (1.876, 0.04)}
    exact = all(abs(evenly_spaced_mean(load) - mean) < 0.001 for load, (mean, _) in wanted.items())
    return Outcome(
        name="recursion against the theory of queues",
        group="queueing",
        expected="1.255 service times at 50 %, 1.876 at 70 %",
        measured=f"{evenly[0.5]:.3f}, {evenly[0.7]:.3f}",
        tolerance="2 %, 4 %",
        passed=exact and all(within(evenly[load], *limits) for load, limits in wanted.items()),
        negative_control=f"arrivals at random instead of evenly spaced: {randomly[0.5]:.2f}, {randomly[0.7]:.2f}",
        negative_control_failed=not any(within(randomly[load], *limits) for load, limits in wanted.items()),
    )


def uniform_p(orders: list[list[str]]) -> float:
    """Chi-square p that each name is as often at each position."""
    names = sorted(orders[0])
    counts = [
        [sum(order[place] == name for order in orders) for place in range(len(names))] for name in names
    ]
    flat = np.array(counts, dtype=float).ravel()
    return float(scipy.stats.chisquare(flat).pvalue)


def blocks() -> Outcome:
    """The order of visits: complete blocks, every position alike, the same for the same seed."""
    runs, number = ["a", "b", "c", "d"], 400

    def orders(seed: int) -> list[list[str]]:
        return complete_blocks(runs, number, seed)

    found = orders(1)
    complete = all(sorted(order) == runs for order in found)
    again, other = orders(1) == found, orders(2) != found
    p, fixed = uniform_p(found), uniform_p([runs] * number)
    return Outcome(
        name="blocks of a schedule",
        group="schedule",
        expected="complete, positions uniform, fixed by the seed",
        measured=f"complete: {complete}, chi-square p {p:.2f}, same seed same order: {again}",
        tolerance="p > 0.001",
        passed=complete and again and other and p > 0.001,
        negative_control=f"always the same order: p {fixed:.1g}",
        negative_control_failed=fixed <= 0.001,
    )


def checks() -> list[Callable[[], Outcome]]:
    """What `tandem selftest` runs of this module."""
    return [server_stall, generator_stop, queueing, blocks]
