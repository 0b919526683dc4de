"""The picture of light requests beside heavy ones."""

from documents.records import Records
from tandem.analysis.histogram import curve
from tandem.record.window import Verdict

MIXED = {name: f"comparisons/mixed-{name.lower()}" for name in ("Python", "Rust", "Java")}
"""Panel -> the record of a mix; its first variant is the sync one."""
SHARES = [10 ** (-step / 10) for step in range(3, 31)]
"""Of requests that take longer, from half of them to one in a thousand."""


def picture(records: Records) -> str:
    """The share of light requests that take longer than so many milliseconds, as SVG: a panel for each record, a line for each
    variant, over all its good windows at the equal rate."""
    import altair as alt  # here, because loading it takes longer than all figures together
    import vl_convert

    values = [
        {"panel": panel, "program": label, "ms": ms, "longer": 1 - q}
        for panel, folder in MIXED.items()
        for label, found in _light(records, folder).items()
        for q, ms in curve(found, [1 - share for share in SHARES])
    ]
    data = alt.Data(values=values)  # type: ignore[no-untyped-call]
    base = alt.Chart(data, width=240, height=170).mark_line()
    lines = base.encode(
        x=alt.X("ms:Q", title="light requests: response time, ms", scale=alt.Scale(type="log", nice=False)),
        y=alt.Y(
            "longer:Q",
            title="that take longer",
            scale=alt.Scale(type="log", domain=[SHARES[-1], SHARES[0]]),
            axis=alt.Axis(format="~%", values=[0.5, 0.1, 0.01, 0.001]),
        ),
        color=alt.Color(
            "program:N",
            title=None,
            sort=None,
            scale=alt.Scale(scheme="dark2"),
            legend=alt.Legend(labelLimit=300, orient="bottom"),
        ),
        facet=alt.Facet("panel:N", title=None, columns=3, sort=[*MIXED]),
    ).configure(background="white")
    return str(vl_convert.vegalite_to_svg(lines.to_json())) + "\n"


def _light(records: Records, folder: str) -> dict[str, list[str]]:
    """Response times of the light requests, the first class of the mix: variant -> a histogram of each good window."""
    _, result, trials = records.read(folder)
    asked = [one.label for one in result.request.variants]
    found: dict[str, list[str]] = {label: [] for label in asked}
    for trial in trials:
        for label, window in (one for made in trial.made for one in made.windows.items()):
            light = window.classes[0] if window.classes and window.verdict is Verdict.OK else None
            if label in found and light is not None and light.response_time_hdr is not None:
                found[label].append(light.response_time_hdr)
    return found
