"""A crossover for people. Pure."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.facts.metric import GOODPUT, told_coordinates
from tandem.record.conclusion import Contrast, Position
from tandem.record.result import Result
from tandem.report import chart
from tandem.report.chart import Spec
from tandem.report.parts import conditions_line, ending, far_off
from tandem.report.picture import Picture
from tandem.report.table import Column, figure, limit, table
from tandem.studies.crossover.conclusions import WINNERS, Crossed, row_name, row_of, wait_of
from tandem.wording import number, ratio_with_interval, times

HUES = ("--role-proxy", "--role-app")
"""Colours of the first variant and of the second."""
READ = "reference/crossover-and-advice"
WIDEST = 4.0
"""Ratios beyond this and its reciprocal have the deepest colours."""
WAITS = {"database": "distance of the database", "request": "wait of each request"}


def pictures(found: Crossed) -> list[Picture]:
    """Pictures of a crossover; none where nothing was measured."""
    if all(cell.ratio is None for cell in found.contrasts):
        return []
    where = Picture(
        name="map",
        file="crossover.svg",
        title=f"From which wait {found.second} is ahead of {found.first}",
        says=f"Goodput of {found.second} divided by that of {found.first} in each cell: blue where the second wins, amber where the first"
        " does, white where nobody does by more than 10 %, grey with a question mark where the blocks do not decide. It says"
        " nothing about waits between the cells.",
        spec=_map(found),
        section="why",
        read=READ,
    )
    model = model_rows(found)
    if not any(row["from"] == "model" for row in model):
        return [where]
    beside = Picture(
        name="model",
        title=f"{found.first} and {found.second}: the closed network's prediction beside the measurement",
        says="Solid with intervals is measured, dashed is what a closed queueing network predicts from demands counted at the"
        " shortest wait. Where they diverge, something is at work that the model leaves out.",
        spec=_model(found, model),
        section="why",
        read=READ,
    )
    return [where, beside]


def map_rows(found: Crossed) -> list[dict[str, Any]]:
    """A row for each cell, with a question mark where nobody is known to win."""
    return [
        {
            "threads, pool": row_name(cell.coordinates),
            "wait_ms": wait_of(cell),
            "ratio": cell.ratio,
            "low": cell.interval and cell.interval[0],
            "high": cell.interval and cell.interval[1],
            "wins": found.winner(cell),
            "model's ratio": found.predicted_ratio(cell),
            "blocks": cell.n,
            "_row": row_name(cell.coordinates),
            "_decided": cell.word not in ("nobody", "not decided"),
            "_undecided": cell.word == "not decided" or cell.ratio is None,
            "_text": times(cell.ratio) + (" ?" if cell.ratio and cell.word == "not decided" else ""),
        }
        for cell in found.contrasts
    ]


def _map(found: Crossed) -> Spec:
    still = {"domain": False, "ticks": False}
    at = {
        "x": chart.step("wait_ms", f"{WAITS[found.waits_for]}, ms", axis={"labelAngle": 0, **still}),
        "y": chart.category("_row", sort=None, axis={**chart.PLAIN, "labelLimit": 200}),
    }
    scale = {
        "type": "log",
        "domain": [1 / WIDEST, 1, WIDEST],
        "range": [HUES[0], "--card", HUES[1]],
        "clamp": True,
        "interpolate": "rgb",
    }
    won = {**at, "fill": chart.quantity("ratio", legend=None, scale=scale)}
    rows = map_rows(found)
    edge: Spec = {"stroke": "--rule", "strokeWidth": 1}
    return {
        "data": {"values": rows},
        "height": 46 * len({row["_row"] for row in rows}),
        "layer": [
            chart.mark("rect", won, "!datum._undecided", **edge, fillOpacity=0.75),
            chart.mark("rect", at, "datum._undecided", **edge, fill="--soft"),
            chart.mark("text", {**at, "text": {"field": "_text"}}, fontSize=12, color="--ink"),
        ],
    }


def model_rows(found: Crossed) -> list[dict[str, Any]]:
    """What was measured and predicted, for each cell and side. The name of the line that is ahead stands above all lines,
    the other's below."""
    out: list[dict[str, Any]] = []
    for cell in found.contrasts:
        at, rows = row_name(cell.coordinates), list[dict[str, Any]]()
        for name, hue in zip((found.first, found.second), HUES, strict=True):
            common = {"threads, pool": at, "variant": name, "wait_ms": wait_of(cell), "hue": hue, "_row": at}
            rate = found.estimate_of(GOODPUT, found.position(name, cell))
            if rate is not None and rate.mean is not None:
                low, high = rate.interval or (None, None)
                measured = {"from": "measurement", "goodput_rps": rate.mean, "low": low, "high": high}
                rows.append({**common, **measured})
            if (model := found.prediction(name, cell)) is not None:
                rows.append({**common, "from": "model", "goodput_rps": model.predicted.throughput_rps})
        known = [one["goodput_rps"] for one in rows]
        lines = [one for one in rows if one["from"] == "measurement"]
        ahead = max(lines, key=lambda one: one["goodput_rps"], default=None)
        for one in lines:
            one.update(_up=one is ahead, _label=max(known) if one is ahead else min(known))
        out += rows
    return out


def _model(found: Crossed, rows: list[dict[str, Any]]) -> Spec:
    x = chart.step("wait_ms", f"{WAITS[found.waits_for]}, ms", axis={"labelAngle": 0})
    scale = {"type": "log", "nice": False, "padding": 16}
    y = chart.quantity("goodput_rps", "goodput, 1/s", scale=scale, axis={"tickCount": 4})
    measured, last = "datum.from === 'measurement'", max(map(wait_of, found.contrasts))
    known = any(row.get("low") is not None for row in rows)
    dash = chart.choice("from", {"measurement": chart.SOLID, "model": chart.DASHED})
    # The one that is ahead has its name above its line, so that two names never cover each other.
    named = [
        chart.names(
            x, {**y, "field": "_label"}, f"{measured} && datum.wait_ms === {last} && {up}datum._up", dy
        )
        for up, dy in (("", -12), ("!", 14))
    ]
    layers = [*chart.lines(x, y, dash, measured, size=45, spread=known), *named]
    order = list(dict.fromkeys(row["_row"] for row in rows))
    return {"data": {"values": rows}, **chart.facets("_row", layers, height=200, sort=order)}


NOTE = (
    "ratio: goodput of the second divided by that of the first, within blocks of fresh starts; the intervals hold for all cells"
    " together (95 %), from the spread of all. nobody: the difference is at most 10 %. model: a closed queueing network,"
    " with demands counted at the shortest wait (docs/reference/crossover-and-advice.md)"
)


def cells_table(result: Result[Crossed]) -> Table:
    """A row for each number of threads and pool, and wait."""
    found = result.conclusions
    both = {"first": found.first, "second": found.second}

    def told(cell: Callable[[Position], str], name: str) -> Callable[[Contrast], str]:
        return lambda contrast: cell(found.position(name, contrast))

    def model(name: str, cell: Contrast) -> str:
        one = found.prediction(name, cell)
        return number(one.predicted.throughput_rps if one is not None else None)

    return table(
        conditions_line(result.request),
        found.contrasts,
        Column("threads, pool", lambda cell: row_name(cell.coordinates), text=True),
        Column("wait, ms", lambda cell: str(wait_of(cell))),
        *(Column(f"{name}, 1/s", told(partial(figure, found, GOODPUT), name)) for name in both.values()),
        Column("ratio", lambda cell: ratio_with_interval(cell.ratio, cell.interval)),
        Column("wins", found.winner, text=True),
        *(Column(f"model, {which}", partial(model, name)) for which, name in both.items()),
        Column("model's ratio", lambda cell: number(found.predicted_ratio(cell), 2)),
        *(
            Column(f"limits, {which}", told(partial(limit, found), name), text=True)
            for which, name in both.items()
        ),
    )


def _meet(what: str, at_ms: Sequence[float]) -> str:
    return f"; {what} meet at about {', '.join(f'{ms:.1f}' for ms in at_ms)} ms" if at_ms else ""


def sentences(found: Crossed) -> list[str]:
    """Who wins where, for each number of threads and pool."""
    out = []
    groups = groupby(found.contrasts, row_of)
    for (row, group), meeting in zip(groups, found.meetings, strict=True):
        parts, own = [], list(group)
        for who in WINNERS:
            if won := [cell for cell in own if cell.word == who]:
                verb = "" if who == "not decided" else " wins"
                waits = ", ".join(str(wait_of(cell)) for cell in won)
                parts.append(f"{found.winner(won[0])}{verb} at {waits} ms")
        met = _meet("they", meeting.measured_ms) + _meet("in the model they", meeting.predicted_ms)
        if not any(cell.word in ("first", "second") for cell in own):
            met = ""  # two that are alike meet wherever chance has it
        out.append(f"{row_name(row)}: {'; '.join(parts)}{met}")
    return out


def headline(found: Crossed) -> str:
    """The number of cells that each variant wins."""
    won = Counter(cell.word for cell in found.contrasts)
    names = {"first": found.first, "second": found.second, "nobody": "nobody"}
    return ", ".join(
        f"{name} wins {won[who]} of {won.total()} cells" for who, name in names.items() if who in won
    )


def report(result: Result[Crossed]) -> Group:
    """The table, who wins where, where the model is wrong, and why trials do not count."""
    found = result.conclusions
    return Group(
        cells_table(result),
        *(Text(sentence, style="bold") for sentence in sentences(found)),
        *far_off(
            (f"{one.variant} at {told_coordinates(one.coordinates)}", one.off, one.likely)
            for one in found.predictions
        ),
        Text(f"wait: {WAITS[found.waits_for]}; {found.rounds} rounds", style="dim"),
        Text(NOTE, style="dim"),
        *ending(result),
        *pictures(found),
    )
