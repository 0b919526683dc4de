"""What the trials of an explanation say together: shares of a ratio, exact in their logarithms. Pure."""

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from tandem.analysis.block_model import CellMeans, fit
from tandem.analysis.ceilings import reaches_ceiling
from tandem.analysis.ratios import CONFIDENCE, Floats
from tandem.engine.findings import why
from tandem.record.part import Number, Part
from tandem.record.result import Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Verdict, Window
from tandem.studies.bench.conclusions import CLOSED
from tandem.studies.explain.design import PROGRAMS, Leg

SHARED = ("generator", "generator-thread", "proxy", "faults")
"""Limits that are the laboratory's: a rate that one of them holds back is a lower bound."""
Bound = Literal["at least", "at most", "unknown"]
Interval = tuple[Number, Number]


class FactorShare(Part):
    """What one factor contributes to the ratio, or a group of them."""

    name: str
    leg: str
    words: str
    settings: dict[str, tuple[str, str]] = Field(default_factory=dict)
    """Setting -> from, to, in the direction of the leg."""
    members: list[str] = Field(default_factory=list)
    """Of a group: its factors."""
    ratio: Number
    interval: Interval | None
    """95 %, for all factors of the table together (Bonferroni)."""
    first: Number | None
    """What it does when it is changed before the others; null where that cell cannot be."""
    last: Number | None
    """What it does when it is changed after the others."""
    parted: bool = False
    """First and last are further apart than the interval of their ratio allows."""
    bound: Bound | None = None
    """The ratio is a bound, because a cell was held back by the laboratory or has no figures."""


class LegShare(Part):
    """One part of the bridge."""

    name: str
    ratio: Number
    interval: Interval | None
    """95 %, as those of the factors."""
    orders: int
    """In which its factors can be changed, one after the other."""
    left_out: int
    """Orders through cells without figures."""


class Explanation(Part):
    """A ratio of B by A, and what it is the product of."""

    gap: Number
    interval: Interval | None
    """95 %."""
    noise: bool
    """The interval contains 1: there is no gap to explain."""
    sd_ln: Number | None
    """Scatter of one start around its cell and its block, as a logarithm: pooled residuals."""
    freedom: int
    legs: list[LegShare]
    factors: list[FactorShare]
    """Those of all legs, the programs themselves among them: their logarithms add up to the gap's."""
    groups: list[FactorShare] = Field(default_factory=list)


class CellFigures(Part):
    """One combination of settings: what was measured, and what a model of it needs."""

    label: str
    implementation: str
    settings: dict[str, str]
    """Those that were chosen."""
    starts: int
    """Good ones."""
    goodput_rps: Number | None
    """With the blocks' effects averaged out; null without a good start."""
    app_cpu_us_per_request: Number | None
    sd_ln: Number | None
    """Scatter of its own starts' goodput, as a logarithm."""
    bottleneck: str | None
    state: Literal["ok", "held back", "cannot be", "no figures"]
    reason: str | None = None
    """Why it has no figures."""
    connections: int | None = None
    """Of the client."""
    db_connections_max: int | None = None
    """That were seen."""
    statements_per_request: Number | None = None
    """Counted by the database, the time zone's and the reset's among them."""
    pooler_queries_per_request: Number | None = None
    """Counted by PgBouncer."""
    db_rtt_idle_ms: Number | None = None
    db_rtt_loaded_ms: Number | None = None
    demands_us: dict[str, Number] = Field(default_factory=dict)
    """Role -> CPU for each right answer."""


class Crossing(Part):
    """Two factors in their four combinations, the others held."""

    factor: str
    other: str
    held: str
    """How the others are."""
    cells: list[str]
    """Labels: none, the factor, the other, both."""


class Explained(Conclusions):
    """Why B is ahead of A. The first fields are those of its goodput; null where an end has no figures."""

    a: str
    b: str
    gap: Number | None
    interval: Interval | None
    noise: bool | None
    sd_ln: Number | None
    freedom: int
    legs: list[LegShare]
    factors: list[FactorShare]
    groups: list[FactorShare]
    cpu: Explanation | None
    """The same of the application's CPU for each request."""
    cells: list[CellFigures]
    crossings: list[Crossing]
    blocks: int
    source: str | None
    """Where the settings were published."""

    def goodput(self) -> Explanation | None:
        """Its first fields, as those of any figure."""
        if self.gap is None or self.noise is None:
            return None
        return Explanation(**{name: getattr(self, name) for name in Explanation.model_fields})


Figure = Callable[[Window], float | None]


def goodput(window: Window) -> float | None:
    return window.goodput_rps


def cpu(window: Window) -> float | None:
    return window.app_cpu_us_per_request


class CellWindows:
    """Good windows by cell, and how each cell is."""

    def __init__(
        self, labels: Sequence[str], trials: Sequence[Trial], ceilings_rps: dict[str, float | None]
    ) -> None:
        self.labels = list(labels)
        self.trials = {label: [t for t in trials if t.spec.variants == [label]] for label in labels}
        self.good = {
            label: [
                (trial.spec.block, window)
                for trial in own
                if trial.verdict is Verdict.OK and (window := trial.window(CLOSED))
            ]
            for label, own in self.trials.items()
        }
        self.held_back = {
            label
            for label, own in self.good.items()
            if own
            and (
                self.bottleneck(label) in SHARED
                or reaches_ceiling(statistics.fmean(w.goodput_rps for _, w in own), ceilings_rps)
            )
        }

    def bottleneck(self, label: str) -> str | None:
        """The one of most good starts."""
        found = [window.bottleneck for _, window in self.good[label]]
        return statistics.mode(found) if found else None

    def state(self, label: str) -> Literal["ok", "held back", "cannot be", "no figures"]:
        if self.good[label]:
            return "held back" if label in self.held_back else "ok"
        made = self.trials[label]
        never = bool(made) and all(trial.verdict is Verdict.FAILED for trial in made)
        return "cannot be" if never else "no figures"

    def reason(self, label: str) -> str | None:
        if self.good[label]:
            return None
        return next(filter(None, map(why, self.trials[label])), "it was not made")

    def model(self, figure: Figure) -> tuple[CellMeans, dict[str, int]] | None:
        """The cells' values, and where each stands; None where blocks do not hang together or nothing is known."""
        found = [
            (label, block, math.log(value))
            for label in self.labels
            for block, window in self.good[label]
            if (value := figure(window))
        ]
        known = list(dict.fromkeys(label for label, _, _ in found))
        place = {label: number for number, label in enumerate(known)}
        try:
            blocks = [block for _, block, _ in found]
            fitted = fit([ln for _, _, ln in found], [place[label] for label, _, _ in found], blocks)
        except ValueError:
            return None
        return fitted, place

    def means(self, figure: Figure) -> dict[str, float]:
        """Label -> the cell's value, in the figure's own unit; of those that have one."""
        found = self.model(figure)
        return {} if found is None else {k: math.exp(found[0].means[at]) for k, at in found[1].items()}


class _Shares:
    """Makes the parts of one figure's explanation from its fitted cells."""

    def __init__(
        self, legs: Sequence[Leg], words: Sequence[dict[str, str]], measured: CellWindows, figure: Figure
    ) -> None:
        self.legs, self.words, self.measured = legs, words, measured
        self.bounded = figure is goodput
        fitted = measured.model(figure)
        self.cells: CellMeans | None = fitted[0] if fitted else None
        self.place: dict[str, int] = fitted[1] if fitted else {}

    def row(self, steps: dict[str, float]) -> Floats | None:
        """Label -> weight, as weights of the fitted cells; None where one is missing."""
        row = np.zeros(len(self.place))
        for label, weight in steps.items():
            if weight and label not in self.place:
                return None
            if weight:
                row[self.place[label]] += weight
        return row

    def ratio(self, steps: dict[str, float]) -> float | None:
        row = self.row(steps)
        return None if row is None or self.cells is None else math.exp(self.cells.estimate(row)[0])

    def share(
        self,
        steps: dict[str, float],
        first: dict[str, float],
        last: dict[str, float],
        tested: int,
        **told: object,
    ) -> FactorShare:
        """steps: of the share; first, last: of the step at the beginning and at the end. tested: how many intervals."""
        row, cells = self.row(steps), self.cells
        assert row is not None
        assert cells is not None
        ln, error = cells.estimate(row)
        apart = self.row({k: last.get(k, 0) - first.get(k, 0) for k in {*first, *last}})
        parted = False
        if apart is not None:
            distance, its_error = cells.estimate(apart)
            half = cells.half_width(its_error, 1 - (1 - CONFIDENCE) / tested)
            parted = half is not None and abs(distance) > half + 1e-9
        return FactorShare(
            ratio=math.exp(ln),
            interval=interval(ln, cells.half_width(error, 1 - (1 - CONFIDENCE) / tested)),
            first=self.ratio(first),
            last=self.ratio(last),
            parted=parted,
            bound=self.bound(steps),
            **told,  # type: ignore[arg-type]
        )

    def bound(self, steps: dict[str, float], left_out: bool = False) -> Bound | None:
        """Which side a share lies on: a cell that is held back would have been higher."""
        if left_out:
            return "unknown"
        if not self.bounded:
            return None
        signs = {weight > 0 for label, weight in steps.items() if label in self.measured.held_back and weight}
        if not signs:
            return None
        return "unknown" if len(signs) > 1 else "at least" if True in signs else "at most"


def interval(ln: float, half: float | None) -> Interval | None:
    """Of a ratio, from that of its logarithm."""
    return None if half is None else (math.exp(ln - half), math.exp(ln + half))


def merged(*parts: tuple[str, float]) -> dict[str, float]:
    """Weights by label; what occurs twice is added up."""
    found: dict[str, float] = {}
    for label, weight in parts:
        found[label] = found.get(label, 0.0) + weight
    return found


def explanation(
    legs: Sequence[Leg], words: Sequence[dict[str, str]], measured: CellWindows, figure: Figure
) -> Explanation | None:
    """None where a leg cannot be walked from its beginning to its end."""
    shares = _Shares(legs, words, measured, figure)
    cells = shares.cells
    lacking = [
        {state for state in leg.orders().states if leg.label(state) not in shares.place} for leg in legs
    ]
    walks = [leg.orders(missing) for leg, missing in zip(legs, lacking, strict=True)]
    if cells is None or any(not walk.count for walk in walks):
        return None
    tested = sum(len(leg.factors) for leg in legs) + 1
    level = 1 - (1 - CONFIDENCE) / tested

    def between(start: str, end: str, confidence: float) -> tuple[float, Interval | None]:
        row = shares.row(merged((start, -1.0), (end, 1.0)))
        assert row is not None
        ln, error = cells.estimate(row)
        return math.exp(ln), interval(ln, cells.half_width(error, confidence))

    factors: list[list[FactorShare]] = []
    groups: list[FactorShare] = []
    told: list[LegShare] = []
    for leg, walk, missing in zip(legs, walks, lacking, strict=True):
        name, weights = leg_name(leg), walk.weights()
        invalid = any(measured.state(leg.label(state)) == "no figures" for state in missing)

        def steps(row: Floats, leg: Leg = leg) -> dict[str, float]:
            return merged(*((leg.label(state), float(weight)) for state, weight in enumerate(row)))

        def made(
            bits: int,
            row: Floats,
            leg: Leg = leg,
            walk_all: int = walk.all,
            invalid: bool = invalid,
            **of: object,
        ) -> FactorShare:
            first = merged((leg.label(0), -1.0), (leg.label(bits), 1.0))
            last = merged((leg.label(walk_all & ~bits), -1.0), (leg.label(walk_all), 1.0))
            found = shares.share(steps(row), first, last, tested, leg=leg_name(leg), **of)
            return found.model_copy(update={"bound": "unknown"}) if invalid else found

        own_words = words[leg.side]
        factors.append(
            [
                made(
                    1 << bit,
                    weights[bit],
                    name=factor.name,
                    words=own_words.get(factor.name, factor.change),
                    settings={
                        key: pair if leg.own_first else (pair[1], pair[0])
                        for key, pair in factor.settings.items()
                    },
                )
                for bit, factor in enumerate(leg.factors)
            ]
        )
        for group, bits in leg.groups.items():
            inside = [bit for bit in range(len(leg.factors)) if bits >> bit & 1]
            members = [leg.factors[bit].name for bit in inside]
            groups.append(
                made(
                    bits,
                    weights[inside].sum(axis=0),
                    name=group,
                    words=own_words.get(group, " and ".join(members)),
                    members=members,
                )
            )
        ratio, its_interval = between(leg.label(leg.corners[0]), leg.label(leg.corners[1]), level)
        whole = leg.orders().count
        told.append(
            LegShare(
                name=name,
                ratio=ratio,
                interval=its_interval,
                orders=walk.count,
                left_out=whole - walk.count,
            )
        )
    a, b = legs
    ends = a.label(a.corners[0]), a.label(a.corners[1]), b.label(b.corners[0]), b.label(b.corners[1])
    middle = merged((ends[1], -1.0), (ends[2], 1.0))
    own = shares.share(
        middle, middle, middle, tested, name=PROGRAMS, leg=PROGRAMS, words="the two stacks themselves"
    )
    gap, gap_interval = between(ends[0], ends[3], CONFIDENCE)
    between_legs = LegShare(name=PROGRAMS, ratio=own.ratio, interval=own.interval, orders=1, left_out=0)
    return Explanation(
        gap=gap,
        interval=gap_interval,
        noise=gap_interval is not None and gap_interval[0] <= 1 <= gap_interval[1],
        sd_ln=cells.sd,
        freedom=cells.freedom,
        legs=[told[0], between_legs, told[1]],
        factors=[*factors[0], own, *factors[1]],
        groups=groups,
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


def cell_figures(
    label: str, implementation: str, settings: dict[str, str], measured: CellWindows
) -> CellFigures:
    """What is known of one cell but its fitted means."""
    windows = [window for _, window in measured.good[label]]
    rates = [math.log(window.goodput_rps) for window in windows if window.goodput_rps]

    def mean(figure: Callable[[Window], float | None]) -> float | None:
        known = [value for window in windows if (value := figure(window)) is not None]
        return statistics.fmean(known) if known else None

    def for_each_answer(count: Callable[[Window], float | None]) -> Callable[[Window], float | None]:
        def one(window: Window) -> float | None:
            counted, answered = count(window), window.good + window.probes
            return None if counted is None or not answered else counted / answered

        return one

    roles = dict.fromkeys(name for window in windows for name in window.roles)
    demands = {
        name: mean(lambda w, name=name: _demand_us(w, name))  # type: ignore[misc]
        for name in roles
    }
    return CellFigures(
        label=label,
        implementation=implementation,
        settings=settings,
        starts=len(windows),
        goodput_rps=None,
        app_cpu_us_per_request=None,
        sd_ln=statistics.stdev(rates) if len(rates) > 1 else None,
        bottleneck=measured.bottleneck(label),
        state=measured.state(label),
        reason=measured.reason(label),
        connections=windows[0].connections if windows else None,
        db_connections_max=max((w.db_connections_max for w in windows if w.db_connections_max), default=None),
        statements_per_request=mean(for_each_answer(_statements)),
        pooler_queries_per_request=mean(for_each_answer(lambda w: w.pooler.queries if w.pooler else None)),
        db_rtt_idle_ms=mean(lambda w: w.db_rtt_ms.before_p50 if w.db_rtt_ms else None),
        db_rtt_loaded_ms=mean(lambda w: w.db_rtt_ms.during_p50 if w.db_rtt_ms else None),
        demands_us={name: demand for name, demand in demands.items() if demand is not None},
    )


def _statements(window: Window) -> float | None:
    """As the database counts them."""
    return sum(one.calls for one in window.statements.values()) if window.statements else None


def _demand_us(window: Window, role: str) -> float | None:
    used = window.roles.get(role)
    return None if used is None or not window.goodput_rps else used.cpu_cores / window.goodput_rps * 1e6
