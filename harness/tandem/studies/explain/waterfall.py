"""Draws a gap as a waterfall, as SVG: from A's goodput to B's, a step for each factor."""

from typing import Any

from tandem.studies.explain.conclusions import Explained, Explanation
from tandem.studies.explain.design import PROGRAMS
from tandem.wording import times

NAME = "waterfall.svg"
WIDTH, HEIGHT = 560, 26
"""Of the axis; of each bar."""
COLOURS = {
    "end": "#666666",
    "settings, more": "#0072b2",
    "settings, less": "#d55e00",
    "the programs": "#009e73",
}
"""Okabe and Ito's, which can be told apart by everybody."""


def rows(told: Explained, found: Explanation) -> list[dict[str, Any]]:
    """The bars, from the top: where each begins and ends in requests per second, and what it is called."""
    rate = told.cells[0].goodput_rps  # the beginning of the bridge
    assert rate is not None
    start = rate
    bars = [
        {"name": f"{told.a}, as it is", "from": rate, "to": rate, "text": f"{rate:,.0f}/s", "kind": "end"}
    ]
    for share in found.factors:
        end = rate * share.ratio
        kind = "the programs" if share.name == PROGRAMS else f"settings, {'more' if end >= rate else 'less'}"
        side = "" if share.name == PROGRAMS else f" ({share.leg.removeprefix('settings of ')})"
        bars.append(
            {
                "name": share.name + side,
                "from": min(rate, end),
                "to": max(rate, end),
                "text": times(share.ratio, share.bound),
                "kind": kind,
            }
        )
        rate = end
    bars.append(
        {"name": f"{told.b}, as it is ", "from": rate, "to": rate, "text": f"{rate:,.0f}/s", "kind": "end"}
    )
    assert abs(rate / start - found.gap) < 1e-3 * found.gap
    return bars


def chart(told: Explained, found: Explanation) -> str:
    """As Vega-Lite. The axis is logarithmic, so that equal factors are equally long."""
    import altair as alt  # here, because loading it takes longer than most commands

    bars = rows(told, found)
    data = alt.Data(values=bars)  # type: ignore[no-untyped-call]
    y = alt.Y("name:N", title=None, sort=[bar["name"] for bar in bars]).axis(labelLimit=320)
    axis = alt.X("from:Q", title="goodput, 1/s").scale(type="log", nice=False, padding=24)
    colour = alt.Color("kind:N", title=None).scale(domain=list(COLOURS), range=list(COLOURS.values()))
    base = alt.Chart(data).encode(y=y)
    steps = base.encode(x=axis, x2="to:Q", color=colour).mark_bar(height=14, minBandSize=3)
    ends = (
        base.transform_filter("datum.kind === 'end'")
        .encode(x=axis, color=colour)
        .mark_tick(thickness=4, size=16)
    )
    texts = base.encode(x=alt.X("to:Q"), text="text:N").mark_text(align="left", dx=6)
    drawn = alt.layer(steps, ends, texts).properties(
        width=WIDTH,
        height=HEIGHT * len(bars),
        title=f"{told.b} answers × {found.gap:.2f} as much as {told.a}: the factors of that ratio",
    )
    return str(drawn.configure(background="white").to_json())


def svg(told: Explained, found: Explanation) -> str:
    """The figure as SVG text."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart(told, found)))
