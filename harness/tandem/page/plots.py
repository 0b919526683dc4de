"""The pictures of the page as Vega-Lite, each with its words, its controls and its rows. Pure.

The page fills in data, width, theme and the colours of the CSS variables. Hue is the language, dash and marker are the model, and
grey is what is not decided. https://vega.github.io/vega-lite/docs/
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tandem.page import rows
from tandem.page.data import PageRow
from tandem.page.lines import Line
from tandem.page.read import Run
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
    """CPU time of one request by role; the line is the interval of the whole, which stands at the right."""
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


RATIOS_MOST, DETAILED_MOST, SECONDS_MOST = 40, 12, 3
"""Results in the picture of the ratios; with percentiles, roles, loads and settings; with single seconds."""
RUN = {"run": "Result"}


@dataclass(frozen=True)
class Plot:
    """A picture."""

    name: str
    title: str
    says: str
    """What the picture shows, and what it does not."""
    remedy: str
    """What to run where there are no rows."""
    section: Literal["why", "explore", "prices"]
    """Section of the first page."""
    spec: Callable[[], Spec]
    rows: Callable[[Run, Sequence[Line]], Iterator[PageRow]] | None = None
    """Rows of one result; None: the picture's rows are of something else."""
    most: int = DETAILED_MOST
    """Number of the newest results that have rows and are in the picture of the first page."""
    rows_of: str = ""
    """The picture whose rows it draws; empty: its own."""
    selects: dict[str, str] = field(default_factory=RUN.copy)
    """Choices among the values of a column: column -> what it is called."""
    logs: dict[str, bool] = field(default_factory=dict)
    """Axes that can be logarithmic -> whether they begin so."""
    read: str = ""
    """The page that says how to read it."""

    @property
    def set(self) -> str:
        """The name of its rows."""
        return self.rows_of or self.name


PLOTS = (
    Plot(
        name="forest",
        title="Ratios with 95 % intervals",
        says="A point is the ratio of two variants within blocks of fresh starts. A hollow diamond is the published ratio."
        " Grey is not decided: an interval that contains 1 shows neither a difference nor that there is none.",
        remedy="just compare python-sync python-async",
        selects=RUN | {"figure": "Figure"},
        logs={"x": True},
        read="reference/comparing",
        section="explore",
        spec=forest,
        rows=rows.ratios,
        most=RATIOS_MOST,
    ),
    Plot(
        name="sweep",
        title="Figures against a setting",
        says="Mean and 95 % interval over fresh starts at each value. Lines connect the measured values and say"
        " nothing about the values between them.",
        remedy="just sweep rust-async python-sync --over connections=1..512",
        selects=RUN | {"figure": "Figure"},
        logs={"x": True, "y": True},
        read="reference/capacity-and-sweeps",
        section="explore",
        spec=sweep,
        rows=rows.sweep,
    ),
    Plot(
        name="load",
        title="Response time and goodput against the offered load",
        says="Measured at shares of the capacity that the search found. Dashed: that capacity. Dotted: the objective."
        " Hollow points: the load was not held, and less came back than was offered.",
        remedy="just capacity rust-async --slo p99=50ms",
        read="reference/capacity-and-sweeps",
        section="explore",
        spec=load,
        rows=rows.loads,
    ),
    Plot(
        name="roles",
        title="Where the CPU time of one request goes",
        says="Mean over the good closed windows of each variant, by role, without the load generator. At the right the whole and"
        " its ratio to the first variant, within blocks; the line is the 95 % interval of the whole. It does not show"
        " waiting: a request that waits uses no CPU.",
        remedy="just bench rust-async python-sync",
        read="reference/bottleneck",
        section="why",
        spec=roles,
        rows=rows.roles,
    ),
    Plot(
        name="percentiles",
        title="Response time by percentile",
        says="Open loop, the good windows of all fresh starts together. Each variant is loaded at a share of its own"
        " goodput, so the rates differ. A percentile with fewer than 100 samples beyond it is left out.",
        remedy="just bench rust-async python-sync",
        logs={"y": True},
        read="reference/load-and-windows",
        section="why",
        spec=percentiles,
        rows=rows.percentiles,
    ),
    Plot(
        name="history",
        title="Each night against the frozen image",
        says="Blue: today's image divided by the frozen one. Grey: the frozen image divided by itself, which should be 1. The third"
        " line, once another image was frozen: today's image divided by the first one. Below, from the 41st night on: the two sums"
        " (CUSUM), blue upwards and amber downwards. Where one passes the dashed line, the limit for all series of a night, it raises an"
        " alarm, in red. A vertical line: something new came under the programs, such as a kernel. An alarm is not a finding: a comparison of fresh blocks confirms it or not.",
        remedy="just nightly",
        selects={"run": "Machine", "of": "Series"},
        read="reference/nightly",
        section="why",
        spec=history,
    ),
    Plot(
        name="seconds",
        title="One window, second by second",
        says="Each second: CPU of each role, memory of the application, right answers, response times, and the CPU time that the"
        " hypervisor took (steal). Application dark blue, pooler light blue, database violet, proxy amber, generator and latency"
        " proxy grey. It shows bursts that a mean hides, but not their cause.",
        remedy="just bench rust-async",
        selects=RUN | {"window": "Window"},
        read="reference/load-and-windows",
        section="explore",
        spec=seconds,
        rows=rows.seconds,
        most=SECONDS_MOST,
    ),
    Plot(
        name="cost",
        rows_of="roles",
        title="What a million requests cost at your prices",
        says="CPU time of each role for a million requests, at the price of a core of its machine that is busy all month. It"
        " leaves out idle hours, memory, traffic and storage, so it is a lower bound.",
        remedy="just bench rust-async python-sync",
        section="prices",
        spec=cost,
    ),
)
"""The pictures, in the order in which the page of a result has them."""
OF_RESULTS = tuple(plot for plot in PLOTS if plot.rows)


def specs_of(sets: Collection[str]) -> dict[str, Spec]:
    """The Vega-Lite of the pictures that can be drawn from these rows."""
    found = {plot.name: plot.spec() for plot in PLOTS if plot.set in sets}
    return found | ({"hero": hero()} if "hero" in sets else {})
