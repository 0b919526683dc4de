"""A cross-check for people. Pure."""

from typing import Any

from rich.console import Group
from rich.text import Text

from tandem.record.result import Result
from tandem.report.parts import findings, spent, table
from tandem.studies.crosscheck.conclusions import CrossChecked
from tandem.wording import number

_STYLES = {"agree": "green", "disagree": "red", "undecided": "yellow", "not compared": "dim"}


def report(result: Result[CrossChecked]) -> Group:
    """The table that a person reads."""
    found, request = result.conclusions, result.request
    title = (
        f"{request.variants[0].label}, {request.scenario}: oha and vegeta at {number(found.rate_rps)}/s,"
        f" {found.pairs} pairs of {found.window_s:.0f} s"
    )
    columns = ("figure", "oha", "vegeta", "difference", "tolerance", "verdict")
    out = table(title, *columns, left=("figure", "verdict"))
    for row in found.comparisons:
        spread = (row.interval[1] - row.interval[0]) / 2 if row.interval else None
        difference = "–" if row.difference is None else f"{row.difference:+.2f} ± {number(spread, 2)}"
        out.add_row(
            row.figure,
            number(row.oha, 2),
            number(row.vegeta, 2),
            difference,
            number(row.tolerance, 2),
            Text(row.verdict, style=_STYLES[row.verdict]),
        )
    left = f"{found.disturbed} disturbed pairs were left out. " if found.disturbed else ""
    note = f"{left}difference: vegeta's minus oha's, with the half-width of its 95 % interval over the pairs"
    verdict = Text(f"the generators: {found.word}", style=_STYLES[found.word])
    notes = (Text(note, style="dim"), verdict, *map(Text, found.reasons))
    return Group(out, *notes, spent(result), *findings(result))


def headline(conclusions: dict[str, Any]) -> str:
    """The word. conclusions: as result.json has them."""
    return f"the generators: {conclusions['word']}, {conclusions['pairs']} pairs"
