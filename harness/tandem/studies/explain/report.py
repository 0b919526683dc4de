"""An explanation for people: a sentence, tables. Pure."""

import math
from collections.abc import Iterator
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.analysis.cost import APP
from tandem.facts.metric import GOODPUT
from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.report.chart import HUE, PLAIN, Spec, category, mark, quantity
from tandem.report.parts import conditions_line, ending, far_off, settings
from tandem.report.picture import Picture
from tandem.report.table import Column, table, texts
from tandem.studies.explain.conclusions import (
    Cell,
    Crossing,
    Explained,
    Explanation,
    FactorShare,
    changes,
    noise,
)
from tandem.wording import limited_by, number, span, times

AXES = {GOODPUT: "goodput, 1/s", APP: "application CPU, µs/request"}
STEP = 30
"""Height of a bar with what is around it, in pixels."""
MORE, LESS, OWN, UNDECIDED, END = "--role-app", "--role-proxy", "--role-db", "--undecided", "--muted"
SAYS = (
    "A bar shows what a part does, averaged over all orders in which the parts can be changed; the line is its 95 % interval, for all"
    " parts together. The triangles show what it does when it is changed first (▸) and last (◂). Blue is more, amber less,"
    " violet the programs themselves, grey within noise. Equal factors have equal lengths. It says nothing about settings that"
    " neither side has. ≥, ≤ and “about” mark a bound: something else limited the rates behind it."
)


FILE = "waterfall.svg"


def pictures(told: Explained) -> list[Picture]:
    """A picture of each gap that is explained; nothing where an end has no figures."""
    return [
        Picture(
            name=f"waterfall-{'goodput' if one.metric == GOODPUT else 'cpu'}",
            title=f"Why {told.b} has × {gap.ratio or 0:.2g} the {AXES[one.metric].partition(',')[0]} of {told.a}",
            says=SAYS,
            spec=_spec(rows(told, one), AXES[one.metric]),
            section="why",
            read="reference/explaining",
            file=FILE if one.metric == GOODPUT else "",
        )
        for one in told.explanations
        if (gap := told.gap(one.metric))
    ]


def rows(told: Explained, found: Explanation) -> list[dict[str, Any]]:
    """The bars, from the top."""
    at = told.mean_of(found.metric, told.cells[0].position) or 1.0
    out = [_end(f"A: {told.a}", at)]
    for share in found.factors:
        out.append(_step(share, at))
        at *= share.ratio
    return [*out, _end(f"B: {told.b}", at)]


def _end(name: str, at: float) -> dict[str, Any]:
    return {"part": name, "from": at, "to": at, "hue": END, "_kind": "end", "_text": f"{at:,.0f}"}


def _step(share: FactorShare, at: float) -> dict[str, Any]:
    own = share.side is None
    side = "" if own else f" ({share.side})"
    low, high = share.interval or (None, None)
    both = share.first is not None and share.last is not None and abs(share.first - share.last) > 1e-3
    return {
        "part": share.name + side,
        "changed": changes(share.settings),
        "from": at,
        "to": at * share.ratio,
        "factor": share.ratio,
        "low": low,
        "high": high,
        "first": share.first,
        "last": share.last,
        "bound": share.bound,
        "hue": UNDECIDED if not share.decided else OWN if own else MORE if share.ratio >= 1 else LESS,
        "_kind": "step",
        "_low": low and at * low,
        "_high": high and at * high,
        "_first": at * share.first if both and share.first else None,
        "_last": at * share.last if both and share.last else None,
        "_text": times(share.ratio, share.bound),
    }


def _ticks(low: float, high: float) -> list[float]:
    """Ticks at 1, 2, 5, 10, … around these values."""
    first, last = math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1
    steps = [digit * 10.0**power for power in range(first, last) for digit in (1, 2, 5)]
    return [step for step in steps if low / 3 <= step <= high * 3]


def _spec(bars: list[dict[str, Any]], title: str) -> Spec:
    y = category("part", sort=None, axis={**PLAIN, "labelLimit": 300})
    ticks = _ticks(min(bar["from"] for bar in bars), max(bar["from"] for bar in bars))
    scale = {"type": "log", "nice": False, "padding": 14}
    axis = {"values": ticks, "labelOverlap": "greedy", "labelSeparation": 8}

    def at(field: str, **more: Any) -> Spec:
        return {"y": y, "x": quantity(field, title, scale=scale, axis=axis), **more}

    def known(kind: str, field: str, encoding: Spec, **style: Any) -> list[Spec]:
        # A layer of what no row has would have no extent.
        there = any(bar.get(field) is not None for bar in bars)
        return [mark(kind, encoding, f"isValid(datum.{field})", **style)] if there else []

    triangle: Spec = {"filled": True, "size": 55, "color": "--ink", "opacity": 0.75}
    spread = at("_low", x2={"field": "_high"})
    figure = {"y": y, "x": {"value": "width"}, "text": {"field": "_text"}}
    return {
        "data": {"values": bars},
        "height": STEP * len(bars),
        "layer": [
            mark("bar", at("from", x2={"field": "to"}, color=HUE), height=13),
            *known("rule", "_low", spread, strokeWidth=1.5, color="--ink"),
            *known("point", "_first", at("_first"), shape="triangle-right", **triangle),
            *known("point", "_last", at("_last"), shape="triangle-left", **triangle),
            mark("tick", at("from", color=HUE), "datum._kind === 'end'", thickness=4, size=18),
            mark("text", figure, align="left", dx=8, fontSize=12, color="--muted"),
        ],
    }


NONE = {Verdict.OK: "", Verdict.FAILED: "cannot be measured"}
"""Verdict of a cell -> what its row says; a cell with any other has no figures."""
COLUMNS = ("part", "factor", "changed", "ratio", "95 % interval", "alone, first", "last")
CPU = "application CPU per request: below 1 is cheaper"
PARTED = "*: first and last are further apart than chance allows: the effect depends on the other factors"
BOUND = (
    "≥, ≤, about: a bound. The generator, the proxy or the latency proxy held back a cell, or a cell has no figures; for the"
    " programs, and for all settings of a side, also where the database or PgBouncer limited one"
)
MODEL = (
    "model: a closed queueing network of each cell, from the round trips, connections, distance and CPU times that"
    " its own windows counted (docs/reference/crossover-and-advice.md)"
)


def _units(found: Explanation) -> Iterator[FactorShare]:
    """What a sentence names: groups, and the factors that are in none."""
    for leg in found.legs:
        groups, factors = found.of_leg(leg)
        inside = {member for group in groups for member in group.members}
        yield from groups
        yield from (factor for factor in factors if factor.name not in inside)


def sentence(told: Explained) -> str:
    """The answer: what the gap is the product of, in words."""
    found, gap = told.of(), told.gap()
    if found is None or gap is None:
        return f"{told.b} against {told.a}: not explained: one end has no figures"
    units = [share for share in _units(found) if share.side is not None]
    parts = [f"{times(share.ratio, share.bound)} from {share.words}" for share in units if share.decided]
    if small := [share for share in units if not share.decided]:
        names = ", ".join(f"{share.name} of {share.side}" for share in small)
        ratio = math.prod(share.ratio for share in small)
        parts.append(f"{times(ratio)} from factors within noise ({names})")
    own = found.programs
    doubt = "" if own.decided else ", which is within noise"
    if own.behind:  # what kept a program from being faster, with equal settings
        limits = " and ".join(dict.fromkeys(limited_by(limit) for limit in own.behind.values()))
        doubt += f" ({limits} limited {'both' if len(own.behind) > 1 else next(iter(own.behind))})"
    parts.append(f"{times(own.ratio, own.bound)} from {own.words}{doubt}")
    product = " ".join(parts)
    if noise(gap.interval):
        return f"{told.b} against {told.a}: no gap to explain ({times(gap.ratio)}, within noise) = {product}"
    return f"{told.b} against {told.a}: {times(gap.ratio)} = {product}"


def headline(told: Explained) -> str:
    """The gap in goodput."""
    gap, pair = told.gap(), f"{told.b} against {told.a}"
    if gap is None:
        return f"{pair}: not explained"
    return f"{pair}: {times(gap.ratio)}{', within noise' if noise(gap.interval) else ''}"


def factor_table(told: Explained, found: Explanation, title: str = "goodput") -> Table:
    """What a ratio is the product of."""
    rows = list[tuple[str, ...]]()
    for leg in found.legs:
        groups, factors = found.of_leg(leg)
        for share in (*groups, *factors):
            name = "" if leg.side is None else f"all of {share.name}" if share.members else share.name
            ratio, last = times(share.ratio, share.bound), times(share.last) + (" *" if share.parted else "")
            rows.append((leg.name, name, share.change, ratio, span(share.interval), times(share.first), last))
        if len(groups) + len(factors) > 1:
            left = f"{leg.left_out} of {leg.orders + leg.left_out} orders left out" if leg.left_out else ""
            ratio = times(leg.ratio, leg.bound)
            rows.append((f"all {leg.name}", "", left, ratio, span(leg.interval), "", ""))
    gap = told.gap(found.metric)
    assert gap is not None  # of what is explained
    rows.append(("B / A", "", "", times(gap.ratio), span(gap.interval), "", ""))
    return texts(title, rows, *COLUMNS, left=COLUMNS[:3])


def _cells(told: Explained) -> Table:
    def goodput(cell: Cell) -> str:
        mean = told.figure(cell).mean
        return ("≥ " if cell.held_back else "") + number(mean, 0 if (mean or 0) >= 100 else 1)

    def held_back(cell: Cell) -> str:
        none = NONE.get(told.figure(cell).verdict, "no figures")
        return "held back by the laboratory" if cell.held_back else none

    return table(
        "cells",
        told.cells,
        Column("cell", lambda cell: cell.label, text=True),
        Column("starts", lambda cell: str(cell.starts)),
        Column("goodput, 1/s", goodput),
        Column("scatter", lambda cell: "–" if cell.sd_ln is None else f"{cell.sd_ln:.0%}"),
        Column("app CPU, µs/request", lambda cell: number(told.mean_of(APP, cell.position))),
        Column("statements/request", lambda cell: number(cell.statements_per_request, 1)),
        Column("round trip, ms", lambda cell: number(cell.db_rtt_loaded_ms, 1)),
        Column("limited by", lambda cell: limited_by(told.figure(cell).limit), text=True),
        Column("", held_back, text=True),
    )


def model_table(told: Explained) -> Table:
    """The table of the cells that have a prediction."""
    return table(
        "the model beside the cells",
        [(cell, cell.model) for cell in told.cells if cell.model is not None],
        Column("cell", lambda both: both[0].label, text=True),
        Column("round trips/request", lambda both: number(both[1].round_trips, 1)),
        Column("usable connections", lambda both: number(both[1].usable_connections)),
        Column("idle round trip, ms", lambda both: number(both[1].distance_ms, 1)),
        Column("model, 1/s", lambda both: number(both[1].predicted.throughput_rps)),
        Column("measured, 1/s", lambda both: number(told.mean_of(GOODPUT, both[0].position))),
        Column("model is off", lambda both: f"{both[1].off:+.0%}"),
        Column("limit in the model", lambda both: limited_by(both[1].predicted.limited_by), text=True),
    )


def _crossing(told: Explained, crossing: Crossing) -> Table:
    held = f"; {crossing.held}" if crossing.held else ""
    title = f"{crossing.factor} and {crossing.other} depend on each other{held}"
    figures = {cell.label: told.figure(cell) for cell in told.cells}
    corners = [figures[label] for label in crossing.cells]
    none, one, other, both = [f"{number(at.mean, 1)}/s, {limited_by(at.limit)}" for at in corners]
    rows = [(f"before {crossing.factor}", none, other), (f"after {crossing.factor}", one, both)]
    return texts(title, rows, "", f"before {crossing.other}", f"after {crossing.other}", left=("",))


def report(result: Result[Explained]) -> Group:
    """The sentence, the factors of goodput and of CPU, the cells, and what a reader has to know."""
    told = result.conclusions
    found, cpu = told.of(), told.of(APP)
    modelled = [(cell.label, cell.model.off, cell.model.likely) for cell in told.cells if cell.model]
    parts: list[Table | Text] = [Text(sentence(told), style="bold"), Text(conditions_line(result.request))]
    notes = [
        "ratio: mean over all orders in which a part's factors can be changed; the ratios multiply to B / A",
        f"intervals: Student's t from pooled residuals of {told.blocks} blocks, for all factors together (Bonferroni); that of B / A for it alone",
    ]
    if told.source:
        parts.append(Text(f"settings as published: {told.source}", style="dim"))
    if found is not None:
        parts += [factor_table(told, found), *(_crossing(told, crossing) for crossing in told.crossings)]
        if found.sd_ln is not None:
            freedom = f"{found.freedom} degrees of freedom"
            notes.append(f"a start scatters by {found.sd_ln:.0%} ({freedom}); figure: {FILE}")
        notes += [PARTED] * any(share.parted for share in found.factors)
        notes += [BOUND] * (any(leg.bound for leg in found.legs) or any(one.bound for one in found.factors))
    if cpu is not None:
        parts.append(factor_table(told, cpu, CPU))
    parts.append(_cells(told))
    if modelled:
        parts += [model_table(told), *far_off(modelled)]
        notes.append(MODEL)
    parts += [Text(note, style="dim") for note in notes]
    return Group(*parts, *ending(result), settings(result), *pictures(told))
