"""Were the answers right that were read on the wire during the load? Pure."""

import math
from collections.abc import Collection, Iterable

from tandem.record.window import Finding, Tap, Window

ALTERED, MISSED = 0.003, 1e-3
"""A window of LONG_S seconds compares so many answers that, where this share of them is altered, all of those are missed
with no more than this probability."""
LONG_S = 30
LEAST = 0.1
"""Share of the whole answers in the bursts that has to be compared; in 2,141 committed windows all of them were."""
FEW = 0.5
"""Share of the answers that should be compared; below it there is a finding. Bursts end at random moments, so
there may be some fewer."""

HELD_BACK_LEAST, HELD_BACK_BY_APART = 0.05, 4
"""Share of the answers that are held back, and how much more often 40 ms lie within an answer than 20 or 80: on a busy host
any time can."""


def needed(missed: float = MISSED) -> int:
    """The number of answers that have to be compared so that no such share is missed with more than this probability."""
    return math.ceil(math.log(missed) / math.log(1 - ALTERED))


def coverage(windows: Iterable[Window]) -> str:
    """Number of the load's answers that were compared, in words; empty where there was no tap."""
    tapped = [(window.requests, window.tap.compared) for window in windows if window.tap is not None]
    if not tapped:
        return ""
    answers, compared = (sum(column) for column in zip(*tapped, strict=True))
    return f"{compared:,} of {answers:,} answers compared"


def stated(windows: Collection[Window]) -> str:
    """Coverage in words, with the CPU time that reading took during the loads."""
    taken_s = sum(window.tap.capture_cpu_s for window in windows if window.tap is not None)
    told = coverage(windows)
    return told and f"{told} for {taken_s:.2f} s of CPU"


def on_wire(window: Window) -> list[Finding]:
    """Findings of the tap. Never void: no host alters an answer."""
    if (tap := window.tap) is None:
        return []
    found, held_back = _compared(window, tap), tap.held_back or 0
    if held_back > max(HELD_BACK_LEAST * tap.compared, HELD_BACK_BY_APART * (tap.apart or 0)):
        text = f"{held_back:,} of {tap.compared:,} answers came in parts 40 ms apart: Nagle's algorithm waits for an acknowledgement; set TCP_NODELAY"
        found.append(Finding.of("held-back", "warning", text))
    return found


def _compared(window: Window, tap: Tap) -> list[Finding]:
    if tap.wrong:
        text = f"{tap.wrong:,} of {tap.compared:,} answers of the load that were read on the wire are wrong: {tap.wrong_first[0]}"
        return [Finding.of("wrong-on-wire", "invalid", text)]
    # A connection asks again once it was answered: in a burst all its requests but one have their whole answer.
    whole = (
        (tap.begun - tap.bursts * window.connections) * window.good / max(1, window.good + window.unanswered)
    )
    if not tap.packets_lost and tap.compared < LEAST * whole:
        text = f"only {tap.compared:,} of at least {whole:,.0f} whole answers that were read on the wire could be compared"
        return [Finding.of("few-compared", "invalid", text)]
    for one, compared in zip(window.classes, tap.compared_of_class, strict=False):
        if one.good and not compared and not tap.packets_lost:
            text = f"not one answer to {one.name} was compared on the wire"
            return [Finding.of("few-compared", "warning", text)]
    # Of several generators each burst reads one.
    wanted = min(needed() * window.duration_s / LONG_S, window.good / max(1, len(window.generators)))
    if tap.compared < FEW * wanted:
        why = f": {tap.problem}" if tap.problem else ""
        text = f"only {coverage([window])} on the wire, {wanted:,.0f} would be enough{why}"
        return [Finding.of("few-compared", "warning", text)]
    return []
