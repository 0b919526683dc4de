"""What an explanation concludes: the form in which result.json has it. Pure."""

from typing import Literal

from pydantic import Field

from tandem.analysis.cost import APP
from tandem.analysis.stack import Predicted
from tandem.facts.metric import GOODPUT
from tandem.record.conclusion import Contrast, Coordinates, Estimate, Position
from tandem.record.part import Number, Part
from tandem.record.result import Conclusions

Bound = Literal["at least", "at most", "unknown"]
Side = Literal["A", "B"]
Interval = tuple[Number, Number]
PROGRAMS = "the programs themselves"
"""The middle of the bridge."""


class FactorShare(Part):
    """What one factor contributes to the ratio, or a group of them."""

    name: str
    side: Side | None
    """Whose settings it is of; null: the programs themselves."""
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
    """The ratio is a bound, because a cell was held back by the laboratory or has no figures; that of the programs and of
    groups also where what stands behind the programs limited an end."""
    behind: dict[str, str] = Field(default_factory=dict)
    """Of the programs: cell -> the limit that stands behind it."""

    @property
    def decided(self) -> bool:
        """Whether it is more than noise."""
        return self.interval is None or not self.interval[0] <= 1 <= self.interval[1]

    @property
    def change(self) -> str:
        """`DB_RESET 1 to 0`; of a group its members."""
        return " and ".join(self.members) or changes(self.settings)


class LegShare(Part):
    """All factors of one side together, or the programs."""

    side: Side | None
    """Null: the programs themselves."""
    implementation: str
    """Of that side; empty: the programs themselves."""
    ratio: Number
    interval: Interval | None
    orders: int
    """In which its factors can be changed, one after the other."""
    left_out: int
    """Orders through cells without figures."""
    bound: Bound | None = None
    """Where the database or the pooler limited the one end and not the other, that end would have been higher. Of two such
    ends nothing is said."""

    @property
    def name(self) -> str:
        return PROGRAMS if self.side is None else f"settings of {self.side}, {self.implementation}"


class Explanation(Part):
    """What a ratio of B by A is the product of; the contrast of the same metric is the ratio."""

    metric: str
    sd_ln: Number | None
    """Scatter of one start around its cell and its block, as a logarithm: pooled residuals."""
    freedom: int
    legs: list[LegShare]
    factors: list[FactorShare]
    """Those of all legs, the programs themselves among them: their logarithms add up to the ratio's."""
    groups: list[FactorShare] = Field(default_factory=list)

    @property
    def programs(self) -> FactorShare:
        return next(share for share in self.factors if share.side is None)

    def of_leg(self, leg: LegShare) -> tuple[list[FactorShare], list[FactorShare]]:
        """Groups and factors."""
        groups, factors = ([s for s in own if s.side == leg.side] for own in (self.groups, self.factors))
        return groups, factors


class Modelled(Part):
    """What a closed network says of a cell, from what the cell's own windows counted (tandem.analysis.stack)."""

    round_trips: Number
    """Of one request to the database, counted by PgBouncer or the database."""
    usable_connections: int | None
    """To the database, that can be in use at once: those that were seen, or fewer where fewer threads or requests can use
    them. Null: the scenario asks no database, or nothing limits them."""
    distance_ms: Number
    """Of one round trip before the load, without the CPU time that it costs."""
    predicted: Predicted
    off: Number
    """Prediction / measurement - 1."""
    likely: list[str]
    """Why, where that is more than 10 %."""


class Cell(Part):
    """One combination of settings: what a model of it needs. Its figures are estimates."""

    label: str
    variant: str
    coordinates: Coordinates
    settings: dict[str, str]
    """The effective ones."""
    starts: int
    """Good ones; the ends have two in some blocks."""
    held_back: bool
    """By the laboratory: its rate is a lower bound."""
    sd_ln: Number | None
    """Scatter of its own starts' goodput, as a logarithm."""
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
    model: Modelled | None = None
    """Null without figures."""

    @property
    def position(self) -> Position:
        return Position(self.variant, self.coordinates)


class Crossing(Part):
    """Two factors in their four combinations, the others held."""

    factor: str
    other: str
    held: str
    """How the others are."""
    cells: list[str]
    """Labels: none, the factor, the other, both."""


class Explained(Conclusions):
    """Why B is ahead of A. The estimates of goodput and of the application's CPU have the blocks' effects averaged out; the
    contrasts are the gaps, which the explanations divide."""

    a: str
    b: str
    explanations: list[Explanation]
    """Of goodput and of the application's CPU for each request; none of a metric in which an end has no figures."""
    cells: list[Cell]
    """From A as it is to B as it is."""
    crossings: list[Crossing]
    blocks: int
    source: str | None
    """Where the settings were published."""

    def gap(self, metric: str = GOODPUT) -> Contrast | None:
        return next((one for one in self.contrasts if one.metric == metric), None)

    def of(self, metric: str = GOODPUT) -> Explanation | None:
        return next((one for one in self.explanations if one.metric == metric), None)

    def figure(self, cell: Cell) -> Estimate:
        """Its goodput, or why it has none."""
        found = self.estimate_of(GOODPUT, cell.position)
        assert found is not None  # every cell has one
        return found


EXPLAINED = (GOODPUT, APP)
"""The metrics whose gaps are divided."""


def noise(gap: Contrast) -> bool:
    """Whether the interval contains 1: there is no gap to explain."""
    return gap.interval is not None and gap.interval[0] <= 1 <= gap.interval[1]


def changes(settings: dict[str, tuple[str, str]]) -> str:
    """`WORKERS 5 to 2, THREADS 1 to 10`."""
    return ", ".join(f"{name} {old or '–'} to {new or '–'}" for name, (old, new) in settings.items())
