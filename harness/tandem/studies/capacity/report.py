"""How a capacity is told. Pure: a result in, renderables out."""

from collections.abc import Iterator, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tandem.analysis.ceilings import cut_off
from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.report.chart import HUES, mark, named_lines, quantity
from tandem.report.parts import ceilings, conditions_line, findings, settings, spent
from tandem.report.picture import Picture
from tandem.report.table import Column, table
from tandem.studies.capacity.conclusions import Behaviour, CapacityFound, FrozenDatabase
from tandem.wording import limited_by, number

NOTHING = "above it, no resource was exhausted on average: only the objective was not met"
NOTE = "response times cover the answered requests only"


def rate(rate_rps: int | None) -> str:
    """A rate that may not be known."""
    return "no rate" if rate_rps is None else f"{rate_rps:,}/s"


def sentences(result: Result[CapacityFound]) -> list[Text]:
    """What was found, in words."""
    found, out = result.conclusions, list[Text]()
    if found.capacity_rps is not None and (fit := found.fit) is not None:
        at_least = "≥ " if found.capacity.limit == "generator" else ""
        low, high = fit.interval_rps
        text = (
            f"{result.request.variants[0].label}: capacity {at_least}{found.capacity_rps:,}/s (95 % interval {low:,.0f} to"
            f" {high:,.0f}): the rate at which the median start meets {found.slo} half of the time; {fit.probes} probes in"
            f" {fit.starts} fresh starts, whose limits differ by {fit.start_sd * 100:.0f} %"
        )
        out.append(Text(text, style="bold"))
        near = cut_off(found.near_ceiling, found.capacity_rps, result.baselines, _highest(found))
        if near is not None:
            text = f"the capacity is at {near}: the ceiling limits it as much as the application does"
            out.append(Text(text, style="yellow"))
        if limit := found.capacity.limit:
            exhausted = f"above it, {limited_by(limit)} was exhausted"
            out.append(Text(NOTHING if limit == "offered-load" else exhausted))
    out += [Text(f"{result.verdict}: {reason}", style="yellow") for reason in result.reasons]
    out += findings(result)
    if not found.decided and None not in found.bracket_rps:
        out.append(Text("the probes ran out before both edges were decided", style="yellow"))
    for load in found.behaviour:
        if load.recovery is not None:
            back = _at_most(load.recovery.recovery_s, "")
            out.append(Text(f"after {load.share:.0%}: back within {found.slo} at half the capacity: {back}"))
    if (still := found.frozen) is not None:
        slowest = (
            "" if still.slowest_ms is None else f", the slowest of the others took {still.slowest_ms:,.0f} ms"
        )
        out.append(
            Text(
                f"database frozen for {still.frozen_s:.1f} s{_void(still)} at {still.offered_rps:,}/s: {still.scheduled - still.good:,} of"
                f" {still.scheduled:,} requests had no right answer{slowest}; back within {found.slo}:"
                f" {_at_most(still.recovery_s, ' after it')}"
            )
        )
    return out


def _at_most(seconds: float | None, since: str) -> str:
    return "not within the window" if seconds is None else f"{seconds:.1f} s{since} at most"


def _void(shown: Behaviour | FrozenDatabase) -> str:
    return " (void)" if shown.verdict is Verdict.VOID else ""


def probes(result: Result[CapacityFound]) -> Table:
    """A row for each probe of the search and of the further starts."""
    found = result.conclusions
    return table(
        f"probes for {found.slo}, {conditions_line(result.request)}",
        [*zip(repeat("search"), found.search), *zip(repeat("further start"), found.confirmations)],
        Column("offered 1/s", lambda one: number(one[1].rate_rps)),
        Column("window s", lambda one: str(one[1].seconds)),
        Column("p50 ms", lambda one: number(one[1].p50_ms, 1)),
        Column(f"{found.slo.percentile} ms", lambda one: number(one[1].percentile_ms, 1)),
        Column("outcome", lambda one: f"{one[0]}: {one[1].outcome}", text=True),
    )


def _highest(found: CapacityFound) -> float:
    return max((load.goodput_rps for load in found.behaviour), default=0.0)


def loads(result: Result[CapacityFound]) -> Table:
    """A row for each load around the capacity."""
    found = result.conclusions

    def time(name: str) -> Column[Behaviour]:
        return Column(f"{name} ms", lambda load: number(getattr(load.response_time_ms, name, None), 1))

    def limit(load: Behaviour) -> str:
        near = cut_off(load.near_ceiling, load.goodput_rps, result.baselines, _highest(found))
        return "; ".join(filter(None, (limited_by(load.bottleneck) + _void(load), near)))

    retried = Column[Behaviour](
        "sent again %", lambda load: number(load.retried_share and load.retried_share * 100, 1)
    )
    return table(
        "behaviour by load, one fresh start",
        found.behaviour,
        Column("load %", lambda load: number(load.share * 100)),
        Column("offered 1/s", lambda load: number(load.offered_rps)),
        Column("goodput 1/s", lambda load: number(load.goodput_rps)),
        time("p50"),
        time("p99"),
        Column("failed %", lambda load: number(load.failed_share * 100, 2)),
        Column("by 503 %", lambda load: number(load.refused_share * 100, 2)),
        *([retried] if any(load.retried_share is not None for load in found.behaviour) else []),
        Column("unsent %", lambda load: number(load.unsent_share * 100, 2)),
        Column("memory MiB", lambda load: number(load.memory_bytes and load.memory_bytes / 2**20)),
        Column("recovery s", lambda load: number(load.recovery.recovery_s if load.recovery else None, 1)),
        Column("limited by", limit, text=True),
    )


def recoveries(found: CapacityFound) -> list[Picture]:
    """The way back from each overload, and from a database that stood still; nothing where neither was measured."""
    rows: list[dict[str, Any]] = [
        {
            "variant": name,
            "second": second,
            "ms": ms,
            "hue": HUES[place % len(HUES)],
            "_line": "way",
            # A line's name stands at its highest point, to the right of it where the axis is near.
            "_last": (second, ms) == max(reversed(way), key=itemgetter(1)),
            "_align": "left" if second < 4 else "right",
        }
        for place, (name, way) in enumerate(_ways(found))
        for second, ms in way
    ]
    if not rows:
        return []
    name = found.slo.percentile
    x = quantity("second", "seconds after it ended")
    spec = named_lines(rows, x, quantity("ms", f"{name}, ms", scale={"type": "log", "nice": False}), "way")
    objective = mark("rule", {"y": {"datum": found.slo.limit_ms}}, color="--bad", strokeDash=[2, 2])
    says = (
        f"The {name} of each second's requests at half the capacity, right after each overload and around a moment in which the"
        " database stood still; one fresh start. Dotted: the objective. Requests without a right answer are not among them."
    )
    return [
        Picture(
            name="recovery",
            title="The way back from an overload",
            says=says,
            spec={**spec, "layer": [objective, *spec["layer"]]},
            read="reference/capacity-and-sweeps",
        )
    ]


def _ways(found: CapacityFound) -> Iterator[tuple[str, Sequence[tuple[float, float]]]]:
    """Name of each disturbance, and the seconds since its end with the objective's percentile there."""
    for load in found.behaviour:
        if (way := load.recovery) is not None:
            yield f"after {load.share:.0%}", _known(way.per_second_ms, way.gap_s)
    if (still := found.frozen) is not None:
        yield "database frozen", _known(still.per_second_ms, -still.thawed_s)


def _known(values_ms: Sequence[float | None], from_s: float) -> list[tuple[float, float]]:
    return [(round(from_s + at, 1), ms) for at, ms in enumerate(values_ms) if ms is not None]


def report(result: Result[CapacityFound]) -> RenderableType:
    """All that a person reads."""
    return Group(
        probes(result),
        *((loads(result), Text(NOTE, style="dim")) if result.conclusions.behaviour else ()),
        *sentences(result),
        *recoveries(result.conclusions),
        *ceilings(result.baselines, [result.conclusions.ceiling_shares], _highest(result.conclusions)),
        *([settings(result)] if result.environments else []),
        spent(result),
    )
