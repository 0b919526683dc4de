"""The picture of how soon the judge of `just nightly` raises an alarm."""

import json

from documents.records import Records

COLOURS = {"1 %": "#d55e00", "2 %": "#009e73", "3 %": "#0072b2", "5 %": "#000000"}
"""Step -> its colour, of Okabe and Ito's, which can be told apart by everybody."""


def picture(records: Records) -> str:
    """The share of series that raised an alarm within so many nights, as SVG: a panel for each kind of series."""
    import altair as alt  # here, because loading it takes longer than all figures together
    import vl_convert

    found = json.loads((records.root / "results/reference-nightly/detection.json").read_text())["found"]
    values = [
        {"series": one["series"], "change": step, "night": night, "share": share}
        for one in found
        for step in COLOURS
        for night, share in enumerate(one["seen"][step], 1)
    ]
    colours = alt.Scale(range=[*COLOURS.values()])
    data = alt.Data(values=values)  # type: ignore[no-untyped-call]
    lines = (
        alt.Chart(data, width=250, height=150)
        .mark_line()
        .encode(
            x=alt.X("night:Q", title="nights after the step"),
            y=alt.Y("share:Q", title="series with an alarm", axis=alt.Axis(format="%")),
            color=alt.Color("change:N", title="step", sort=[*COLOURS], scale=colours),
            facet=alt.Facet("series:N", title=None, columns=2, sort=[one["series"] for one in found]),
        )
        .configure(background="white")
    )
    return str(vl_convert.vegalite_to_svg(lines.to_json())) + "\n"
