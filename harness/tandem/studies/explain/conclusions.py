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
    """The side whose settings the factor is of; null: the programs themselves."""
    words: str
    settings: dict[str, tuple[str, str]] = Field(default_factory=dict)
    """Setting -> from, to, in the direction of the leg."""
    members: list[str] = Field(default_factory=list)
    """Factors of a group; empty: it is no group."""
    ratio: Number
    interval: Interval | None
    """Interval at 95 %, for all factors of the table together (Bonferroni)."""
    first: Number | None
    """Ratio of the factor when it is changed before the others; null where that cell cannot be."""
    last: Number | None
    """Ratio of the factor when it is changed after the others."""
    parted: bool = False
    """First and last are further apart than the interval of their ratio allows."""
    bound: Bound | None = None
    """The ratio is a bound, because a cell was held back by the laboratory or has no figures; that of the programs and of
    groups also where what stands behind the programs limited an end."""
    behind: dict[str, str] = Field(default_factory=dict)
    """Cell -> the limit that stands behind the program; for the programs themselves alone."""

    @property
    def decided(self) -> bool:
        """Whether the ratio is more than noise."""
        return not noise(self.interval)

    @property
    def change(self) -> str:
        """The change, such as `DB_RESET 1 to 0`; of a group its members."""
        return " and ".join(self.members) or changes(self.settings)


class LegShare(Part):
    """All factors of one side together, or the programs."""

    side: Side | None
    """The side whose factors these are; null: the programs themselves."""
    implementation: str
    """Implementation of that side; empty: the programs themselves."""
    ratio: Number
    interval: Interval | None
    orders: int
    """Orders in which the leg's factors can be changed, one after the other."""
    left_out: int
    """Orders that are left out, through cells without figures."""
    bound: Bound | None = None
    """Bound that the ratio is: where the database or the pooler limited the one end and not the other, that end would have been
    higher. Of two such ends nothing is said."""

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
    """Shares of the factors of all legs, the programs among them: their logarithms add up to the ratio's."""
    groups: list[FactorShare] = Field(default_factory=list)

    @property
    def programs(self) -> FactorShare:
        return next(share for share in self.factors if share.side is None)

    def of_leg(self, leg: LegShare) -> tuple[list[FactorShare], list[FactorShare]]:
        """Groups and factors of a leg."""
        groups, factors = ([s for s in own if s.side == leg.side] for own in (self.groups, self.factors))
        return groups, factors


class Modelled(Part):
    """What a closed network says of a cell, from what the cell's own windows counted (tandem.analysis.stack)."""

    round_trips: Number
    """Round trips of one request to the database, counted by PgBouncer or the database."""
    usable_connections: int | None
    """Connections to the database that can be in use at once: those that were seen, or fewer where fewer threads or requests can
    use them. Null: the scenario asks no database, or nothing limits them."""
    distance_ms: Number
    """Time of one round trip before the load, without the CPU time that it costs."""
    predicted: Predicted
    off: Number
    """Prediction / measurement - 1."""
    likely: list[str]
    """Likely reasons, where the prediction is off by more than 10 %."""


class Cell(Part):
    """One combination of settings: what a model of it needs. Its figures are estimates."""

    label: str
    variant: str
    coordinates: Coordinates
    settings: dict[str, str]
    """The effective settings."""
    starts: int
    """Good starts; the ends have two in some blocks."""
    held_back: bool
    """Whether the laboratory held the cell back: its rate is a lower bound."""
    sd_ln: Number | None
    """Scatter of the goodput of the cell's own starts, as a logarithm."""
    connections: int | None = None
    """Connections of the client."""
    db_connections_max: int | None = None
    """The most database connections that were seen."""
    statements_per_request: Number | None = None
    """Statements counted by the database, the time zone's and the reset's among them."""
    pooler_queries_per_request: Number | None = None
    """Queries counted by PgBouncer."""
    db_rtt_idle_ms: Number | None = None
    db_rtt_loaded_ms: Number | None = None
    demands_us: dict[str, Number] = Field(default_factory=dict)
    """Role -> CPU for each right answer."""
    model: Modelled | None = None
    """What the model says of the cell; null without figures."""

    @property
    def position(self) -> Position:
        return Position(self.variant, self.coordinates)


class Crossing(Part):
    """Two factors in their four combinations, the others held."""

    factor: str
    other: str
    held: str
    """How the other factors are held."""
    cells: list[str]
    """Labels of the cells: neither factor changed, `factor`, `other`, both."""


class Explained(Conclusions):
    """Why B is ahead of A. The estimates of goodput and of the application's CPU have the blocks' effects averaged out; the
    contrasts are the gaps, which the explanations divide."""

    a: str
    b: str
    explanations: list[Explanation]
    """Explanations of goodput and of application CPU per request; none of a metric in which an end has no figures."""
    cells: list[Cell]
    """Cells, from A as it is to B as it is."""
    crossings: list[Crossing]
    blocks: int
    source: str | None
    """Address at which the settings were published."""

    def gap(self, metric: str = GOODPUT) -> Contrast | None:
        return next((one for one in self.contrasts if one.metric == metric), None)

    def of(self, metric: str = GOODPUT) -> Explanation | None:
        return next((one for one in self.explanations if one.metric == metric), None)

    def figure(self, cell: Cell) -> Estimate:
        """Goodput of a cell, or why it has none."""
        found = self.estimate_of(GOODPUT, cell.position)
        assert found is not None  # every cell has one
        return found


EXPLAINED = (GOODPUT, APP)
"""The metrics whose gaps are divided."""


def noise(interval: Interval | None) -> bool:
    """Whether the interval of a ratio contains 1."""
    return interval is not None and interval[0] <= 1 <= interval[1]


def changes(settings: dict[str, tuple[str, str]]) -> str:
    """The changes in words, such as `WORKERS 5 to 2, THREADS 1 to 10`."""
    return ", ".join(f"{name} {old or '–'} to {new or '–'}" for name, (old, new) in settings.items())
