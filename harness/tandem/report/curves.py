"""Draws figures against a coordinate that takes several values, as SVG, with linear and with logarithmic axes."""

from collections.abc import Sequence
from typing import Any, Literal

from tandem.facts.metric import METRICS
from tandem.record.conclusion import Estimate
from tandem.report.chart import Spec, category, mark, quantity
from tandem.report.picture import drawn

PLOTTED = (
    *("goodput_rps", "service_time_mean_ms", "mean_ms", "p50_ms", "p90_ms"),
    *("anonymous_memory_mib", "cpu_percent"),
)
type Scale = Literal["linear", "log"]
SCALES: tuple[Scale, ...] = ("linear", "log")
WIDTH, HEIGHT = 560, 320
VALUES_LEAST = 3
"""Values that make a curve."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Okabe and Ito's, which can be told apart by everybody."""


def axis_of(estimates: Sequence[Estimate]) -> str | None:
    """The coordinate with the most numeric values; None where none has as many as make a curve."""
    values: dict[str, set[float]] = {}
    for one in estimates:
        for name, value in one.coordinates.items():
            if isinstance(value, int | float):
                values.setdefault(name, set()).add(value)
    longest = max(values, key=lambda one: len(values[one]), default=None)
    return longest if longest is not None and len(values[longest]) >= VALUES_LEAST else None


def rows(estimates: Sequence[Estimate], axis: str, metric: str, scale: Scale) -> list[dict[str, Any]]:
    """The data of a plot, along the axis; what was not measured is left out, and 0 where a logarithm is taken."""
    known = [
        {"variant": one.variant, axis: one.coordinates[axis], "value": one.mean}
        for one in estimates
        if one.metric == metric and one.mean is not None and [*one.coordinates] == [axis]
        if scale == "linear" or (one.mean > 0 and one.coordinates[axis])
    ]
    return sorted(known, key=lambda row: (row["variant"], row[axis]))


def chart(estimates: Sequence[Estimate], axis: str, metric: str, scale: Scale) -> Spec:
    """A line and its points for each variant."""
    order = list(dict.fromkeys(one.variant for one in estimates))
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(order))]
    along, title = axis.replace("_", " "), METRICS[metric].heading
    at = {
        "x": quantity(axis, along, scale={"type": scale}),
        "y": quantity("value", title, scale={"type": scale}),
        "color": category("variant", sort=order, scale={"domain": order, "range": colours}),
    }
    shape = category("variant", sort=order, scale={"domain": order})
    layers = [mark("line", at), mark("point", {**at, "shape": shape}, filled=True, size=50)]
    title = f"{title} against {along} ({scale} axes)"
    drawn = {"data": {"values": rows(estimates, axis, metric, scale)}, "layer": layers, "title": title}
    return {**drawn, "width": WIDTH, "height": HEIGHT, "background": "white"}


def files(estimates: Sequence[Estimate]) -> dict[str, str]:
    """Every plot of which there is anything to see: the name of its file -> its text."""
    axis = axis_of(estimates)
    if axis is None:
        return {}
    return {
        f"{metric}-{scale}.svg": drawn(chart(estimates, axis, metric, scale))
        for metric in PLOTTED
        for scale in SCALES
        if rows(estimates, axis, metric, scale)
    }
