"""An explanation for the result pages: the gap as a waterfall, of goodput and of CPU time. Pure."""

import math
from typing import Any

from tandem.analysis.cost import APP
from tandem.facts.metric import GOODPUT
from tandem.report.chart import HUE, PLAIN, Spec, category, mark, quantity
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


def pictures(told: Explained) -> list[Picture]:
    """Nothing where an end has no figures."""
    return [_picture(told, one) for one in told.explanations]


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
