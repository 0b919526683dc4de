"""What an explanation concludes: the form in which result.json has it. Pure."""

from typing import Literal

from pydantic import Field

from tandem.analysis.stack import Predicted
from tandem.record.part import Number, Part
from tandem.record.result import Conclusions

Bound = Literal["at least", "at most", "unknown"]
CellState = Literal["ok", "held back", "cannot be", "no figures"]
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
    """The ratio is a bound, because a cell was held back by the laboratory or has no figures; that of the programs also
    where what stands behind them limited one."""
    behind: dict[str, str] = Field(default_factory=dict)
    """Of the programs: cell -> the limit that stands behind it."""


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


class CellFigures(Part):
    """One combination of settings: what was measured, and what a model of it needs."""

    label: str
    implementation: str
    settings: dict[str, str]
    """The effective ones."""
    starts: int
    """Good ones."""
    goodput_rps: Number | None
    """With the blocks' effects averaged out; null without a good start."""
    app_cpu_us_per_request: Number | None
    sd_ln: Number | None
    """Scatter of its own starts' goodput, as a logarithm."""
    bottleneck: str | None
    state: CellState
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
    model: Modelled | None = None
    """Null without figures, and in older records."""


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
