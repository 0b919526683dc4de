"""A cross-check for people. Pure."""

from rich.console import Group
from rich.text import Text

from tandem.facts.metric import metric
from tandem.record.result import Result
from tandem.report.parts import findings, spent
from tandem.report.table import Column, table
from tandem.studies.crosscheck.conclusions import CRITERIA, OHA, VEGETA, CrossChecked, means
from tandem.wording import number, ratio_with_interval

_STYLES = {"agree": "green", "disagree": "red", "undecided": "yellow", "not compared": "dim"}


def report(result: Result[CrossChecked]) -> Group:
    """The table that a person reads."""
    found, request = result.conclusions, result.request
    out = table(
        f"{request.variants[0].label}, {request.scenario}: oha and vegeta at {number(found.rate_rps)}/s,"
        f" {found.pairs} pairs of {found.window_s:.0f} s",
        [(one, means(one.metric, found.estimates), CRITERIA[one.metric]) for one in found.contrasts],
        Column("figure", lambda row: metric(row[0].metric).heading, text=True),
        Column(OHA, lambda row: number(row[1][0] if row[1] else None, 2)),
        Column(VEGETA, lambda row: number(row[1][1] if row[1] else None, 2)),
        Column("vegeta / oha", lambda row: ratio_with_interval(row[0].ratio, row[0].interval)),
        Column("tolerance", lambda row: number(row[2].tolerance(row[1]) if row[1] else None, 2)),
        Column("verdict", lambda row: Text(row[0].word or "", style=_STYLES[row[0].word or ""]), text=True),
    )
    left = f"{found.disturbed} disturbed pairs were left out. " if found.disturbed else ""
    note = f"{left}agree: the 95 % interval of the difference over the pairs lies within the tolerance"
    verdict = Text(f"the generators: {found.word}", style=_STYLES[found.word])
    notes = (Text(note, style="dim"), verdict, *map(Text, found.reasons))
    return Group(out, *notes, spent(result), *findings(result))
