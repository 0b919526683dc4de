"""Parts of Vega-Lite charts that several pictures share. Pure. Colours are the page's CSS variables.

https://vega.github.io/vega-lite/docs/
"""

from collections.abc import Mapping, Sequence
from typing import Any

type Spec = dict[str, Any]

HUE: Spec = {"field": "hue", "type": "nominal", "scale": None, "legend": None}
"""Encoding of a colour that the data has itself."""
HUES = ("--role-app", "--role-proxy", "--role-db", "--lang-cpp", "--lang-node", "--lang-rust")
"""Colours of the variants, in their order."""
SOLID, DASHED, DOTTED = [1, 0], [5, 4], [2, 3]
PLAIN: Spec = {"domain": False, "ticks": False, "labelPadding": 8}
"""An axis of names without a line."""


def quantity(field: str, title: str | None = None, **more: Any) -> Spec:
    """Encode a number."""
    return {"field": field, "type": "quantitative", "title": title, **more}


def category(field: str, title: str | None = None, **more: Any) -> Spec:
    """Encode a name."""
    return {"field": field, "type": "nominal", "title": title, **more}


def step(field: str, title: str | None = None, **more: Any) -> Spec:
    """Encode a number whose values stand side by side, however far apart they are."""
    return {**category(field, title, **more), "type": "ordinal"}


def choice(field: str, looks: dict[str, Any]) -> Spec:
    """Encode a name by a dash or a shape, without a legend. looks: of each name."""
    scale = {"domain": list(looks), "range": list(looks.values())}
    return {"field": field, "type": "nominal", "legend": None, "scale": scale}


def mark(
    kind: str, encoding: Spec, where: str | None = None, values: Sequence[Spec] | None = None, **style: Any
) -> Spec:
    """A layer. where: the rows that it shows; values: rows of its own."""
    out: Spec = {"mark": {"type": kind, **style}, "encoding": encoding}
    if where is not None:
        out["transform"] = [{"filter": where}]
    return out if values is None else {"data": {"values": values}, **out}


def interval(encoding: Spec, along: str = "x", **style: Any) -> Spec:
    """A line from `low` to `high` where a row has them. encoding: with the axis along which it lies."""
    ends = {along: {**encoding[along], "field": "low"}, f"{along}2": {"field": "high"}}
    return mark("rule", encoding | ends, "isValid(datum.low)", **style)


def lines(
    x: Spec, y: Spec, dash: Spec, where: str | None = None, size: int = 40, spread: bool = True, **points: Any
) -> list[Spec]:
    """Lines of `variant` with an interval and a marker at each value. where: the rows that have a marker; points: more of their
    encoding; spread: whether any row has an interval, as a layer of nothing has no extent."""
    at = {"x": x, "y": y, "color": HUE}
    return [
        *([interval(at, "y", strokeWidth=1.5, opacity=0.6)] if spread else []),
        mark("line", {**at, "strokeDash": dash, "detail": {"field": "variant"}}, strokeWidth=2),
        mark("point", {**at, **points}, where, filled=True, size=size, opacity=1),
    ]


def names(x: Spec, y: Spec, where: str, dy: int = -12, field: str = "variant") -> Spec:
    """The names of lines beside their ends. where: the rows at which they stand; dy: pixels below these; field: has the name,
    or several, each on a line. A row whose `_align` is "left" has its name to the right of its place."""
    encoding = {"x": x, "y": y, "text": {"field": field}, "color": HUE}
    align = {"expr": "datum._align || 'right'"}
    return mark("text", encoding, where, align=align, dy=dy, fontSize=12, fontWeight=600, lineBreak="\n")


def named_lines(rows: Sequence[Spec], x: Spec, y: Spec, line: str) -> Spec:
    """A line for each variant with its name at its last point. rows: with `_line`, which is `line`, and `_last`."""
    of = lines(x, y, choice("_line", {line: SOLID}), spread=False, size=20)
    return {"data": {"values": rows}, "height": 260, "layer": [*of, names(x, y, "datum._last")]}


def rows_of(points: Mapping[str, Sequence[Spec]], line: str) -> list[Spec]:
    """The rows of `named_lines`. points: variant -> the rows of its line."""
    return [
        {"variant": label, **row, "hue": HUES[place % len(HUES)], "_line": line, "_last": row is own[-1]}
        for place, (label, own) in enumerate(points.items())
        for row in own
    ]


def facets(field: str, layers: list[Spec], height: int = 130, **more: Any) -> Spec:
    """A panel for each value of a field, one below the other. more: of the field."""
    header = {"orient": "top", "labelAnchor": "start", "labelFontWeight": 600, "title": None}
    return {
        "facet": {"row": {**category(field), "header": header, **more}},
        "spec": {"height": height, "layer": layers},
        "spacing": 14,
    }
