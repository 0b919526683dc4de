"""The pictures as Vega-Lite. The page fills in data, width, theme and the colours of the CSS variables. Pure.

Hue is the language, dash and marker are the model, and grey is what is not decided. https://vega.github.io/vega-lite/docs/
"""

from typing import Any

type Spec = dict[str, Any]

DASH = {
    "field": "model",
    "type": "nominal",
    "legend": None,
    "scale": {"domain": ["sync", "async"], "range": [[5, 4], [1, 0]]},
}
SHAPE = {
    "field": "model",
    "type": "nominal",
    "legend": None,
    "scale": {"domain": ["sync", "async"], "range": ["circle", "diamond"]},
}
HUE = {"field": "hue", "type": "nominal", "scale": None, "legend": None}
"""The data has the colour itself."""


def _q(field: str, title: str | None = None, **more: Any) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, **more}


def _n(field: str, title: str | None = None, **more: Any) -> Spec:
    return {"field": field, "type": "nominal", "title": title, **more}


def hero() -> Spec:
    """Sync and async of each language, as a share of sync."""
    y = _n("language", axis={"labelFontWeight": 600, "domain": False, "ticks": False, "labelPadding": 8})
    offset = {"field": "model", "type": "nominal", "sort": ["sync", "async"]}
    at = {"y": {**y, "scale": {"paddingInner": 0.3, "paddingOuter": 0.1}}, "yOffset": offset}
    grid = {"gridDash": [2, 3], "tickCount": 4, "labelExpr": "'× ' + datum.label"}
    x = _q("value", scale={"domainMin": 0}, axis=grid)
    middle = {"yOffset": {**offset, "bandPosition": 0.5}}
    return {
        "height": {"step": 34},
        "padding": {"left": 2, "right": 26, "top": 5, "bottom": 5},
        "layer": [
            {
                "mark": {"type": "bar", "cornerRadiusEnd": 3, "strokeWidth": 1.5},
                "encoding": {
                    **at,
                    "x": x,
                    "fill": HUE,
                    "stroke": HUE,
                    "fillOpacity": {
                        "condition": {"test": "datum.model === 'sync'", "value": 0.18},
                        "value": 0.85,
                    },
                    "strokeDash": DASH,
                },
            },
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "strokeWidth": 2, "color": "--ink"},
                "encoding": {**at, **middle, "x": _q("low"), "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "color": "--ink", "opacity": 1},
                "encoding": {**at, **middle, "x": x, "shape": SHAPE},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 9, "fontSize": 12, "color": "--ink"},
                "encoding": {**at, **middle, "x": _q("end"), "text": {"field": "text"}},
            },
        ],
    }


def forest() -> Spec:
    """Ratios with their intervals and words."""
    y = _n("name", sort=None, axis={"labelLimit": 300, "domain": False, "ticks": False, "labelPadding": 8})
    x = _q(
        "ratio",
        "ratio",
        scale={"type": "log", "nice": False, "padding": 14},
        axis={"tickCount": 5, "labelExpr": "datum.label ? '× ' + datum.label : ''"},
    )
    return {
        "height": {"step": 24},
        "layer": [
            {
                "mark": {"type": "rule", "color": "--muted", "strokeDash": [3, 3]},
                "encoding": {"x": {"datum": 1}},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"y": y, "x": _q("low"), "x2": {"field": "high"}, "color": HUE},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                "encoding": {"y": y, "x": x, "color": HUE},
            },
            {
                "transform": [{"filter": "isValid(datum.published)"}],
                "mark": {
                    "type": "point",
                    "shape": "diamond",
                    "size": 80,
                    "strokeWidth": 1.5,
                    "color": "--ink",
                },
                "encoding": {"y": y, "x": _q("published")},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 8, "fontSize": 12, "color": "--muted"},
                "encoding": {"y": y, "x": {"value": "width"}, "text": {"field": "word"}},
            },
        ],
    }


def _line(x: Spec, y: Spec, **more: Any) -> list[Spec]:
    """Lines with their markers, and each one's name at its end."""
    return [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "color": HUE, "strokeDash": DASH, **more},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 34, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": HUE, "shape": SHAPE, **more},
        },
        {
            "transform": [{"filter": "isValid(datum.label)"}],
            "mark": {"type": "text", "align": "left", "dx": 8, "fontSize": 12, "fontWeight": 600},
            "encoding": {"x": x, "y": _q("label_y"), "text": {"field": "label"}, "color": HUE},
        },
    ]


def percentiles() -> Spec:
    """Response time by percentile; each step to the right is a tenth of the requests."""
    names = (
        "{'2': 'p50', '10': 'p90', '100': 'p99', '1000': 'p99.9', '10000': 'p99.99'}['' + datum.value] || ''"
    )
    axis = {"values": [2, 10, 100, 1000, 10000], "labelExpr": names}
    x = _q("beyond", "percentile of the response time", scale={"type": "log", "nice": False}, axis=axis)
    y = _q("ms", "milliseconds", scale={"type": "log", "nice": False}, axis={"tickCount": 5})
    return {"height": 340, "layer": _line(x, y, detail={"field": "variant"})}


def sweep() -> Spec:
    """A figure against a setting."""
    x = _q("at", "value of the setting", scale={"type": "log", "nice": False}, axis={"tickCount": 5})
    y = _q("mean", "figure", scale={"type": "log", "nice": False}, axis={"tickCount": 5})
    band = {
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.6},
        "encoding": {
            "x": x,
            "y": _q("low", "figure", scale={"type": "log", "nice": False}),
            "y2": {"field": "high"},
            "color": HUE,
        },
    }
    return {"height": 340, "layer": [band, *_line(x, y, detail={"field": "variant"})]}


def roles() -> Spec:
    """Where the CPU time of one request goes; the line is the interval of the whole, which stands at the right."""
    y = _n("variant", sort=None, axis={"domain": False, "ticks": False, "labelPadding": 8, "labelLimit": 320})
    title = "CPU time of one request, µs"
    x = _q("us", title, stack="zero", axis={"tickCount": 6})
    order = {"field": "place"}
    return {
        "height": {"step": 34},
        "layer": [
            {
                "mark": {"type": "bar", "stroke": "--page", "strokeWidth": 1},
                "encoding": {"y": y, "x": x, "color": HUE, "order": order},
            },
            {
                "mark": {"type": "text", "fontSize": 11, "color": "--on-role"},
                "encoding": {
                    "y": y,
                    "x": {**x, "bandPosition": 0.5},
                    "text": {"condition": {"test": "datum.wide", "field": "role"}, "value": ""},
                    "order": order,
                    "detail": {"field": "role"},
                },
            },
            {
                "transform": [{"filter": "isValid(datum.low)"}],
                "mark": {"type": "rule", "strokeWidth": 2, "color": "--ink"},
                "encoding": {"y": y, "x": _q("low", title), "x2": {"field": "high"}},
            },
            {
                "transform": [{"filter": "isValid(datum.text)"}],
                "mark": {"type": "text", "align": "left", "dx": 8, "fontSize": 12, "color": "--ink"},
                "encoding": {"y": y, "x": {"value": "width"}, "text": {"field": "text"}},
            },
        ],
    }


def cost() -> Spec:
    """What a million requests cost at the reader's prices."""
    return {
        "height": {"step": 30},
        "layer": [
            {
                "mark": {"type": "bar", "stroke": "--page", "strokeWidth": 1},
                "encoding": {
                    "y": _n(
                        "variant",
                        sort=None,
                        axis={"domain": False, "ticks": False, "labelPadding": 8, "labelLimit": 220},
                    ),
                    "x": _q(
                        "cost", "cost of a million requests, in the currency of the prices", stack="zero"
                    ),
                    "color": HUE,
                    "order": {"field": "place"},
                },
            },
            {
                "mark": {"type": "text", "fontSize": 11, "color": "--on-role"},
                "encoding": {
                    "y": _n("variant", sort=None),
                    "x": _q("cost", stack="zero", bandPosition=0.5),
                    "text": {"condition": {"test": "datum.wide", "field": "role"}, "value": ""},
                    "order": {"field": "place"},
                    "detail": {"field": "role"},
                },
            },
        ],
    }


def _facets(field: str, x: Spec, layers: list[Spec]) -> Spec:
    return {
        "facet": {
            "row": {
                **_n(field),
                "header": {"orient": "top", "labelAnchor": "start", "labelFontWeight": 600, "title": None},
            }
        },
        "spec": {"height": 130, "layer": layers},
        "resolve": {"scale": {"y": "independent"}},
        "spacing": 14,
    }


def seconds() -> Spec:
    """One window second by second."""
    x = _q("second", "second of the load", scale={"nice": False}, axis={"tickMinStep": 1})
    y = _q("value", scale={"zero": True}, axis={"tickCount": 3})
    return _facets(
        "series",
        x,
        [
            {
                "mark": {"type": "line", "strokeWidth": 2, "interpolate": "step-after"},
                "encoding": {"x": x, "y": y, "color": HUE, "detail": {"field": "line"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 18},
                "encoding": {"x": x, "y": y, "color": HUE},
            },
        ],
    )


def load() -> Spec:
    """Goodput and response time against the offered load; what was not held is hollow."""
    x = _q("offered_rps", "offered load, 1/s", scale={"zero": True}, axis={"tickCount": 6})
    y = _q("value", scale={"type": "linear"}, axis={"tickCount": 4})
    fill = {"condition": {"test": "datum.state === 'held'", "field": "hue", "scale": None}, "value": "--page"}
    return _facets(
        "series",
        x,
        [
            {
                "mark": {"type": "rule", "color": "--muted", "strokeDash": [4, 3]},
                "encoding": {"x": {"aggregate": "max", "field": "capacity_rps", "type": "quantitative"}},
            },
            {
                "mark": {"type": "rule", "color": "--bad", "strokeDash": [2, 2]},
                "encoding": {"y": {"aggregate": "max", "field": "objective_ms", "type": "quantitative"}},
            },
            {"mark": {"type": "line", "strokeWidth": 1.5}, "encoding": {"x": x, "y": y, "color": HUE}},
            {
                "mark": {"type": "point", "size": 60, "strokeWidth": 2, "opacity": 1},
                "encoding": {"x": x, "y": y, "stroke": HUE, "fill": fill},
            },
        ],
    )


def history() -> Spec:
    """One nightly series: its ratios, and the sums that raise its alarms."""
    x = _q("night", "night of the series", scale={"nice": False}, axis={"tickMinStep": 1, "tickCount": 6})
    y = _q("value", scale={"zero": False}, axis={"tickCount": 4})
    passed = {"condition": {"test": "datum.alarm", "value": 90}, "value": 14}
    return _facets(
        "panel",
        x,
        [
            {
                "mark": {"type": "rule", "color": "--bad", "strokeDash": [4, 3]},
                "encoding": {"y": {"aggregate": "max", "field": "limit", "type": "quantitative"}},
            },
            {
                "mark": {"type": "line", "strokeWidth": 1.5},
                "encoding": {"x": x, "y": y, "color": HUE, "detail": {"field": "line"}},
            },
            {
                "mark": {"type": "point", "filled": True, "opacity": 1},
                "encoding": {
                    "x": x,
                    "y": y,
                    "size": passed,
                    "color": {"condition": {"test": "datum.alarm", "value": "--bad"}, **HUE},
                },
            },
        ],
    )


SPECS = {
    "hero": hero,
    "forest": forest,
    "percentiles": percentiles,
    "load": load,
    "sweep": sweep,
    "roles": roles,
    "seconds": seconds,
    "cost": cost,
    "history": history,
}
