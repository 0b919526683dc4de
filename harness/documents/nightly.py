"""The picture of how soon the judge of `just nightly` raises an alarm."""

from benchmarks.detection import STEPS
from documents.records import Records

COLOURS = ["#d55e00", "#009e73", "#0072b2", "#000000"]
"""Okabe and Ito's, which can be told apart by everybody."""


def picture(records: Records) -> str:
    """The share of series that raised an alarm within so many nights, as SVG: a panel for each kind of series."""
    import altair as alt  # here, because loading it takes longer than all figures together
    import vl_convert

    values = [
        {"series": one.series, "change": what, "night": night, "share": share}
        for one in records.detections().found
        for what in STEPS
        for night, share in enumerate(one.seen[what], 1)
    ]
    panels = [one.series for one in records.detections().found]
    data = alt.Data(values=values)  # type: ignore[no-untyped-call]
    lines = (
        alt.Chart(data, width=250, height=150)
        .mark_line()
        .encode(
            x=alt.X("night:Q", title="nights after the step"),
            y=alt.Y("share:Q", title="series with an alarm", axis=alt.Axis(format="%")),
            color=alt.Color("change:N", title="step", sort=list(STEPS), scale=alt.Scale(range=COLOURS)),
            facet=alt.Facet("series:N", title=None, columns=2, sort=panels),
        )
        .configure(background="white")
    )
    return str(vl_convert.vegalite_to_svg(lines.to_json())) + "\n"
