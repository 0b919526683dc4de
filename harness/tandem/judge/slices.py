"""Which rows belong to which slice of a window that variants share in turns. Pure.

Rows count from the moment at which their generator began, which nobody stamps: it is found from the rows themselves. No
request can end while its generator stands still, so each stop and each waking bounds that moment from one side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tandem.load.rows import Floats, Ints, Rows

GAP_S = 0.3
"""A generator that stood still for less tells nothing: the first guess may be off by half of it."""
BEGINS_S = 0.05
"""A generator that is woken for the first time begins about so much later."""


@dataclass(frozen=True)
class Slice:
    """One slice, as it was: time.time()."""

    label: str
    woken_s: float
    """Moment right before its generator went on."""
    settled_s: float
    """When the counters were read, and the measured part began."""
    ended_s: float
    """When the counters were read again."""
    stopped_s: float
    """Moment right after its generator stood still."""


def row_zero(end_s: Floats, own: Sequence[Slice]) -> tuple[float, float | None]:
    """When a generator's rows count from (time.time()), and by how many seconds its bounds contradict each other; None
    where there are none. own: its slices, the first of which began the generator.

    What came in while it stood still ends right after its waking, so the bounds by wakings are tight at any rate.
    """
    guess_s, ends = own[0].woken_s + BEGINS_S, np.sort(end_s)
    earliest, latest = list[float](), list[float]()
    for before, after in pairwise(own):
        if after.woken_s - before.stopped_s < GAP_S:
            continue
        middle = int(np.searchsorted(ends, (before.stopped_s + after.woken_s) / 2 - guess_s))
        if 0 < middle < len(ends):
            latest.append(before.stopped_s - float(ends[middle - 1]))
            earliest.append(after.woken_s - float(ends[middle]))
    if not earliest:
        return guess_s, None
    return max(earliest), max(0.0, max(earliest) - min(latest))


@dataclass(frozen=True)
class OwnSlices:
    """One variant's slices. others: those of the others since its own first, each with the moment at which its own
    generator had stopped before. ran_s: how long its generator ran. began_s: when the window's first slice of all
    did; zero_s: when its rows count from."""

    slices: list[Slice]
    others: list[tuple[float, Slice]]
    ran_s: float
    began_s: float
    zero_s: float
    clock_error_s: float | None

    @classmethod
    def of(cls, label: str, all_: Sequence[Slice], end_s: Floats) -> "OwnSlices":
        """The slices of one variant among those of all. The variant's first one, in which its connections are
        opened, gives no figure."""
        own = [one for one in all_ if one.label == label]
        others = [
            (max(mine.stopped_s for mine in own if mine.woken_s < one.woken_s), one)
            for one in all_
            if one.label != label and one.woken_s > own[0].woken_s
        ]
        ran_s = sum(one.stopped_s - one.woken_s for one in own)
        return cls(own[1:], others, ran_s, all_[0].woken_s, *row_zero(end_s, own))

    @property
    def spans(self) -> list[tuple[float, float]]:
        """The measured parts (time.time())."""
        return [(one.settled_s, one.ended_s) for one in self.slices]

    def outside(self, drain_s: float) -> list[tuple[float, float]]:
        """The measured parts of the others' slices (time.time()), as far as nothing of its own is in flight any more.
        drain_s: how long after its generator's stop something may be. Slices without such a part are left out."""
        spans = [(max(one.settled_s, stopped_s + drain_s), one.ended_s) for stopped_s, one in self.others]
        return [(low, high) for low, high in spans if low < high]

    def slice_of(self, rows: Rows) -> Ints:
        """The number of the slice in whose measured part each row ended; -1: in none."""
        lows, highs = (np.array(edge) - self.zero_s for edge in zip(*self.spans, strict=True))
        found = np.searchsorted(lows, rows.end_s, side="right") - 1
        inside = (found >= 0) & (rows.end_s < highs[found])
        return np.where(inside, found, -1)

    def timed(self, rows: Rows, slices: Ints) -> NDArray[np.bool_]:
        """Which rows began in the slice that they ended in: their generator never stood still meanwhile."""
        woken = np.array([one.woken_s for one in self.slices]) - self.zero_s
        began_in: NDArray[np.bool_] = (slices >= 0) & (rows.start_s >= woken[slices])
        return began_in

    def in_flight(self, rows: Rows) -> float:
        """Requests in flight, mean over the measured parts."""
        total = sum(
            float((np.clip(rows.end_s, low, high) - np.clip(rows.start_s, low, high)).sum())
            for low, high in ((low - self.zero_s, high - self.zero_s) for low, high in self.spans)
        )
        return total / sum(high - low for low, high in self.spans)
