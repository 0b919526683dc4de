"""A cross-check for people. Pure."""

from statistics import fmean

from rich.console import Group
from rich.text import Text

from tandem.facts.metric import metric
from tandem.record.conclusion import Contrast
from tandem.record.result import Result
from tandem.report.parts import findings, spent
from tandem.report.table import Column, table
from tandem.studies.crosscheck.conclusions import CRITERIA, GENERATORS, CrossChecked, means
from tandem.wording import number, ratio_with_interval

_STYLES = {"agree": "green", "disagree": "red", "undecided": "yellow", "not compared": "dim"}


def report(result: Result[CrossChecked]) -> Group:
    """The table that a person reads."""
    found, request = result.conclusions, result.request
    title = (
        f"{request.variants[0].label}, {request.scenario}: oha and vegeta at {number(found.rate_rps)}/s,"
        f" {found.pairs} pairs of {found.window_s:.0f} s"
    )

    def mean(place: int) -> Column[Contrast]:
        def cell(one: Contrast) -> str:
            both = means(one.metric, found.estimates)
            return number(both[place] if both else None, 2)

        return Column(GENERATORS[place], cell)

    def tolerance(one: Contrast) -> str:
        both = means(one.metric, found.estimates)
        return number(CRITERIA[one.metric].tolerance(fmean(both)) if both else None, 2)

    out = table(
        title,
        found.contrasts,
        Column("figure", lambda one: metric(one.metric).heading, text=True),
        mean(0),
        mean(1),
        Column("vegeta / oha", lambda one: ratio_with_interval(one.ratio, one.interval)),
        Column("tolerance", tolerance),
        Column("verdict", lambda one: Text(one.word or "", style=_STYLES[one.word or ""]), text=True),
    )
    left = f"{found.disturbed} disturbed pairs were left out. " if found.disturbed else ""
    note = f"{left}agree: the 95 % interval of the difference over the pairs lies within the tolerance"
    verdict = Text(f"the generators: {found.word}", style=_STYLES[found.word])
    notes = (Text(note, style="dim"), verdict, *map(Text, found.reasons))
    return Group(out, *notes, spent(result), *findings(result))
