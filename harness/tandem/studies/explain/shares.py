"""Divides a ratio into its factors' shares, exact in their logarithms. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tandem.analysis.block_model import CellMeans
from tandem.analysis.ratios import CONFIDENCE, Floats
from tandem.facts.metric import GOODPUT
from tandem.record.conclusion import Contrast
from tandem.studies.explain.conclusions import (
    PROGRAMS,
    Bound,
    Crossing,
    Explanation,
    FactorShare,
    LegShare,
    Side,
    changes,
)
from tandem.studies.explain.design import Leg

ROUNDING = 1e-9
"""Distance of a ratio from 1 that is no difference."""
type Steps = dict[str, float]
"""Label of a cell -> its weight in a sum of logarithms."""


def step(start: str, end: str) -> Steps:
    """Steps from one cell to another; none where they are the same."""
    return {} if start == end else {start: -1.0, end: 1.0}


@dataclass(frozen=True)
class CellLimits:
    """Labels of cells whose figures say less than others'."""

    held_back: Collection[str] = ()
    """Cells that the laboratory held back: their rates are lower bounds."""
    behind: Mapping[str, str] = field(default_factory=dict)
    """Cell -> what limited it behind the program."""
    unknown: Collection[str] = ()
    """Cells that have no figures, though they can be measured."""


NO_LIMITS = CellLimits()


@dataclass(frozen=True)
class _Table:
    """The shares of one table. level: the confidence of each of its intervals."""

    fit: CellMeans
    limits: CellLimits
    level: float

    def bound(self, steps: Steps, behind: Collection[str] = ()) -> Bound | None:
        """Which side a ratio lies on: a cell that was held back, or was limited behind the program, would have been
        higher."""
        signs = {
            weight > 0 for label, weight in steps.items() if label in self.limits.held_back or label in behind
        }
        if not signs:
            return None
        return "unknown" if len(signs) > 1 else "at least" if True in signs else "at most"

    def share(
        self,
        name: str,
        words: str,
        steps: Steps,
        ends: tuple[Steps, Steps],
        side: Side | None = None,
        bound: Bound | None = None,
    ) -> FactorShare:
        """ends: the steps at the beginning and at the end of the leg. bound: where another one than that of the steps is known."""
        first, last = ends
        ratio, interval = self.fit.ratio(steps, self.level)
        distance = {label: last.get(label, 0.0) - first.get(label, 0.0) for label in {**first, **last}}
        apart = self.fit.ratio(distance, self.level)[1] if self.fit.knows(distance) else None
        return FactorShare(
            name=name,
            side=side,
            words=words,
            ratio=ratio,
            interval=interval,
            first=self.fit.known(first),
            last=self.fit.known(last),
            parted=apart is not None and (apart[0] > 1 + ROUNDING or apart[1] < 1 - ROUNDING),
            bound=bound or self.bound(steps),
        )


class _Walk:
    """A leg with the cells that have figures."""

    def __init__(self, leg: Leg, words: dict[str, str], table: _Table) -> None:
        self.leg, self.words, self.table = leg, words, table
        missing = {state for state in leg.orders().states if leg.label(state) not in table.fit.place}
        self.orders = leg.orders(missing)
        self.hint = any(leg.label(state) in table.limits.unknown for state in missing)
        self.start, self.end = (leg.label(corner) for corner in leg.corners)

    def _share(self, name: str, words: str, bits: int, weights: Floats) -> FactorShare:
        label = self.leg.label
        steps = {label(state): float(weight) for state, weight in enumerate(weights) if weight}
        ends = step(self.start, label(bits)), step(label(self.orders.all & ~bits), self.end)
        words = self.words.get(name, words)
        return self.table.share(name, words, steps, ends, self.leg.side, "unknown" if self.hint else None)

    def factors(self) -> list[FactorShare]:
        weights, found = self.orders.weights(), []
        for bit, factor in enumerate(self.leg.factors):
            pairs = factor.settings.items()
            settings = {name: pair if self.leg.own_first else pair[::-1] for name, pair in pairs}
            one = self._share(factor.name, changes(settings), 1 << bit, weights[bit])
            found.append(one.model_copy(update={"settings": settings}))
        return found

    def groups(self) -> list[FactorShare]:
        """Shares of the groups. A group's bound is its own, or else that of the leg."""
        weights, found = self.orders.weights(), []
        for name, bits in self.leg.groups.items():
            inside = [bit for bit in range(len(self.leg.factors)) if bits >> bit & 1]
            members = [self.leg.factors[bit].name for bit in inside]
            one = self._share(name, " and ".join(members), bits, weights[inside].sum(axis=0))
            found.append(one.model_copy(update={"members": members, "bound": one.bound or self._bound()}))
        return found

    def _bound(self) -> Bound | None:
        """Bound of the whole leg: what stands behind the programs limited the one end and not the other."""
        outer, equal = (self.start, self.end)[:: 1 if self.leg.own_first else -1]
        near, far = (label in self.table.limits.behind for label in (equal, outer))
        return None if near == far else "at least" if near == self.leg.own_first else "at most"

    def whole(self) -> LegShare:
        ratio, interval = self.table.fit.ratio(step(self.start, self.end), self.table.level)
        return LegShare(
            side=self.leg.side,
            implementation=self.leg.variant.implementation,
            ratio=ratio,
            interval=interval,
            orders=self.orders.count,
            left_out=self.leg.orders().count - self.orders.count,
            bound=self._bound(),
        )


def explanation(
    legs: Sequence[Leg],
    words: Sequence[dict[str, str]],
    found: CellMeans | None,
    limits: CellLimits = NO_LIMITS,
    metric: str = GOODPUT,
) -> Explanation | None:
    """Explain a ratio; None where a leg cannot be walked to its end. words: of A and B: factor or group -> what it is called."""
    if found is None:
        return None
    tested = sum(len(leg.factors) for leg in legs) + 1
    table = _Table(found, limits, 1 - (1 - CONFIDENCE) / tested)
    a, b = (_Walk(leg, own, table) for leg, own in zip(legs, words, strict=True))
    if not a.orders.count or not b.orders.count:
        return None
    steps = step(a.end, b.start)
    behind = {label: limit for label in (a.end, b.start) if (limit := limits.behind.get(label))}
    bound = table.bound(steps, behind)
    programs = table.share(PROGRAMS, "the two stacks themselves", steps, (steps, steps), bound=bound)
    programs = programs.model_copy(update={"behind": behind})
    middle = LegShare(
        side=None, implementation="", ratio=programs.ratio, interval=programs.interval, orders=1, left_out=0
    )
    return Explanation(
        metric=metric,
        sd_ln=found.sd,
        freedom=found.freedom,
        legs=[a.whole(), middle, b.whole()],
        factors=[*a.factors(), programs, *b.factors()],
        groups=[*a.groups(), *b.groups()],
    )


def gap(legs: Sequence[Leg], found: CellMeans, blocks: int, metric: str = GOODPUT) -> Contrast:
    """B by A, each with its own settings."""
    (start, _), (_, end) = ([leg.label(corner) for corner in leg.corners] for leg in legs)
    ratio, interval = found.ratio(step(start, end))
    a, b = (leg.variant.label for leg in legs)
    return Contrast(
        metric=metric, of=b, to=a, coordinates={"settings": "own"}, ratio=ratio, interval=interval, n=blocks
    )


def crossings(legs: Sequence[Leg], explained: Explanation, found: CellMeans) -> list[Crossing]:
    """A crossing of each factor whose first and last step part, with the one it depends on most, in four cells."""
    parted = {(share.side, share.name) for share in explained.factors if share.parted}
    out: dict[tuple[str, int, int], Crossing] = {}
    for leg in legs:
        for bit, factor in enumerate(leg.factors):
            candidates = list(_candidates(leg, bit, found)) if (leg.side, factor.name) in parted else []
            if not candidates:
                continue
            _, other, rest, labels = max(candidates, key=lambda one: one[0])
            kept = "the others as they are" if (rest == 0) == leg.own_first else "the others equal"
            crossing = Crossing(
                factor=factor.name,
                other=leg.factors[other].name,
                held=kept if len(leg.factors) > 2 else "",
                cells=labels,
            )
            out.setdefault((leg.side, min(bit, other), max(bit, other)), crossing)
    return list(out.values())


def _candidates(leg: Leg, bit: int, found: CellMeans) -> Iterable[tuple[float, int, int, list[str]]]:
    """How much a factor depends on another one, that one, the state of the rest, and the four cells."""
    everything = leg.corners[1]
    for other in range(len(leg.factors)):
        for rest in {0, everything & ~(1 << bit) & ~(1 << other)} if other != bit else ():
            states = (rest, rest | 1 << bit, rest | 1 << other, rest | 1 << bit | 1 << other)
            labels = [leg.label(state) for state in states]
            if all(label in found.place for label in labels):
                none, one, two, both = (float(found.means[found.place[label]]) for label in labels)
                yield abs(both - one - two + none), other, rest, labels
