"""An explanation for people: a sentence, tables. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.analysis.stack import OFF
from tandem.record.result import Result
from tandem.report.parts import conditions_line, ending, settings, table
from tandem.studies.explain.cells import BEHIND
from tandem.studies.explain.conclusions import (
    Bound,
    CellFigures,
    Crossing,
    Explained,
    Explanation,
    FactorShare,
    LegShare,
)
from tandem.studies.explain.design import PROGRAMS
from tandem.studies.explain.waterfall import NAME
from tandem.wording import limited_by, number, times

STATES = {
    "ok": "",
    "held back": "held back by the laboratory",
    "cannot be": "cannot be measured",
    "no figures": "no figures",
}


def _span(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else " to ".join(times(end).removeprefix("× ") for end in interval)


def _decided(share: FactorShare) -> bool:
    return share.interval is None or not share.interval[0] <= 1 <= share.interval[1]


def bounds(told: Explained) -> dict[str, Bound]:
    """Leg of settings -> which side the ratio of all of them, and of a group, lies on: where the database or the pooler
    limited the one end and not the other, that end would have been higher. Of two such ends nothing is said."""
    found = told.goodput()
    if found is None:
        return {}
    own = next(share for share in found.factors if share.name == PROGRAMS)
    out: dict[str, Bound] = {}
    for leg, outer in ((found.legs[0], told.cells[0]), (found.legs[-1], told.cells[-1])):
        far = {*(outer.bottleneck or "").split("+")} <= {*BEHIND}
        near = f"{leg.name.partition(', ')[2]} equal" in own.behind
        if near != far:
            # The first leg ends at the equal cell, the last one begins there.
            out[leg.name] = "at least" if near == (leg is found.legs[0]) else "at most"
    return out


def bound_of(told: Explained, share: FactorShare) -> Bound | None:
    """Its own bound, or that of its leg where it is a group."""
    return share.bound or (bounds(told).get(share.leg) if share.members else None)


def _units(found: Explanation) -> Iterator[FactorShare]:
    """What a sentence names: groups, and the factors that are in none."""
    inside = {(group.leg, member) for group in found.groups for member in group.members}
    for leg in found.legs:
        yield from (group for group in found.groups if group.leg == leg.name)
        yield from (f for f in found.factors if f.leg == leg.name and (f.leg, f.name) not in inside)


def sentence(told: Explained) -> str:
    """The answer: what the gap is the product of, in words."""
    found = told.goodput()
    if found is None:
        return f"{told.b} against {told.a}: not explained: one end has no figures"
    units = list(_units(found))
    parts = [
        f"{times(share.ratio, bound_of(told, share))} from {share.words}"
        for share in units
        if share.name != PROGRAMS and _decided(share)
    ]
    small = [share for share in units if share.name != PROGRAMS and not _decided(share)]
    if small:
        ratio = 1.0
        for share in small:
            ratio *= share.ratio
        names = ", ".join(f"{share.name} of {share.leg[len('settings of ')]}" for share in small)
        parts.append(f"{times(ratio)} from factors within noise ({names})")
    own = next(share for share in units if share.name == PROGRAMS)
    doubt = "" if _decided(own) else ", which is within noise"
    parts.append(f"{times(own.ratio, own.bound)} from {own.words}{doubt}{_behind(own)}")
    product = " ".join(parts)
    if found.noise:
        return f"{told.b} against {told.a}: no gap to explain ({times(found.gap)}, within noise) = {product}"
    return f"{told.b} against {told.a}: {times(found.gap)} = {product}"


def _behind(own: FactorShare) -> str:
    """What kept a program from being faster, with equal settings."""
    if not own.behind:
        return ""
    limits = " and ".join(dict.fromkeys(limited_by(limit) for limit in own.behind.values()))
    return f" ({limits} limited {'both' if len(own.behind) > 1 else next(iter(own.behind))})"


def headline(conclusions: dict[str, Any]) -> str:
    """Of a list of results."""
    if conclusions["gap"] is None:
        return f"{conclusions['b']} against {conclusions['a']}: not explained"
    noise = ", within noise" if conclusions["noise"] else ""
    return f"{conclusions['b']} against {conclusions['a']}: {times(float(conclusions['gap']))}{noise}"


def _settings(share: FactorShare) -> str:
    if share.members:
        return " and ".join(share.members)
    return ", ".join(f"{name} {old or '–'} to {new or '–'}" for name, (old, new) in share.settings.items())


def factor_table(
    found: Explanation, title: str = "goodput", bounds: Mapping[str, Bound] | None = None
) -> Table:
    """What a ratio is the product of. bounds: of whole legs, and of their groups."""
    whole = bounds or {}
    columns = ("part", "factor", "changed", "ratio", "95 % interval", "alone, first", "last")
    out = table(title, *columns, left=columns[:3])
    for leg in found.legs:
        rows = [g for g in found.groups if g.leg == leg.name]
        rows += [f for f in found.factors if f.leg == leg.name]
        for share in rows:
            name = "" if share.name == PROGRAMS else f"all of {share.name}" if share.members else share.name
            mark = " *" if share.parted else ""
            out.add_row(
                leg.name,
                name,
                _settings(share),
                times(share.ratio, share.bound or (whole.get(leg.name) if share.members else None)),
                _span(share.interval),
                times(share.first),
                times(share.last) + mark,
            )
        if len(rows) > 1:
            out.add_row(
                f"all {leg.name}",
                "",
                _orders(leg),
                times(leg.ratio, whole.get(leg.name)),
                _span(leg.interval),
                "",
                "",
            )
    out.add_row("B / A", "", "", times(found.gap), _span(found.interval), "", "")
    return out


def _orders(leg: LegShare) -> str:
    return f"{leg.left_out} of {leg.orders + leg.left_out} orders left out" if leg.left_out else ""


def _cells(cells: Sequence[CellFigures]) -> Table:
    columns = (
        "cell",
        "starts",
        "goodput, 1/s",
        "scatter",
        "app CPU, µs/request",
        "statements/request",
        "round trip, ms",
        "limited by",
        "",
    )
    out = table("cells", *columns, left=("cell", "limited by", ""))
    for cell in cells:
        bound = "≥ " if cell.state == "held back" else ""
        out.add_row(
            cell.label,
            str(cell.starts),
            bound + number(cell.goodput_rps, 0 if (cell.goodput_rps or 0) >= 100 else 1),
            "–" if cell.sd_ln is None else f"{cell.sd_ln:.0%}",
            number(cell.app_cpu_us_per_request),
            number(cell.statements_per_request, 1),
            number(cell.db_rtt_loaded_ms, 1),
            limited_by(cell.bottleneck),
            STATES[cell.state],
        )
    return out


def model_table(cells: Sequence[CellFigures]) -> Table:
    """Of the cells that have a prediction."""
    columns = (
        "cell",
        "round trips/request",
        "usable connections",
        "idle round trip, ms",
        "model, 1/s",
        "measured, 1/s",
        "model is off",
        "limit in the model",
    )
    out = table("the model beside the cells", *columns, left=("cell", "limit in the model"))
    for cell in cells:
        if (model := cell.model) is not None:
            out.add_row(
                cell.label,
                number(model.round_trips, 1),
                number(model.usable_connections),
                number(model.distance_ms, 1),
                number(model.predicted.throughput_rps),
                number(cell.goodput_rps),
                f"{model.off:+.0%}",
                limited_by(model.predicted.limited_by),
            )
    return out


def differing(cells: Sequence[CellFigures]) -> list[str]:
    """The cells whose prediction is more than 10 % off, with what may explain it."""
    return [
        f"the model is {cell.model.off:+.0%} off for {cell.label}: {'; '.join(cell.model.likely)}"
        for cell in cells
        if cell.model is not None and abs(cell.model.off) > OFF
    ]


def _crossing(crossing: Crossing, cells: dict[str, CellFigures]) -> Table:
    held = f"; {crossing.held}" if crossing.held else ""
    title = f"{crossing.factor} and {crossing.other} depend on each other{held}"
    out = table(title, "", f"before {crossing.other}", f"after {crossing.other}", left=("",))

    def told(label: str) -> str:
        cell = cells[label]
        return f"{number(cell.goodput_rps, 1)}/s, {limited_by(cell.bottleneck)}"

    none, one, other, both = crossing.cells
    out.add_row(f"before {crossing.factor}", told(none), told(other))
    out.add_row(f"after {crossing.factor}", told(one), told(both))
    return out


def report(result: Result[Explained]) -> Group:
    """The sentence, the factors of goodput and of CPU, the cells, and what a reader has to know."""
    told = result.conclusions
    found = told.goodput()
    parts: list[Table | Text] = [Text(sentence(told), style="bold"), Text(conditions_line(result.request))]
    if told.source:
        parts.append(Text(f"settings as published: {told.source}", style="dim"))
    if found is not None:
        parts.append(factor_table(found, bounds=bounds(told)))
        by_label = {cell.label: cell for cell in told.cells}
        parts += [_crossing(crossing, by_label) for crossing in told.crossings]
    if told.cpu is not None:
        parts.append(factor_table(told.cpu, "application CPU per request: below 1 is cheaper"))
    parts.append(_cells(told.cells))
    if any(cell.model for cell in told.cells):
        parts.append(model_table(told.cells))
        parts += [Text(line, style="yellow") for line in differing(told.cells)]
    notes = [
        "ratio: mean over all orders in which a part's factors can be changed; the ratios multiply to B / A",
        f"intervals: Student's t from pooled residuals of {told.blocks} blocks, for all factors together (Bonferroni); that of B / A for it alone",
    ]
    if found is not None and found.sd_ln is not None:
        notes.append(
            f"a start scatters by {found.sd_ln:.0%} ({found.freedom} degrees of freedom); figure: {NAME}"
        )
    if found is not None and any(share.parted for share in found.factors):
        notes.append(
            "*: first and last are further apart than chance allows: the effect depends on the other factors"
        )
    if found is not None and (bounds(told) or any(share.bound for share in found.factors)):
        notes.append(
            "≥, ≤, about: a bound. The generator, the proxy or the latency proxy held back a cell, or a cell has no figures; for the"
            " programs, and for all settings of a side, also where"
            " the database or PgBouncer limited one"
        )
    if any(cell.model for cell in told.cells):
        notes.append(
            "model: a closed queueing network of each cell, from the round trips, connections, distance and CPU times that"
            " its own windows counted (docs/reference/crossover-and-advice.md)"
        )
    parts += [Text(note, style="dim") for note in notes]
    return Group(*parts, *ending(result), settings(result))
