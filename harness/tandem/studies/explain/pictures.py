"""An explanation for the result pages: the gap as a waterfall, of goodput and of CPU time. Pure."""

import math
from typing import Any

from tandem.analysis.cost import APP
from tandem.facts.metric import GOODPUT
from tandem.record.result import Result
from tandem.report.picture import Picture
from tandem.studies.explain.conclusions import Explained, Explanation, FactorShare, changes
from tandem.wording import times

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


def pictures(result: Result[Explained]) -> list[Picture]:
    """Nothing where an end has no figures."""
    return [_picture(result.conclusions, one) for one in result.conclusions.explanations]


def _picture(told: Explained, one: Explanation) -> Picture:
    title = AXES[one.metric]
    gap = told.gap(one.metric)
    return Picture(
        name=f"waterfall-{'goodput' if one.metric == GOODPUT else 'cpu'}",
        title=f"Why {told.b} has × {gap.ratio if gap else 0:.2g} the {title.partition(',')[0]} of {told.a}",
        says=SAYS,
        spec=_spec(rows(told, one), title),
        section="why",
        read="reference/explaining",
        file=FILE if one.metric == GOODPUT else "",
    )


def rows(told: Explained, found: Explanation) -> list[dict[str, Any]]:
    """The bars, from the top."""
    at = told.mean(told.cells[0], found.metric) or 1.0
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
    """1, 2, 5, 10, … around these."""
    first, last = math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1
    steps = [digit * 10.0**power for power in range(first, last) for digit in (1, 2, 5)]
    return [step for step in steps if low / 3 <= step <= high * 3]


def _spec(bars: list[dict[str, Any]], title: str) -> dict[str, Any]:
    axis = {"labelLimit": 300, "domain": False, "ticks": False, "labelPadding": 8}
    y = {"field": "part", "type": "nominal", "sort": None, "title": None, "axis": axis}
    hue = {"field": "hue", "type": "nominal", "scale": None, "legend": None}

    ticks = _ticks(min(bar["from"] for bar in bars), max(bar["from"] for bar in bars))

    def x(field: str) -> dict[str, Any]:
        scale = {"type": "log", "nice": False, "padding": 14}
        return {
            "field": field,
            "type": "quantitative",
            "title": title,
            "scale": scale,
            "axis": {"values": ticks, "labelOverlap": "greedy", "labelSeparation": 8},
        }

    def known(field: str, layer: dict[str, Any]) -> list[dict[str, Any]]:
        # A layer of what no row has would have no extent.
        if all(bar.get(field) is None for bar in bars):
            return []
        return [{"transform": [{"filter": f"isValid(datum.{field})"}], **layer}]

    def triangle(field: str, shape: str) -> list[dict[str, Any]]:
        mark = {
            "type": "point",
            "shape": shape,
            "filled": True,
            "size": 55,
            "color": "--ink",
            "opacity": 0.75,
        }
        return known(field, {"mark": mark, "encoding": {"y": y, "x": x(field)}})

    interval = {
        "mark": {"type": "rule", "strokeWidth": 1.5, "color": "--ink"},
        "encoding": {"y": y, "x": x("_low"), "x2": {"field": "_high"}},
    }
    return {
        "data": {"values": bars},
        "height": STEP * len(bars),
        "layer": [
            {
                "mark": {"type": "bar", "height": 13},
                "encoding": {"y": y, "x": x("from"), "x2": {"field": "to"}, "color": hue},
            },
            *known("_low", interval),
            *triangle("_first", "triangle-right"),
            *triangle("_last", "triangle-left"),
            {
                "transform": [{"filter": "datum._kind === 'end'"}],
                "mark": {"type": "tick", "thickness": 4, "size": 18},
                "encoding": {"y": y, "x": x("from"), "color": hue},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 8, "fontSize": 12, "color": "--muted"},
                "encoding": {
                    "y": y,
                    "x": {"value": "width"},
                    "text": {"field": "_text", "type": "nominal"},
                },
            },
        ],
    }
