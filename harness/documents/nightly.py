"""Figures of the judge of `just nightly`: false alarms and delays. Pure but for drawing."""

from benchmarks.detection import CHANGES, ENOUGH, STEPS, Detection
from documents.records import Records
from documents.tables import percent
from tandem.report.markdown import table

COLOURS = ["#d55e00", "#009e73", "#0072b2", "#000000"]
"""Okabe and Ito's, which can be told apart by everybody."""


def _rarity(one: Detection, false_alarms: int) -> str:
    """One in so many nights; where there was none, more than were judged. Few real values have no tails: they do not tell."""
    nights = one.quiet_nights
    if one.values is not None and one.values < ENOUGH:
        return "too few values"
    return f"{nights / false_alarms:,.0f}" if false_alarms else f"over {nights:,}"


def _delay(one: Detection, what: str) -> str:
    half, most = one.within(what, 0.5), one.within(what, 0.9)
    return f"{half or '–'} / {most or '–'}"


def detection(records: Records) -> str:
    """How soon each change is noticed in each kind of series."""
    rows = [
        (
            one.series + ("" if one.values is None else f", {one.values} values"),
            percent(one.sd, 2),
            _rarity(one, one.false_alarms),
            *(_delay(one, what) for what in CHANGES),
        )
        for one in records.detections().found
    ]
    return table(("series", "scatter>", "nights per false alarm>", *(f"{what}>" for what in CHANGES)), rows)


def family(records: Records) -> str:
    """How rare false alarms of all series of a night together are, by the limit of the sum."""
    every = records.detections().families
    limits = [*every[0].nights]
    rows = [
        (
            one.series,
            f"{one.alone:,}",
            *(_nights(one.nights[limit]) for limit in limits),
            _nights(one.at_limit),
        )
        for one in every
    ]
    own = f"{every[0].limit:g} (in use)"
    return table(("series", "one alone, h = 3.5>", *(f"h = {limit}>" for limit in limits), f"{own}>"), rows)


def _nights(found: int | None) -> str:
    return "none" if found is None else f"{found:,}"


def family_delays(records: Records) -> str:
    """How soon a change is noticed at the limit for all series of a night."""
    rows = [
        (one.series, *(str(one.median[what] or "–") for what in CHANGES))
        for one in records.detections().families
    ]
    return table(("series", *(f"{what}>" for what in CHANGES)), rows)


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
