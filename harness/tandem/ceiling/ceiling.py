"""How near each application comes to what the parts around it could do at the most. Pure."""

import statistics
from dataclasses import dataclass, field
from datetime import datetime

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.analysis.analyse import t_interval
from tandem.record.run import Number, Part
from tandem.wording import BOTTLENECKS, number, with_interval

PROXY, NULL, DATABASE = "proxy", "null", "database"
MEANINGS = {
    PROXY: "generator to HAProxy, which answers by itself",
    NULL: "generator through HAProxy to the null application",
    DATABASE: "pgbench with the scenario's statements through PgBouncer, on the application's CPUs",
}
LEAST_VALUES = 2


class Figure(Part):
    """The rates of one thing over the rounds."""

    goodput_rps: Number | None
    interval: tuple[Number, Number] | None
    """95 % Student t interval over the rounds, each a fresh start."""
    values: list[Number]
    refused: list[str]
    """Why rounds do not count."""


class Row(Figure):
    """An implementation."""

    nearest: str | None
    share: Number | None
    """Of the nearest ceiling, mean over the rounds of goodput / ceiling of the same round."""
    share_interval: tuple[Number, Number] | None
    app_cpu_us_per_request: Number | None
    """At the equal offered load."""
    app_cpu_us_interval: tuple[Number, Number] | None
    bottleneck: str | None


class Ceilings(Part):
    """ceiling.json"""

    started_at: datetime
    scenario: str
    topology: str
    placement: str
    rounds: int
    window_s: int
    seed: int
    equal_load_rps: int | None
    ceilings: dict[str, Figure]
    implementations: dict[str, Row]


@dataclass
class Rounds:
    """What the rounds gave, by name: the rate of each round, costs and bottlenecks, why a round does not count."""

    rates: dict[str, dict[int, float]] = field(default_factory=dict)
    costs: dict[str, list[float]] = field(default_factory=dict)
    bottlenecks: dict[str, list[str]] = field(default_factory=dict)
    refused: dict[str, list[str]] = field(default_factory=dict)

    def nearest(self) -> str | None:
        """The lowest ceiling."""
        means = {name: _mean(list(self.rates.get(name, {}).values())) for name in MEANINGS}
        known = {name: mean for name, mean in means.items() if mean is not None}
        return min(known, key=lambda name: known[name], default=None)

    def figure(self, name: str) -> Figure:
        values = list(self.rates.get(name, {}).values())
        return Figure(
            goodput_rps=_mean(values),
            interval=t_interval(values),
            values=values,
            refused=self.refused.get(name, []),
        )

    def row(self, name: str) -> Row:
        nearest = self.nearest()
        ceiling = self.rates.get(nearest or "", {})
        shares = [value / ceiling[n] for n, value in self.rates.get(name, {}).items() if n in ceiling]
        costs, tags = self.costs.get(name, []), self.bottlenecks.get(name, [])
        return Row(
            **self.figure(name).model_dump(),
            nearest=nearest,
            share=_mean(shares),
            share_interval=t_interval(shares),
            app_cpu_us_per_request=_mean(costs),
            app_cpu_us_interval=t_interval(costs),
            bottleneck=statistics.mode(tags) if tags else None,
        )


def _mean(values: list[float]) -> float | None:
    return statistics.fmean(values) if len(values) >= LEAST_VALUES else None


def report(found: Ceilings) -> Group:
    """The tables that a person reads."""
    ceilings = Table(title=f"ceilings for {found.scenario}, {found.rounds} rounds", title_justify="left")
    for column in ("ceiling", "what", "1/s"):
        ceilings.add_column(column, justify="right" if column == "1/s" else "left")
    for name, figure in found.ceilings.items():
        ceilings.add_row(name, MEANINGS[name], with_interval(figure.goodput_rps, figure.interval))
    rows = Table(
        title=f"implementations; CPU per request at {number(found.equal_load_rps)}/s for all",
        title_justify="left",
    )
    for column in (
        "implementation",
        "goodput, 1/s",
        "nearest ceiling",
        "share of it, %",
        "app CPU, µs/request",
        "limited by",
    ):
        rows.add_column(
            column,
            justify="left" if column in ("implementation", "nearest ceiling", "limited by") else "right",
        )
    ordered = sorted(found.implementations.items(), key=lambda item: item[1].app_cpu_us_per_request or 1e9)
    for name, row in ordered:
        share = (
            None if row.share_interval is None else (row.share_interval[0] * 100, row.share_interval[1] * 100)
        )
        rows.add_row(
            name,
            with_interval(row.goodput_rps, row.interval),
            row.nearest or "–",
            with_interval(None if row.share is None else row.share * 100, share),
            with_interval(row.app_cpu_us_per_request, row.app_cpu_us_interval),
            BOTTLENECKS.get(row.bottleneck or "", row.bottleneck or "–"),
        )
    every = {**found.ceilings, **found.implementations}
    refused = [
        Text(f"{name}: {why}", style="yellow") for name, figure in every.items() for why in figure.refused
    ]
    note = Text(
        "mean ± half-width of the 95 % interval over the rounds; a dash below two good rounds", style="dim"
    )
    return Group(ceilings, rows, note, *refused)
