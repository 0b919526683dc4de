"""The sessions of a statement as a forest plot: a line for each, their mean, and where the next one is expected. Pure.

Vega-Lite whose colours are the page's CSS variables; `tandem.report.picture.printable` puts those of a white page in their place.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tandem.facts.session import SessionRecord
from tandem.facts.statement import SESSIONS_LEAST, Draw, Known, by_model
from tandem.report.chart import HUE, PLAIN, Spec, category, interval, mark, quantity
from tandem.wording import basis_told, expected_told, times

type ForestRow = dict[str, Any]
type ForestPanel = tuple[tuple[str, str], list[ForestRow], Known]
"""Two lines of title, rows, and what they say together."""

HUES = ("--cpu-1", "--cpu-2", "--cpu-3", "--cpu-4", "--cpu-5")
"""Colours of the CPU models, in the order in which they were seen. Further ones have the last."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
SAYS = (
    "A line is a session with its own 95 % interval; colour, shape and name tell the CPU model. The band is where the next session is"
    " expected, the solid rule is the mean over the CPU models, the dashed one is 1. Hollow: the control of that session failed."
)
STEP, SMALL_STEP, SMALL_WIDTH = 24, 13, 215
POINT, SMALL_POINT = 60, 30
TICKS = tuple(digit * 10.0**power for power in range(-3, 4) for digit in (1, 1.2, 1.5, 2, 3, 5, 7))
PRINTED = {
    "background": "--card",
    "view": {"stroke": None},
    "padding": 10,
    "axis": {"labelColor": "--ink", "domainColor": "#c8ccd0", "tickColor": "#c8ccd0", "labelFontSize": 10},
    "title": {
        **{"anchor": "start", "frame": "group", "fontSize": 12, "subtitleFontSize": 10.5},
        **{"color": "--ink", "subtitleColor": "--muted", "offset": 6},
    },
}
"""How a picture of its own looks."""


def cpu_names(sessions: Sequence[SessionRecord]) -> dict[str, str]:
    """The id of a session -> its CPU model for people: its plain name where no other model has the same."""
    models = by_model([record.machine for record in sessions])
    plain = {model: record.machine.plain_name for record, model in zip(sessions, models, strict=True)}
    alike = Counter(plain.values())
    return {
        record.id: plain[model] if alike[plain[model]] == 1 else model
        for record, model in zip(sessions, models, strict=True)
    }


def rows(found: Sequence[Draw], cpus: Mapping[str, str]) -> list[ForestRow]:
    """A row for each session, those of one CPU model together. cpus: of cpu_names, over all that the pictures show."""
    places = list(dict.fromkeys(cpus.values()))
    out: list[ForestRow] = []
    taken = Counter[str]()
    for draw in sorted(found, key=lambda one: (places.index(cpus[one.session.id]), one.session.started_at)):
        record, contrast = draw.session, draw.contrast
        cpu = cpus[record.id]
        place = min(places.index(cpu), len(HUES) - 1)
        name = f"{cpu}, {record.started_at:%Y-%m-%d %H:%M}"
        taken[name] += 1
        failed = record.control is not None and contrast.metric in record.control.failed
        low, high = contrast.interval or (None, None)
        out.append(
            {
                "session": name if taken[name] == 1 else f"{name} ({taken[name]})",
                "CPU model": cpu,
                "started": f"{record.started_at:%Y-%m-%d %H:%M} UTC",
                "ratio": contrast.ratio,
                "low": low,
                "high": high,
                "blocks": contrast.n,
                "control": "failed" if failed else "passed" if record.control else "none",
                "commit": (record.commit or "")[:8],
                "hue": HUES[place],
                "_shape": SHAPES[place],
                "_text": times(contrast.ratio),
            }
        )
    return out


def domain(lines: Sequence[ForestRow], known: Sequence[Known]) -> tuple[float, float]:
    """The axis: 1 and all sessions are on it; the band of few sessions may go beyond it."""
    ends = [1.0, *(float(row[name] or row["ratio"]) for row in lines for name in ("low", "high", "ratio"))]
    for one in known:
        if one.expected is not None and one.sessions >= SESSIONS_LEAST:
            ends += one.expected
    return min(ends) / 1.03, max(ends) * 1.03


def _layers(
    lines: Sequence[ForestRow], known: Known, ends: tuple[float, float], y: Spec, size: int, title: str | None
) -> list[Spec]:
    """The marks of one plot. y: encoding of its sessions; size: of a point; title: of the axis of the ratios."""
    scale = {"type": "log", "nice": False, "domain": list(ends)}
    ticks = [tick for tick in TICKS if ends[0] <= tick <= ends[1]]
    axis = {"values": ticks, "labelExpr": "'× ' + datum.label", "grid": False}

    def x(field: str) -> Spec:
        return quantity(field, title, scale=scale, axis=axis)

    out = []
    if known.expected:
        band = {"low": max(known.expected[0], ends[0]), "high": min(known.expected[1], ends[1])}
        at = {"x": x("low"), "x2": {"field": "high"}}
        out.append(mark("rect", at, values=[band], color="--muted", opacity=0.16))
    out += [
        mark("rule", {"x": x("one")}, values=[{"one": 1}], color="--muted", strokeDash=[3, 3]),
        mark("rule", {"x": x("mean")}, values=[{"mean": known.ratio}], color="--ink", strokeWidth=1.5),
    ]
    if any(row["low"] is not None for row in lines):
        out.append(interval({"y": y, "x": x("low"), "color": HUE}, strokeWidth=2))
    hollow = {"condition": {"test": "datum.control === 'failed'", "value": "--card"}, **HUE}
    shape = {**HUE, "field": "_shape"}
    point = {"y": y, "x": x("ratio"), "stroke": HUE, "fill": hollow, "shape": shape}
    return [*out, mark("point", point, size=size, strokeWidth=2, opacity=1)]


def forest(lines: Sequence[ForestRow], known: Known) -> Spec:
    """One plot for the page, which sets width and theme. Its data are in it."""
    y = category("session", sort=None, axis={"labelLimit": 300, **PLAIN})
    title = "ratio; band: where the next session is expected"
    text = {"y": y, "x": {"value": "width"}, "text": {"field": "_text", "type": "nominal"}}
    return {
        "data": {"values": list(lines)},
        "height": STEP * len(lines),
        "layer": [
            *_layers(lines, known, domain(lines, [known]), y, POINT, title),
            mark("text", text, align="left", dx=8, fontSize=12, color="--muted"),
        ],
    }


def small_multiples(grid: Sequence[Sequence[ForestPanel | None]]) -> Spec:
    """A plot for each statement, in rows whose sessions stand beside each other; None leaves a place empty. All share an axis."""
    panels = [one for line in grid for one in line if one is not None]
    ends = domain([row for _, own, _ in panels for row in own], [known for *_, known in panels])
    lines = [line for line in grid if any(one is not None for one in line)]
    return {
        "vconcat": [{"hconcat": _line(line, ends), "spacing": 14} for line in lines],
        "spacing": 18,
        "config": PRINTED,
    }


def _line(line: Sequence[ForestPanel | None], ends: tuple[float, float]) -> list[Spec]:
    """The panels of one row. The first has the names of the sessions of all: a session has the same name in each."""
    order = {row["session"]: row for one in line if one is not None for row in one[1]}
    names = sorted(order, key=lambda name: (HUES.index(order[name]["hue"]), order[name]["started"]))
    size = {"width": SMALL_WIDTH, "height": SMALL_STEP * len(names)}
    missing = mark("text", {"text": {"value": "not measured"}}, values=[{}], color="--muted")
    out: list[Spec] = []
    for place, one in enumerate(line):
        if one is None:
            out.append({**missing, **size})
            continue
        title, own, known = one
        axis = {**PLAIN, "labelLimit": 260, "labelPadding": 6, "labels": place == 0}
        y = category("session", sort=names, scale={"domain": names}, axis=axis)
        out.append(
            {
                "title": {"text": list(title), "subtitle": [expected_told(known), f"({basis_told(known)})"]},
                "data": {"values": own},
                **size,
                "layer": _layers(own, known, ends, y, SMALL_POINT, None),
            }
        )
    return out
