"""Draws what was measured against the number of connections, as SVG, with linear and with logarithmic axes."""

from typing import Any, Literal

from tandem.facts.metric import METRICS
from tandem.studies.reproduce.conclusions import Reproduced

PLOTTED = ("goodput_rps", "mean_ms", "p50_ms", "p90_ms", "anonymous_memory_mib", "cpu_percent")
type Scale = Literal["linear", "log"]
SCALES: tuple[Scale, ...] = ("linear", "log")
WIDTH, HEIGHT = 560, 320
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Okabe and Ito's, which can be told apart by everybody."""


def rows(found: Reproduced, metric: str, scale: Scale) -> list[dict[str, Any]]:
    """The data of a plot, by connections; what was not measured is left out, and 0 where a logarithm is taken."""
    known = [
        {"implementation": one.variant, "connections": one.coordinates["connections"], "value": one.mean}
        for one in found.estimates
        if one.metric == metric and one.mean is not None and "connections" in one.coordinates
        if scale == "linear" or one.mean > 0
    ]
    return sorted(known, key=lambda row: (row["implementation"], row["connections"]))


def chart(found: Reproduced, metric: str, scale: Scale) -> str:
    """A line and its points for each implementation, as Vega-Lite."""
    import altair as alt  # here, because loading it takes longer than most commands

    data = rows(found, metric, scale)
    order = list(dict.fromkeys(one.variant for one in found.estimates))
    axis, values = METRICS[metric].heading, alt.Data(values=data)  # type: ignore[no-untyped-call]
    base = alt.Chart(values).encode(
        x=alt.X("connections:Q", title="connections").scale(type=scale),
        y=alt.Y("value:Q", title=axis).scale(type=scale),
        color=alt.Color("implementation:N", title=None, sort=order).scale(
            domain=order, range=list(COLOURS[: len(order)])
        ),
    )
    shape = alt.Shape("implementation:N", title=None, sort=order).scale(domain=order)
    layers = alt.layer(base.mark_line(), base.encode(shape=shape).mark_point(filled=True, size=50))
    title = f"{axis} against connections ({scale} axes)"
    drawn = layers.properties(width=WIDTH, height=HEIGHT, title=title).configure(background="white")
    return str(drawn.to_json())


def files(found: Reproduced) -> dict[str, str]:
    """Every plot of which there is anything to see: the name of its file -> its text."""
    if not any("connections" in one.coordinates for one in found.estimates):
        return {}
    import vl_convert

    return {
        f"{metric}-{scale}.svg": str(vl_convert.vegalite_to_svg(chart(found, metric, scale))) + "\n"
        for metric in PLOTTED
        for scale in SCALES
        if rows(found, metric, scale)
    }
