"""What the trials of a crossover say: a ratio with its interval in each cell, who wins where, and the model beside it. Pure."""

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Literal, get_args

import scipy
from pydantic import Field

from tandem.analysis.ratios import ALPHA, NO_WINNER
from tandem.analysis.stack import Predicted
from tandem.facts.metric import GOODPUT
from tandem.record.conclusion import Contrast, Coordinates, Position, found_at
from tandem.record.part import Number, Part
from tandem.record.result import Conclusions

Winner = Literal["first", "second", "nobody", "not decided"]
WINNERS: tuple[Winner, ...] = get_args(Winner)


class Prediction(Part):
    """What the model says of a variant in a cell."""

    variant: str
    coordinates: Coordinates
    """Coordinates of the variant's fresh starts: async has the same for all numbers of threads."""
    predicted: Predicted
    calibrated: bool
    """Whether the prediction's demands were counted in windows of this wait."""
    off: Number | None = None
    """Prediction / measurement - 1."""
    likely: list[str] = Field(default_factory=list)
    """Likely reasons, where the prediction is off by more than 10 %."""


class Meeting(Part):
    """Waits at which the ratio passes 1, for one number of threads and one pool."""

    coordinates: Coordinates
    """Threads and pool, which all cells of the row have in common."""
    measured_ms: list[Number]
    """Waits with a ratio of 1: straight between the logarithms of the ratios of two neighbouring waits."""
    predicted_ms: list[Number]


class Crossed(Conclusions):
    """A contrast for each cell, by threads and pool, then by wait; its word is who wins."""

    first: str
    second: str
    waits_for: Literal["database", "request"]
    """What `wait_ms` is: the distance of the database for each round trip, or a wait of each request."""
    rounds: int
    predictions: list[Prediction] = Field(default_factory=list)
    meetings: list[Meeting] = Field(default_factory=list)

    def position(self, variant: str, cell: Contrast) -> Position:
        """Position of one of the two variants in a cell: async has one start for all numbers of threads."""
        rates = (one for one in self.estimates if (one.metric, one.variant) == (GOODPUT, variant))
        own = (one.coordinates for one in rates if one.coordinates.items() <= cell.coordinates.items())
        return Position(variant, next(own, cell.coordinates))

    def prediction(self, variant: str, cell: Contrast) -> Prediction | None:
        """What the model says of one of the two in a cell."""
        return found_at(self.predictions, self.position(variant, cell))

    def predicted_ratio(self, cell: Contrast) -> float | None:
        """The model's goodput of the second by that of the first."""
        first, second = (self.prediction(name, cell) for name in (self.first, self.second))
        if first is None or second is None:
            return None
        return second.predicted.throughput_rps / first.predicted.throughput_rps

    def winner(self, cell: Contrast) -> str:
        """The name of who wins."""
        return {"first": self.first, "second": self.second}.get(cell.word or "", cell.word or "")


def wait_of(cell: Contrast) -> int:
    """The wait of a cell, in ms."""
    return int(cell.coordinates["wait_ms"])


def row_of(cell: Contrast) -> Coordinates:
    """Threads and pool of a cell."""
    return {name: value for name, value in cell.coordinates.items() if name != "wait_ms"}


def row_name(coordinates: Coordinates) -> str:
    """What a row of cells is called."""
    parts = [f"{name} {value}" for name, value in coordinates.items() if name != "wait_ms"]
    return ", ".join(parts) or "as they are"


def intervals(ln_ratios: Sequence[Sequence[float]]) -> list[tuple[float, float] | None]:
    """Interval of each cell's ratio, at 95 % for all together (Bonferroni), from the spread of all cells: few blocks do not tell
    each cell's own, and a ratio within a block varies alike in all. None where a cell has no block, or no cell two."""
    freedom = sum(len(own) - 1 for own in ln_ratios if own)
    if not freedom:
        return [None] * len(ln_ratios)
    squares = sum((ln - statistics.fmean(own)) ** 2 for own in ln_ratios if own for ln in own)
    critical = float(scipy.stats.t.ppf(1 - ALPHA / 2 / sum(map(bool, ln_ratios)), freedom))
    spread = math.sqrt(squares / freedom)

    def around(own: Sequence[float]) -> tuple[float, float]:
        middle, half = statistics.fmean(own), critical * spread / math.sqrt(len(own))
        return math.exp(middle - half), math.exp(middle + half)

    return [around(own) if own else None for own in ln_ratios]


def winner(interval: tuple[float, float] | None) -> Winner:
    """`nobody` where the difference is at most 10 %, even if it is there."""
    if interval is None:
        return "not decided"
    low, high = interval
    if low >= 1 / NO_WINNER and high <= NO_WINNER:
        return "nobody"
    return "second" if low > 1 else "first" if high < 1 else "not decided"


def cells(
    first: str, second: str, at: Sequence[Coordinates], ln_ratios: Sequence[Sequence[float]]
) -> list[Contrast]:
    """The second by the first in each cell. at: where the cells stand; ln_ratios: theirs, one of each block."""
    return [
        Contrast(
            metric=GOODPUT,
            of=second,
            to=first,
            coordinates=coordinates,
            ratio=math.exp(statistics.fmean(ln)) if ln else None,
            interval=interval,
            n=len(ln),
            word=winner(interval),
            family="cells",
        )
        for coordinates, ln, interval in zip(at, ln_ratios, intervals(ln_ratios), strict=True)
    ]


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


def meetings(found: Crossed) -> list[Meeting]:
    """A meeting for each number of threads and pool."""
    return [
        Meeting(
            coordinates=row,
            measured_ms=crossings({wait_of(cell): cell.ratio for cell in own}),
            predicted_ms=crossings({wait_of(cell): found.predicted_ratio(cell) for cell in own}),
        )
        for row, group in groupby(found.contrasts, row_of)
        for own in [list(group)]
    ]
