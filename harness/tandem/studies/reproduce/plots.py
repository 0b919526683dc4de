"""Draws what was measured against the number of connections, as SVG, with linear and with logarithmic axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tandem.studies.reproduce.figures import FIGURES

PLOTTED = ("goodput_rps", "mean_ms", "p50_ms", "p90_ms", "anonymous_memory_mib", "cpu_percent")
SCALES: tuple[Literal["linear", "log"], ...] = ("linear", "log")
WIDTH, HEIGHT = 560, 320
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Okabe and Ito's, which can be told apart by everybody."""


@dataclass(frozen=True)
class PlotPoint:
    """One implementation under so many connections."""

    implementation: str
    connections: int
    figures: dict[str, float]


def name(figure: str, scale: str) -> str:
    """The file of a plot."""
    return f"{figure}-{scale}.svg"


def rows(points: Sequence[PlotPoint], figure: str, scale: str) -> list[dict[str, Any]]:
    """The data of a plot, by connections; what was not measured is left out, and 0 where a logarithm is taken."""
    known = [
        {"implementation": p.implementation, "connections": p.connections, "value": p.figures[figure]}
        for p in points
        if figure in p.figures and (scale == "linear" or p.figures[figure] > 0)
    ]
    return sorted(known, key=lambda row: (row["implementation"], row["connections"]))


def chart(points: Sequence[PlotPoint], figure: str, scale: Literal["linear", "log"]) -> str:
    """A line and its points for each implementation, as Vega-Lite."""
    import altair as alt  # here, because loading it takes longer than most commands

    known = FIGURES[figure]
    implementations = list(dict.fromkeys(point.implementation for point in points))
    axis = f"{known.title}, {known.unit}" if known.unit else known.title
    data = alt.Data(values=rows(points, figure, scale))  # type: ignore[no-untyped-call]
    base = alt.Chart(data).encode(
        x=alt.X("connections:Q", title="connections").scale(type=scale),
        y=alt.Y("value:Q", title=axis).scale(type=scale),
        color=alt.Color("implementation:N", title=None, sort=implementations).scale(
            domain=implementations, range=list(COLOURS[: len(implementations)])
        ),
    )
    shape = alt.Shape("implementation:N", title=None, sort=implementations).scale(domain=implementations)
    layers = alt.layer(base.mark_line(), base.encode(shape=shape).mark_point(filled=True, size=50))
    title = f"{axis} against connections ({scale} axes)"
    drawn = layers.properties(width=WIDTH, height=HEIGHT, title=title).configure(background="white")
    return str(drawn.to_json())


def svg(points: Sequence[PlotPoint], figure: str, scale: Literal["linear", "log"]) -> str:
    """The plot as SVG text."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart(points, figure, scale)))


def files(points: Sequence[PlotPoint]) -> dict[str, str]:
    """Every plot of which there is anything to see: the name of its file -> its text."""
    return {
        name(figure, scale): svg(points, figure, scale) + "\n"
        for figure in PLOTTED
        for scale in SCALES
        if rows(points, figure, scale)
    }
