"""A cross-check for people. Pure."""

from statistics import fmean

from rich.console import Group
from rich.text import Text

from tandem.facts.metric import metric
from tandem.record.result import Result
from tandem.report.parts import findings, spent, table
from tandem.studies.crosscheck.conclusions import CRITERIA, CrossChecked, means
from tandem.wording import number, ratio_with_interval

_STYLES = {"agree": "green", "disagree": "red", "undecided": "yellow", "not compared": "dim"}


def report(result: Result[CrossChecked]) -> Group:
    """The table that a person reads."""
    found, request = result.conclusions, result.request
    title = (
        f"{request.variants[0].label}, {request.scenario}: oha and vegeta at {number(found.rate_rps)}/s,"
        f" {found.pairs} pairs of {found.window_s:.0f} s"
    )
    columns = ("figure", "oha", "vegeta", "vegeta / oha", "tolerance", "verdict")
    out = table(title, *columns, left=("figure", "verdict"))
    for one in found.contrasts:
        both = means(one.metric, found.estimates)
        tolerance = CRITERIA[one.metric].tolerance(fmean(both)) if both else None
        out.add_row(
            metric(one.metric).heading,
            *(number(mean, 2) for mean in both or (None, None)),
            ratio_with_interval(one.ratio, one.interval),
            number(tolerance, 2),
            Text(one.word or "", style=_STYLES[one.word or ""]),
        )
    left = f"{found.disturbed} disturbed pairs were left out. " if found.disturbed else ""
    note = f"{left}agree: the 95 % interval of the difference over the pairs lies within the tolerance"
    verdict = Text(f"the generators: {found.word}", style=_STYLES[found.word])
    notes = (Text(note, style="dim"), verdict, *map(Text, found.reasons))
    return Group(out, *notes, spent(result), *findings(result))
