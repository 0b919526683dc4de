"""The tables of the study of files: ours beside what was published, and what became of each claim. Pure."""

from collections.abc import Callable
from itertools import batched

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tandem.record.result import Result
from tandem.report.parts import host_line
from tandem.studies.files.conclusions import Counted, CountedRow
from tandem.studies.reproduce.figures import FIGURES
from tandem.studies.reproduce.report import (
    FIRST,
    FURTHER,
    NOTE,
    SENTENCE,
    STYLES,
    judged,
    of_what,
    ours,
    published_ratio,
    ratio_text,
)
from tandem.wording import BOTTLENECKS, number, time_spent

Column = tuple[str, Callable[[CountedRow], str], bool]
"""Heading, cell of a row, whether it is a number."""
CLAIMS = ("claim", "ratio", "published", "ours", "verdict")


def published(row: CountedRow, figure: str) -> str:
    """The document's figure; that of its other hosts in brackets."""
    digits = FIGURES[figure].digits
    others = [figures[figure] for figures in row.published_elsewhere.values() if figure in figures]
    told = number(row.published.get(figure), digits)
    return f"{told} ({', '.join(number(value, digits) for value in others)})" if others else told


def starts(row: CountedRow) -> str:
    """Good starts of all."""
    return str(row.starts) if row.starts_ok == row.starts else f"{row.starts_ok} of {row.starts}"


def limited(row: CountedRow) -> str:
    return BOTTLENECKS.get(row.bottleneck or "", row.bottleneck or "–")


def tables(found: Counted) -> list[list[Column]]:
    """The columns of each table: more than a few figures beside each other cannot be read."""
    shown = [found.columns[:FIRST], *batched(found.columns[FIRST:], FURTHER, strict=False)]
    out: list[list[Column]] = []
    for place, names in enumerate(shown):
        columns: list[Column] = [("row", lambda row: row.label, False)]
        if place == 0:
            columns.append(("starts", starts, True))
        for name in names:
            columns += _of_figure(found, name)
        if place == 0 and any(row.bottleneck for row in found.rows):
            columns.append(("limited by", limited, False))
        out.append(columns)
    return out


def _of_figure(found: Counted, name: str) -> list[Column]:
    """Ours; before it what was published, where there is any."""
    figure = FIGURES[name]
    heading = f"{figure.title}, {figure.unit}"
    columns: list[Column] = [
        (f"{heading}: ours", lambda row: ours(row.figures.get(name), figure.digits), True)
    ]
    if any(
        name in values for row in found.rows for values in (row.published, *row.published_elsewhere.values())
    ):
        columns.insert(0, (f"{heading}: published", lambda row: published(row, name), True))
    return columns


def notes(result: Result[Counted]) -> list[str]:
    """What is said under the tables."""
    found = result.conclusions
    out = [NOTE, f"published: {found.origin}; {found.published_host}"]
    elsewhere = list(dict.fromkeys(name for row in found.rows for name in row.published_elsewhere))
    if elsewhere:
        out.append(f"in brackets: {', '.join(elsewhere)}")
    out.append(f"ours: {host_line(result)}, seed {result.request.seed}")
    return out + [f"{row.label}: {row.note}" for row in found.rows if row.note]


def report(result: Result[Counted]) -> RenderableType:
    """All that is said at the end."""
    found = result.conclusions
    out: list[RenderableType] = []
    title = f"{found.experiment}: {found.title}; plan {result.request.plan}, {found.starts} fresh starts each"
    for columns in tables(found):
        table = Table(title="the same rows" if out else title, title_justify="left")
        for heading, _, is_number in columns:
            justify = "right" if is_number else "left"
            table.add_column(heading.replace(": ", "\n"), justify=justify, no_wrap=heading == "row")  # type: ignore[arg-type]
        for row in found.rows:
            table.add_row(*(cell(row) for _, cell, _ in columns))
        out.append(table)
    if found.claims:
        claims = Table(title="claims", title_justify="left")
        for heading in CLAIMS:
            claims.add_column(heading, justify="right" if heading in ("published", "ours") else "left")
        for claim in found.claims:
            verdict = Text(judged(claim), style=STYLES[claim.verdict])
            claims.add_row(claim.text, of_what(claim), published_ratio(claim), ratio_text(claim), verdict)
        out.append(claims)
    out += [Text(note, style="dim") for note in notes(result)]
    if found.sentence:
        out.append(Text(f"{SENTENCE}: {found.sentence}", style="bold"))
    out += [Text(reason, style="yellow") for reason in result.reasons]
    out += [Text(f"{row.label}: {text}", style="dim") for row in found.rows for text in row.warnings]
    out.append(Text(time_spent(result.phases_s), style="dim"))
    return Group(*out)


def markdown(result: Result[Counted]) -> str:
    """The tables for a page."""
    found = result.conclusions
    lines: list[str] = []
    for columns in tables(found):
        lines += [
            *([""] if lines else []),
            f"| {' | '.join(heading for heading, _, _ in columns)} |",
            f"| {' | '.join('---:' if is_number else '---' for _, _, is_number in columns)} |",
            *(f"| {' | '.join(cell(row) for _, cell, _ in columns)} |" for row in found.rows),
        ]
    if found.claims:
        lines += ["", f"| {' | '.join(CLAIMS)} |", "| --- | --- | ---: | ---: | --- |"]
        for claim in found.claims:
            cells = (claim.text, of_what(claim), published_ratio(claim), ratio_text(claim), judged(claim))
            lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *(f"{note}.  " for note in notes(result))]
    if found.sentence:
        lines += ["", f"**{SENTENCE}: {found.sentence}**"]
    return "\n".join(lines)
