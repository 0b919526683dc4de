"""Divides a ratio into its factors' shares, exact in their logarithms. Pure."""

import math
from collections.abc import Container, Sequence

import numpy as np

from tandem.analysis.block_model import CellMeans
from tandem.analysis.ratios import CONFIDENCE, Floats
from tandem.studies.explain.cells import CellWindows, Figure, goodput
from tandem.studies.explain.conclusions import (
    Bound,
    Crossing,
    Explanation,
    FactorShare,
    Interval,
    LegShare,
)
from tandem.studies.explain.design import PROGRAMS, Leg

ROUNDING = 1e-9
"""So little is no difference."""
type Steps = dict[str, float]
"""Label of a cell -> its weight in a sum of logarithms."""


def step(start: str, end: str) -> Steps:
    """From one cell to another; nothing where they are the same."""
    return {} if start == end else {start: -1.0, end: 1.0}


class _Ratios:
    """Ratios of fitted cells. tested: how many intervals a table has."""

    def __init__(self, cells: CellMeans, place: dict[str, int], held_back: set[str], tested: int) -> None:
        self.cells, self.place, self.held_back = cells, place, held_back
        self.level = 1 - (1 - CONFIDENCE) / tested

    def _row(self, steps: Steps) -> Floats | None:
        """As weights of the fitted cells; None where one is missing."""
        if not steps.keys() <= self.place.keys():
            return None
        row = np.zeros(len(self.place))
        for label, weight in steps.items():
            row[self.place[label]] = weight
        return row

    def known(self, steps: Steps) -> float | None:
        """The ratio; None where a cell is missing."""
        row = self._row(steps)
        return None if row is None else math.exp(self.cells.estimate(row)[0])

    def ratio(self, steps: Steps, confidence: float) -> tuple[float, Interval | None]:
        """With its interval. The cells have to be there."""
        row = self._row(steps)
        assert row is not None
        ln, error = self.cells.estimate(row)
        half = self.cells.half_width(error, confidence)
        return math.exp(ln), None if half is None else (math.exp(ln - half), math.exp(ln + half))

    def apart(self, first: Steps, last: Steps) -> bool:
        """Whether two steps differ by more than chance."""
        distance = {label: last.get(label, 0.0) - first.get(label, 0.0) for label in {**first, **last}}
        if self._row(distance) is None:
            return False
        _, interval = self.ratio(distance, self.level)
        return interval is not None and (interval[0] > 1 + ROUNDING or interval[1] < 1 - ROUNDING)

    def bound(self, steps: Steps, behind: Container[str] = ()) -> Bound | None:
        """Which side a ratio lies on: a cell that was held back, or was limited behind the program, would have been
        higher."""
        held_back = (label in self.held_back or label in behind for label in steps)
        signs = {weight > 0 for weight, held in zip(steps.values(), held_back, strict=True) if held}
        if not signs:
            return None
        return "unknown" if len(signs) > 1 else "at least" if True in signs else "at most"

    def programs(self, steps: Steps, behind: dict[str, str]) -> FactorShare:
        """From the one program to the other. behind: cell -> the limit that stands behind it."""
        words = "the two stacks themselves"
        found = self.share(steps, steps, steps, name=PROGRAMS, leg=PROGRAMS, words=words, behind=behind)
        return found.model_copy(update={"bound": self.bound(steps, behind)})

    def share(
        self, steps: Steps, first: Steps, last: Steps, hint: bool = False, **told: object
    ) -> FactorShare:
        """first, last: the steps at the beginning and at the end of the leg. hint: nothing is known of its side."""
        ratio, interval = self.ratio(steps, self.level)
        return FactorShare(
            ratio=ratio,
            interval=interval,
            first=self.known(first),
            last=self.known(last),
            parted=self.apart(first, last),
            bound="unknown" if hint else self.bound(steps),
            **told,  # type: ignore[arg-type]
        )


class _Walk:
    """A leg with the cells that have figures."""

    def __init__(self, leg: Leg, words: dict[str, str], measured: CellWindows, place: dict[str, int]) -> None:
        self.leg, self.words = leg, words
        missing = {state for state in leg.orders().states if leg.label(state) not in place}
        self.orders = leg.orders(missing)
        self.hint = any(measured.state(leg.label(state)) == "no figures" for state in missing)
        self.start, self.end = (leg.label(corner) for corner in leg.corners)

    def _share(self, ratios: _Ratios, bits: int, weights: Floats, **told: object) -> FactorShare:
        leg = self.leg
        return ratios.share(
            {leg.label(state): float(weight) for state, weight in enumerate(weights) if weight},
            step(self.start, leg.label(bits)),
            step(leg.label(self.orders.all & ~bits), self.end),
            self.hint,
            leg=leg_name(leg),
            **told,
        )

    def factors(self, ratios: _Ratios) -> list[FactorShare]:
        weights = self.orders.weights()
        found = []
        for bit, factor in enumerate(self.leg.factors):
            pairs = factor.settings.items()
            settings = {name: pair if self.leg.own_first else pair[::-1] for name, pair in pairs}
            changes = ", ".join(
                f"{name} {old or '–'} to {new or '–'}" for name, (old, new) in settings.items()
            )
            words = self.words.get(factor.name, changes)
            found.append(
                self._share(ratios, 1 << bit, weights[bit], name=factor.name, words=words, settings=settings)
            )
        return found

    def groups(self, ratios: _Ratios) -> list[FactorShare]:
        weights = self.orders.weights()
        found = []
        for name, bits in self.leg.groups.items():
            inside = [bit for bit in range(len(self.leg.factors)) if bits >> bit & 1]
            members = [self.leg.factors[bit].name for bit in inside]
            words = self.words.get(name, " and ".join(members))
            whole = weights[inside].sum(axis=0)
            found.append(self._share(ratios, bits, whole, name=name, words=words, members=members))
        return found

    def whole(self, ratios: _Ratios) -> LegShare:
        ratio, interval = ratios.ratio(step(self.start, self.end), ratios.level)
        return LegShare(
            name=leg_name(self.leg),
            ratio=ratio,
            interval=interval,
            orders=self.orders.count,
            left_out=self.leg.orders().count - self.orders.count,
        )


def explanation(
    legs: Sequence[Leg], words: Sequence[dict[str, str]], measured: CellWindows, figure: Figure
) -> Explanation | None:
    """None where a leg cannot be walked from its beginning to its end."""
    fitted = measured.model(figure)
    if fitted is None:
        return None
    cells, place = fitted
    a, b = (_Walk(leg, own, measured, place) for leg, own in zip(legs, words, strict=True))
    if not a.orders.count or not b.orders.count:
        return None
    # A rate that was held back would have been higher; of what a request costs nothing follows from that.
    held_back = measured.held_back if figure is goodput else set()
    ratios = _Ratios(cells, place, held_back, sum(len(leg.factors) for leg in legs) + 1)
    ends = (a.end, b.start) if figure is goodput else ()
    behind = {label: measured.bottleneck(label) or "" for label in ends if measured.behind(label)}
    programs = ratios.programs(step(a.end, b.start), behind)
    middle = LegShare(name=PROGRAMS, ratio=programs.ratio, interval=programs.interval, orders=1, left_out=0)
    gap, interval = ratios.ratio(step(a.start, b.end), CONFIDENCE)
    return Explanation(
        gap=gap,
        interval=interval,
        noise=interval is not None and interval[0] <= 1 <= interval[1],
        sd_ln=cells.sd,
        freedom=cells.freedom,
        legs=[a.whole(ratios), middle, b.whole(ratios)],
        factors=[*a.factors(ratios), programs, *b.factors(ratios)],
        groups=[*a.groups(ratios), *b.groups(ratios)],
    )


def leg_name(leg: Leg) -> str:
    return f"settings of {'AB'[leg.side]}, {leg.variant.implementation}"


def crossings(legs: Sequence[Leg], found: Explanation, measured: CellWindows) -> list[Crossing]:
    """For each factor whose first and last step part: the other factor that it depends on most, in four cells."""
    means = {label: math.log(mean) for label, mean in measured.means(goodput).items()}
    parted = {(share.leg, share.name) for share in found.factors if share.parted}
    out: list[Crossing] = []
    told: set[tuple[int, ...]] = set()
    for leg in legs:
        everything = leg.corners[1]
        for bit, factor in enumerate(leg.factors):
            if (leg_name(leg), factor.name) not in parted:
                continue
            candidates = []
            for other in range(len(leg.factors)):
                for rest in {0, everything & ~(1 << bit) & ~(1 << other)} if other != bit else ():
                    states = (rest, rest | 1 << bit, rest | 1 << other, rest | 1 << bit | 1 << other)
                    labels = [leg.label(state) for state in states]
                    if all(label in means for label in labels):
                        none, one, two, both = (means[label] for label in labels)
                        candidates.append((abs(both - one - two + none), other, rest, labels))
            if not candidates:
                continue
            _, other, rest, labels = max(candidates, key=lambda found: found[0])
            pair = (leg.side, *sorted((bit, other)))
            if pair in told:
                continue
            told.add(pair)
            others = len(leg.factors) > 2
            kept = "the others as they are" if (rest == 0) == leg.own_first else "the others equal"
            out.append(
                Crossing(
                    factor=factor.name,
                    other=leg.factors[other].name,
                    held=kept if others else "",
                    cells=labels,
                )
            )
    return out
