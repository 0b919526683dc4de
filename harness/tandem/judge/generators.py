"""Where several generators share a load: the figures of each, and its gates, which hold for itself. Pure.

What one of them does not send cannot be had from the others: the load was another one. So the window is void, and not
a smaller one.
"""

from collections.abc import Iterator, Sequence

from tandem.load.generator import Report
from tandem.load.rows import Rows, open_loop, times
from tandem.load.shares import Share
from tandem.record.window import Finding, GeneratorShare, Window

BUSY = 0.70
"""Share of its CPUs from which on a generator is a limit."""
APART_VOID_MS = 100.0
"""Limit as of a gap in the load; at both ends of a window more than that is left out anyway."""
SHORT = 0.005
"""Share of an open loop's requests: a generator that did not send so many, and twice as many as another, was short
by itself. What cannot be served is missing from all alike."""
SLOW, SLOW_ERRORS = 0.20, 3
"""Share of a closed loop's answers per connection: so many fewer than another generator's, and three standard errors."""


def share(
    one: Share, late_s: float | None, left: tuple[Rows, Report] | str, trim_start_s: float, trim_end_s: float
) -> GeneratorShare:
    """A generator's share of the load, by its own rows. late_s: when it began, since it had to. left: what it
    left, or why that is missing."""
    load = one.load
    found = GeneratorShare(
        role=one.role,
        connections=load.connections,
        offered_rps=load.rate_rps,
        begins_ms=one.after_s * 1e3,
        late_ms=None if late_s is None else late_s * 1e3,
        scheduled=None if load.rate_rps is None else load.rate_rps * load.duration_s,
    )
    if isinstance(left, str):
        found.problem = left
        return found
    rows, report = left
    found.requests, found.errors = len(rows), report.errors
    if load.rate_rps is not None:
        loop = open_loop(rows, load.rate_rps, load.duration_s, report.errors)
        inside = (loop.intended_s >= trim_start_s) & (loop.intended_s < load.duration_s - trim_end_s)
        found.lateness_ms = times(loop.lateness_s[inside])
    return found


def name(window: Window, one: GeneratorShare) -> str:
    """A generator, for people."""
    return f"generator {window.generators.index(one) + 1} of {len(window.generators)} ({one.role})"


def gates(window: Window) -> Iterator[Finding]:
    """Did each generator make its share? Lateness is judged beside (tandem.judge.judge)."""
    for one in window.generators:
        who, used = name(window, one), busy(one)
        if one.problem is not None:
            yield Finding.of("generator-lost", "void", f"{who} left no rows: {one.problem}")
        elif one.late_ms is not None and abs(one.late_ms) > APART_VOID_MS:
            text = (
                f"{who} started {one.late_ms:.0f} ms after its scheduled time (limit {APART_VOID_MS:.0f} ms)"
            )
            yield Finding.of("generators-apart", "void", text)
        if what := _short(window, one):
            yield Finding.of("generator-short", "void", f"{who} {what}")
        if used > BUSY:
            text = f"{who} used {used:.0%} of its CPUs (limit {BUSY:.0%})"
            yield Finding.of("generator-busy", "warning", text)


def _short(window: Window, one: GeneratorShare) -> str | None:
    """Compare a generator with the best of the others: how much a server takes is no generator's own doing."""
    others = [other for other in window.generators if other is not one and other.problem is None]
    if one.problem is not None or not others:
        return None
    if window.load == "open":
        missing, best = _missing(one), min(map(_missing, others))
        if missing <= max(SHORT, 2 * best):
            return None
        return f"sent {1 - missing:.1%} of its {one.scheduled} requests, another generator {1 - best:.1%}"
    best = max(other.requests / other.connections for other in others)
    expected = best * one.connections
    if not expected or one.requests >= (1 - SLOW) * expected - SLOW_ERRORS * expected**0.5:
        return None
    rate = one.requests / one.connections
    return f"got {rate:,.0f} answers per connection, another generator {best:,.0f}"


def _missing(one: GeneratorShare) -> float:
    """Share of its schedule that was not sent."""
    return max(0.0, 1 - (one.requests + one.errors) / one.scheduled) if one.scheduled else 0.0


def busy(one: GeneratorShare) -> float:
    """Share of its CPUs that a generator used."""
    return one.cpu_cores / one.cores_available


def lost(findings: Sequence[Finding]) -> bool:
    """Whether the load was not the one that was asked for."""
    return any(one.code in ("generator-lost", "generator-short") for one in findings)
