"""A crossover for people. Pure."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.analysis.stack import OFF
from tandem.facts.metric import told_coordinates
from tandem.record.conclusion import Contrast
from tandem.record.result import Result
from tandem.report.chart import (
    DASHED,
    PLAIN,
    SOLID,
    Spec,
    category,
    choice,
    facets,
    lines,
    mark,
    names,
    quantity,
    step,
)
from tandem.report.parts import conditions_line, ending
from tandem.report.picture import Picture
from tandem.report.table import Column, table
from tandem.studies.crossover.conclusions import WINNERS, Crossed, row_name, row_of, wait_of
from tandem.wording import limited_by, number, ratio_with_interval, times, with_interval

HUES = ("--role-proxy", "--role-app")
"""Of the first, and of the second."""
READ = "reference/crossover-and-advice"
MAP = "map"
WIDEST = 4.0
"""Ratios beyond this and its reciprocal have the deepest colours."""
NOBODY = ("nobody", "not decided")


def pictures(found: Crossed) -> list[Picture]:
    """Nothing where nothing was measured."""
    if not found.measured:
        return []
    where = Picture(
        name=MAP,
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


def _wait(found: Crossed) -> str:
    return "distance of the database, ms" if found.waits_for == "database" else "wait of each request, ms"


def _told(cell: Contrast) -> str:
    """What stands in a cell: the ratio, and a question mark where nobody is known to win."""
    return times(cell.ratio) + (" ?" if cell.ratio and cell.word == "not decided" else "")


def map_rows(found: Crossed) -> list[dict[str, Any]]:
    """One of each cell."""
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
            "_decided": cell.word not in NOBODY,
            "_undecided": cell.word == "not decided" or cell.ratio is None,
            "_text": _told(cell),
        }
        for cell in found.contrasts
    ]


def _map(found: Crossed) -> Spec:
    still = {"domain": False, "ticks": False}
    at = {
        "x": step("wait_ms", _wait(found), axis={"labelAngle": 0, **still}),
        "y": category("_row", sort=None, axis={**PLAIN, "labelLimit": 200}),
    }
    scale = {
        "type": "log",
        "domain": [1 / WIDEST, 1, WIDEST],
        "range": [HUES[0], "--card", HUES[1]],
        "clamp": True,
        "interpolate": "rgb",
    }
    won = {**at, "fill": quantity("ratio", legend=None, scale=scale)}
    rows = map_rows(found)
    edge: Spec = {"stroke": "--rule", "strokeWidth": 1}
    return {
        "data": {"values": rows},
        "height": 46 * len({row["_row"] for row in rows}),
        "layer": [
            mark("rect", won, "!datum._undecided", **edge, fillOpacity=0.75),
            mark("rect", at, "datum._undecided", **edge, fill="--soft"),
            mark("text", {**at, "text": {"field": "_text"}}, fontSize=12, color="--ink"),
        ],
    }


def model_rows(found: Crossed) -> list[dict[str, Any]]:
    """Of each cell and side what was measured and what was predicted."""
    out: list[dict[str, Any]] = []
    for cell in found.contrasts:
        for name, hue in zip((found.first, found.second), HUES, strict=True):
            common: dict[str, Any] = {
                "threads, pool": row_name(cell.coordinates),
                "variant": name,
                "wait_ms": wait_of(cell),
                "hue": hue,
                "_row": row_name(cell.coordinates),
            }
            rate, model = found.goodput(name, cell), found.prediction(name, cell)
            if rate is not None and rate.mean is not None:
                low, high = rate.interval or (None, None)
                told_here = {"from": "measurement", "goodput_rps": rate.mean, "low": low, "high": high}
                out.append({**common, **told_here, **_label(found, cell, name)})
            if model is not None:
                out.append({**common, "from": "model", "goodput_rps": model.predicted.throughput_rps})
    return out


def _label(found: Crossed, cell: Contrast, name: str) -> dict[str, Any]:
    """Where the name of a line stands: that of the one that is ahead above all lines, the other's below."""
    names = (found.first, found.second)
    rates = {one: estimate.mean or 0.0 for one in names if (estimate := found.goodput(one, cell))}
    models = [model.predicted.throughput_rps for one in names if (model := found.prediction(one, cell))]
    known = [rate for rate in (*rates.values(), *models) if rate]
    up = name == max(names, key=lambda one: rates.get(one, 0.0))
    return {"_up": up, "_label": max(known) if up else min(known)}


def _model(found: Crossed, rows: list[dict[str, Any]]) -> Spec:
    x = step("wait_ms", _wait(found), axis={"labelAngle": 0})
    scale = {"type": "log", "nice": False, "padding": 16}
    y = quantity("goodput_rps", "goodput, 1/s", scale=scale, axis={"tickCount": 4})
    measured, last = "datum.from === 'measurement'", max(map(wait_of, found.contrasts))
    known = any(row.get("low") is not None for row in rows)
    dash = choice("from", {"measurement": SOLID, "model": DASHED})
    # The one that is ahead has its name above its line, so that two names never cover each other.
    named = [
        names(x, {**y, "field": "_label"}, f"{measured} && datum.wait_ms === {last} && {up}datum._up", dy)
        for up, dy in (("", -12), ("!", 14))
    ]
    layers = [*lines(x, y, dash, measured, size=45, spread=known), *named]
    order = list(dict.fromkeys(row["_row"] for row in rows))
    return {"data": {"values": rows}, **facets("_row", layers, height=200, sort=order)}


WAITS = {"database": "distance of the database", "request": "wait of each request"}
NOTE = (
    "ratio: goodput of the second divided by that of the first, within blocks of fresh starts; the intervals hold for all cells"
    " together (95 %), from the spread of all. nobody: the difference is at most 10 %. model: a closed queueing network,"
    " with demands counted at the shortest wait (docs/reference/crossover-and-advice.md)"
)


def ratio(cell: Contrast) -> str:
    """With its interval."""
    return ratio_with_interval(cell.ratio, cell.interval)


def cells_table(result: Result[Crossed]) -> Table:
    """A row for each number of threads and pool, and wait."""
    found = result.conclusions

    def rate(name: str, cell: Contrast) -> str:
        one = found.goodput(name, cell)
        return with_interval(one.mean, one.interval) if one is not None else number(None)

    def model(name: str, cell: Contrast) -> str:
        one = found.prediction(name, cell)
        return number(one.predicted.throughput_rps if one is not None else None)

    def limit(name: str, cell: Contrast) -> str:
        one = found.goodput(name, cell)
        return limited_by(one.limit if one is not None else None)

    both = {"first": found.first, "second": found.second}
    return table(
        conditions_line(result.request),
        found.contrasts,
        Column("threads, pool", lambda cell: row_name(cell.coordinates), text=True),
        Column("wait, ms", lambda cell: str(wait_of(cell))),
        *(Column(f"{name}, 1/s", partial(rate, name)) for name in both.values()),
        Column("ratio", ratio),
        Column("wins", found.winner, text=True),
        *(Column(f"model, {which}", partial(model, name)) for which, name in both.items()),
        Column("model's ratio", lambda cell: number(found.predicted_ratio(cell), 2)),
        *(Column(f"limits, {which}", partial(limit, name), text=True) for which, name in both.items()),
    )


def _meet(what: str, at_ms: Sequence[float]) -> str:
    return f"; {what} meet at about {', '.join(f'{ms:.1f}' for ms in at_ms)} ms" if at_ms else ""


def sentences(found: Crossed) -> list[str]:
    """Who wins where, for each number of threads and pool."""
    out = []
    groups = groupby(found.contrasts, row_of)
    for (row, group), meeting in zip(groups, found.meetings, strict=True):
        own = list(group)
        parts = []
        for who in WINNERS:
            won = [cell for cell in own if cell.word == who]
            verb = "" if who == "not decided" else " wins"
            waits = ", ".join(str(wait_of(cell)) for cell in won)
            parts += [f"{found.winner(won[0])}{verb} at {waits} ms"] if won else []
        met = _meet("they", meeting.measured_ms) + _meet("in the model they", meeting.predicted_ms)
        if not any(cell.word in ("first", "second") for cell in own):
            met = ""  # two that are alike meet wherever chance has it
        out.append(f"{row_name(row)}: {'; '.join(parts)}{met}")
    return out


def differing(found: Crossed) -> list[str]:
    """The fresh starts whose prediction is more than 10 % off, each once, with what may explain it."""
    return [
        f"the model is {one.off:+.0%} off for {one.variant} at {told_coordinates(one.coordinates)}: {'; '.join(one.likely)}"
        for one in found.predictions
        if one.off is not None and abs(one.off) > OFF
    ]


def headline(found: Crossed) -> str:
    """How many cells each wins."""
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
        *(Text(line, style="yellow") for line in differing(found)),
        Text(f"wait: {WAITS[found.waits_for]}; {found.rounds} rounds", style="dim"),
        Text(NOTE, style="dim"),
        *ending(result),
        *pictures(found),
    )
