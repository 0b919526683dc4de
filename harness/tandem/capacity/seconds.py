"""What an open loop's response times did over the window, second by second. Pure."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from tandem.load.rows import Floats, Rows, open_loop
from tandem.record.part import Number, Part
from tandem.record.window import Window

LEAST_SECONDS = 4
GROWTH_MS_PER_S = 5.0
"""A queue that grows by 0.5 % of the offered rate makes every second's requests wait 5 ms longer than the last one's."""
GROWTH_FACTOR = 2.0
"""The last third of the window must also be slower than the first by this factor: a slope in noise is not a queue."""
RECOVERED_SECONDS = 3
"""So many seconds in a row within the objective are a recovery; one may be luck."""


@dataclass(frozen=True)
class Responses:
    """Answered requests of an open loop: when each was due and its response time, columns of equal length."""

    due_s: Floats
    response_s: Floats


def responses(rows: Rows, window: Window, errors: int) -> Responses:
    """All answered requests of an open-loop window. errors: arrivals that have no row."""
    assert window.offered_rps is not None
    load = open_loop(rows, window.offered_rps, window.duration_s, errors)
    return Responses(load.intended_s, load.response_s)


class Growth(Part):
    """How the response time's median moved over the measured part of a window."""

    slope_ms_per_s: Number
    """Theil-Sen slope of the per-second medians."""
    first_third_ms: Number
    last_third_ms: Number
    growing: bool
    """A queue that does not end: slope and factor are both over their limits."""


def per_second(found: Responses, quantile: float, from_s: float, to_s: float) -> list[float | None]:
    """The quantile of the response times, in milliseconds, of what was due in each whole second; None for an empty one."""
    out: list[float | None] = []
    for second in np.arange(from_s, to_s - 1 + 1e-9):
        inside = found.response_s[(found.due_s >= second) & (found.due_s < second + 1)]
        out.append(float(np.quantile(inside, quantile)) * 1e3 if len(inside) else None)
    return out


def growth(found: Responses, from_s: float, to_s: float) -> Growth | None:
    """Does the backlog grow between two moments of a window? None below four seconds with answers."""
    medians = [(at, ms) for at, ms in enumerate(per_second(found, 0.5, from_s, to_s)) if ms is not None]
    if len(medians) < LEAST_SECONDS:
        return None
    at, ms = np.array(medians).T
    slope = float(stats.theilslopes(ms, at).slope)
    third = max(1, len(ms) // 3)
    first, last = float(np.median(ms[:third])), float(np.median(ms[-third:]))
    return Growth(
        slope_ms_per_s=slope,
        first_third_ms=first,
        last_third_ms=last,
        growing=slope > GROWTH_MS_PER_S and last > GROWTH_FACTOR * first,
    )


def recovered_at(values_ms: list[float | None], limit_ms: float) -> int | None:
    """The first second of three in a row that are all within the limit; None if there are none.

    values_ms: one per second; a second without answers is not within it.
    """
    good = [value is not None and value <= limit_ms for value in values_ms]
    starts = range(len(good) - RECOVERED_SECONDS + 1)
    return next((at for at in starts if all(good[at : at + RECOVERED_SECONDS])), None)
