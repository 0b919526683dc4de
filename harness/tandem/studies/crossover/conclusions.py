"""What the trials of a crossover say: a ratio with its interval in each cell, who wins where, and the model beside it. Pure."""

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Literal

import scipy
from pydantic import Field

from tandem.analysis.ratios import ALPHA, NO_WINNER
from tandem.analysis.stack import Predicted
from tandem.record.part import Number, Part
from tandem.record.result import Conclusions
from tandem.studies.crossover.grid import GridPoint
from tandem.studies.sweep.conclusions import MeanOfRounds

Winner = Literal["first", "second", "nobody", "not decided"]


class CrossSide(Part):
    """One of the two in a cell."""

    label: str
    """Of its fresh starts: an async variant has the same for all numbers of threads."""
    goodput_rps: MeanOfRounds
    bottleneck: str | None
    predicted: Predicted | None
    calibrated: bool
    """Whether the prediction's demands were counted in windows of this wait."""
    off: Number | None
    """Prediction / measurement - 1."""
    likely: list[str]
    """Why, where that is more than 10 %."""


class CrossCell(Part):
    """Both in one cell."""

    at: GridPoint
    sides: list[CrossSide]
    """The first, the second."""
    blocks: int
    ratio: Number | None
    """Goodput of the second by that of the first: geometric mean over blocks in which both are good."""
    interval: tuple[Number, Number] | None
    """95 % for all cells together."""
    winner: Winner
    predicted_ratio: Number | None


class Meeting(Part):
    """Between which waits the ratio passes 1, for one number of threads and one pool."""

    threads: int | None
    pool: int | None
    measured_ms: list[Number]
    """Straight between the logarithms of the ratios of two neighbouring waits."""
    predicted_ms: list[Number]


class Crossed(Conclusions):
    """Who wins where."""

    first: str
    second: str
    waits_for: Literal["database", "request"]
    """What `wait_ms` is: the distance of the database for each round trip, or a wait of each request."""
    waits_ms: list[int]
    rounds: int
    cells: list[CrossCell]
    """By threads and pool, then by wait."""
    meetings: list[Meeting] = Field(default_factory=list)


def intervals(ln_ratios: Sequence[Sequence[float]]) -> list[tuple[float, float] | None]:
    """Of each cell's ratio, at 95 % for all together (Bonferroni), from the spread of all cells: few blocks do not tell
    each cell's own, and a ratio within a block varies alike in all. None where a cell has no block, or no cell two."""
    freedom = sum(len(own) - 1 for own in ln_ratios if own)
    if not freedom:
        return [None] * len(ln_ratios)
    squares = sum((ln - statistics.fmean(own)) ** 2 for own in ln_ratios if own for ln in own)
    critical = float(scipy.stats.t.ppf(1 - ALPHA / 2 / sum(map(bool, ln_ratios)), freedom))
    spread = math.sqrt(squares / freedom)
    out: list[tuple[float, float] | None] = []
    for own in ln_ratios:
        if not own:
            out.append(None)
            continue
        middle, half = statistics.fmean(own), critical * spread / math.sqrt(len(own))
        out.append((math.exp(middle - half), math.exp(middle + half)))
    return out


def winner(interval: tuple[float, float] | None) -> Winner:
    """`nobody` where the difference is at most 10 %, even if it is there."""
    if interval is None:
        return "not decided"
    low, high = interval
    if low >= 1 / NO_WINNER and high <= NO_WINNER:
        return "nobody"
    return "second" if low > 1 else "first" if high < 1 else "not decided"


def crossings(ratios: Mapping[int, float | None]) -> list[float]:
    """Waits at which the ratio passes 1. ratios: by wait, ascending; without one there is no line through it."""
    found = []
    for (left, here), (right, there) in pairwise(ratios.items()):
        if here is None or there is None:
            continue
        low, high = math.log(here), math.log(there)
        if low * high < 0:
            found.append(left + (right - left) * low / (low - high))
    return found


def meetings(cells: Sequence[CrossCell]) -> list[Meeting]:
    """Of each number of threads and pool."""
    return [
        Meeting(
            threads=threads,
            pool=pool,
            measured_ms=crossings({cell.at.wait_ms: cell.ratio for cell in own}),
            predicted_ms=crossings({cell.at.wait_ms: cell.predicted_ratio for cell in own}),
        )
        for (threads, pool), group in groupby(cells, lambda cell: (cell.at.threads, cell.at.pool))
        for own in [list(group)]
    ]
