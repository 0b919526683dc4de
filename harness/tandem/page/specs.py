"""The pictures as Vega-Lite. The page fills in data, width, theme and the colours of the CSS variables. Pure.

Hue is the language, dash and marker are the model, and grey is what is not decided. https://vega.github.io/vega-lite/docs/
"""

from typing import Any

from tandem.report.chart import (
    DASHED,
    DOTTED,
    HUE,
    PLAIN,
    SOLID,
    Spec,
    category,
    choice,
    facets,
    interval,
    lines,
    mark,
    quantity,
)

DASH = choice("model", {"sync": DASHED, "async": SOLID, "green": DOTTED})
SHAPE = choice("model", {"sync": "circle", "async": "diamond", "green": "square"})
LOG: Spec = {"type": "log", "nice": False}
AT_RIGHT: Spec = {"x": {"value": "width"}}


def hero() -> Spec:
    """Sync and async of each language, as a share of sync."""
    offset = {"field": "model", "type": "nominal", "sort": ["sync", "async"]}
    axis, scale = {"labelFontWeight": 600, **PLAIN}, {"paddingInner": 0.3, "paddingOuter": 0.1}
    at = {"y": category("language", axis=axis, scale=scale), "yOffset": offset}
    middle = {**at, "yOffset": {**offset, "bandPosition": 0.5}}
    grid = {"gridDash": [2, 3], "tickCount": 4, "labelExpr": "'× ' + datum.label"}
    x = quantity("value", scale={"domainMin": 0}, axis=grid)
    opacity = {"condition": {"test": "datum.model === 'sync'", "value": 0.18}, "value": 0.85}
    bar = {**at, "x": x, "fill": HUE, "stroke": HUE, "fillOpacity": opacity, "strokeDash": DASH}
    text = {**middle, "x": quantity("end"), "text": {"field": "text"}}
    return {
        "height": {"step": 34},
        "padding": {"left": 2, "right": 26, "top": 5, "bottom": 5},
        "layer": [
            mark("bar", bar, cornerRadiusEnd=3, strokeWidth=1.5),
            interval({**middle, "x": quantity("low")}, strokeWidth=2, color="--ink"),
            mark("point", {**middle, "x": x, "shape": SHAPE}, filled=True, size=60, color="--ink", opacity=1),
            mark("text", text, align="left", dx=9, fontSize=12, color="--ink"),
        ],
    }


def forest() -> Spec:
    """Ratios with their intervals and words."""
    y = category("name", sort=None, axis={"labelLimit": 300, **PLAIN})
    axis = {"tickCount": 5, "labelExpr": "datum.label ? '× ' + datum.label : ''"}
    x = quantity("ratio", "ratio", scale={**LOG, "padding": 14}, axis=axis)
    published = {"y": y, "x": quantity("published")}
    diamond: Spec = {"shape": "diamond", "size": 80, "strokeWidth": 1.5, "color": "--ink"}
    word = {"y": y, **AT_RIGHT, "text": {"field": "word"}}
    return {
        "height": {"step": 24},
        "layer": [
            mark("rule", {"x": {"datum": 1}}, color="--muted", strokeDash=[3, 3]),
            interval({"y": y, "x": quantity("low"), "color": HUE}, strokeWidth=2),
            mark("point", {"y": y, "x": x, "color": HUE}, filled=True, size=70, opacity=1),
            mark("point", published, "isValid(datum.published)", **diamond),
            mark("text", word, align="left", dx=8, fontSize=12, color="--muted"),
        ],
    }


def _named_lines(x: Spec, y: Spec) -> Spec:
    """Lines with the name of each at its end."""
    text = {"x": x, "y": quantity("label_y"), "text": {"field": "label"}, "color": HUE}
    names = mark("text", text, "isValid(datum.label)", align="left", dx=8, fontSize=12, fontWeight=600)
    return {"height": 340, "layer": [*lines(x, y, DASH, size=34, shape=SHAPE), names]}


def percentiles() -> Spec:
    """Response time by percentile; each step to the right is a tenth of the requests."""
    names = (
        "{'2': 'p50', '10': 'p90', '100': 'p99', '1000': 'p99.9', '10000': 'p99.99'}['' + datum.value] || ''"
    )
    axis = {"values": [2, 10, 100, 1000, 10000], "labelExpr": names}
    x = quantity("beyond", "percentile of the response time", scale=LOG, axis=axis)
    return _named_lines(x, quantity("ms", "milliseconds", scale=LOG, axis={"tickCount": 5}))


def sweep() -> Spec:
    """A figure against a setting."""
    x = quantity("at", "value of the setting", scale=LOG, axis={"tickCount": 5})
    return _named_lines(x, quantity("mean", "figure", scale=LOG, axis={"tickCount": 5}))


def _role_bars(field: str, title: str, step: int, labels: int) -> Spec:
    """Bars of the roles of each variant, with the names of the roles that are wide enough."""
    y = category("variant", sort=None, axis={**PLAIN, "labelLimit": labels})
    x, order = quantity(field, title, stack="zero", axis={"tickCount": 6}), {"field": "place"}
    name = {"condition": {"test": "datum.wide", "field": "role"}, "value": ""}
    inside = {
        "y": y,
        "x": {**x, "bandPosition": 0.5},
        "text": name,
        "order": order,
        "detail": {"field": "role"},
    }
    return {
        "height": {"step": step},
        "layer": [
            mark("bar", {"y": y, "x": x, "color": HUE, "order": order}, stroke="--page", strokeWidth=1),
            mark("text", inside, fontSize=11, color="--on-role"),
        ],
    }


def roles() -> Spec:
    """Where the CPU time of one request goes; the line is the interval of the whole, which stands at the right."""
    title = "CPU time of one request, µs"
    out = _role_bars("us", title, 34, 320)
    y = out["layer"][0]["encoding"]["y"]
    whole = {"y": y, **AT_RIGHT, "text": {"field": "text"}}
    out["layer"] += [
        interval({"y": y, "x": quantity("low", title)}, strokeWidth=2, color="--ink"),
        mark("text", whole, "isValid(datum.text)", align="left", dx=8, fontSize=12, color="--ink"),
    ]
    return out


def cost() -> Spec:
    """What a million requests cost at the reader's prices."""
    return _role_bars("cost", "cost of a million requests, in the currency of the prices", 30, 220)


def _panels(field: str, layers: list[Spec]) -> Spec:
    return {**facets(field, layers), "resolve": {"scale": {"y": "independent"}}}


def _highest(axis: str, field: str, color: str, dash: list[int]) -> Spec:
    """A line at the highest value of a field."""
    at = {axis: {"aggregate": "max", "field": field, "type": "quantitative"}}
    return mark("rule", at, color=color, strokeDash=dash)


def seconds() -> Spec:
    """One window second by second."""
    x = quantity("second", "second of the load", scale={"nice": False}, axis={"tickMinStep": 1})
    at: dict[str, Any] = {
        "x": x,
        "y": quantity("value", scale={"zero": True}, axis={"tickCount": 3}),
        "color": HUE,
    }
    line = mark("line", {**at, "detail": {"field": "line"}}, strokeWidth=2, interpolate="step-after")
    return _panels("series", [line, mark("point", at, filled=True, size=18)])


def load() -> Spec:
    """Goodput and response time against the offered load; what was not held is hollow."""
    x = quantity("offered_rps", "offered load, 1/s", scale={"zero": True}, axis={"tickCount": 6})
    at = {"x": x, "y": quantity("value", scale={"type": "linear"}, axis={"tickCount": 4})}
    held = {"test": "datum.state === 'held'", "field": "hue", "scale": None}
    point = {**at, "stroke": HUE, "fill": {"condition": held, "value": "--page"}}
    return _panels(
        "series",
        [
            _highest("x", "capacity_rps", "--muted", [4, 3]),
            _highest("y", "objective_ms", "--bad", [2, 2]),
            mark("line", {**at, "color": HUE}, strokeWidth=1.5),
            mark("point", point, size=60, strokeWidth=2, opacity=1),
        ],
    )


def history() -> Spec:
    """One nightly series: its ratios, the sums that raise its alarms, and what came new under the programs."""
    axis = {"tickMinStep": 1, "tickCount": 6}
    x = quantity("night", "night of the series", scale={"nice": False}, axis=axis)
    at = {"x": x, "y": quantity("value", scale={"zero": False}, axis={"tickCount": 4})}
    event = {"x": x, "tooltip": category("event", "new")}
    point = {
        **at,
        "size": {"condition": {"test": "datum.alarm", "value": 90}, "value": 14},
        "color": {"condition": {"test": "datum.alarm", "value": "--bad"}, **HUE},
    }
    return _panels(
        "panel",
        [
            _highest("y", "limit", "--bad", [4, 3]),
            mark("rule", event, "isValid(datum.event)", color="--muted", strokeWidth=1.5),
            mark("line", {**at, "color": HUE, "detail": {"field": "line"}}, strokeWidth=1.5),
            mark("point", point, filled=True, opacity=1),
        ],
    )
