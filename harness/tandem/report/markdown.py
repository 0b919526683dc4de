"""Reports and their tables as Markdown. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tandem.record.result import Result
from tandem.report.parts import conditions_line, host_line
from tandem.report.picture import Picture
from tandem.wording import counted

TAG = r"<(?=[a-zA-Z/!])"
"""The beginning of what GitHub takes for a tag."""


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table. A heading that ends in `>` is that of a column of numbers."""
    lines = [
        f"| {' | '.join(heading.removesuffix('>') for heading in headings)} |",
        f"| {' | '.join('---:' if heading.endswith('>') else '---' for heading in headings)} |",
    ]
    return "\n".join([*lines, *(f"|{'|'.join(map(_cell, row))}|" for row in rows)])


def _cell(text: str) -> str:
    """`<Mutex>` is a tag to GitHub, and `|` the next cell."""
    return f" {re.sub(r'<(?!br>)', '&lt;', text).replace('|', '/')} " if text else " "


def of_terminal(shown: Table, places: Sequence[int] = ()) -> str:
    """Turn a table of the terminal into one of Markdown. places: the columns that are kept; empty: all."""
    headings, rows, numbers = cells(shown)
    kept = places or range(len(headings))
    marked = [headings[place].strip() + (">" if numbers[place] else "") for place in kept]
    return table(marked, [[row[place] for place in kept] for row in rows])


def _parts_in(shown: RenderableType) -> Iterator[Table | Text | Picture]:
    if isinstance(shown, Group):
        for part in shown.renderables:
            yield from _parts_in(part)
    else:
        yield shown if isinstance(shown, Table | Text | Picture) else Text(str(shown))


def parts_in(shown: RenderableType) -> Iterator[Table | Text]:
    """The tables and the sentences of a report, in their order."""
    return (part for part in _parts_in(shown) if not isinstance(part, Picture))


def pictures_in(shown: RenderableType) -> list[Picture]:
    """The pictures of a report."""
    return [part for part in _parts_in(shown) if isinstance(part, Picture)]


def tables_in(shown: RenderableType) -> Iterator[Table]:
    """The tables of a report, in their order."""
    return (part for part in parts_in(shown) if isinstance(part, Table))


def cells(shown: Table) -> tuple[list[str], list[list[str]], list[bool]]:
    """Headings, rows, and which columns are numbers."""

    def text(cell: object) -> str:
        return cell.plain if isinstance(cell, Text) else str(cell)

    headings = [text(column.header).replace("\n", " ") for column in shown.columns]
    columns = [[text(cell) for cell in column.cells] for column in shown.columns]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return headings, rows, [column.justify == "right" for column in shown.columns]


def _sentence(text: Text) -> str:
    """A sentence as Markdown: bold where it is bold on a terminal."""
    mark = "**" if "bold" in str(text.style).split() else ""
    lines = filter(None, map(str.strip, text.plain.splitlines()))
    return "  \n".join(f"{mark}{re.sub(TAG, '&lt;', line)}{mark}" for line in lines)


def of_report(shown: RenderableType) -> str:
    """A report as Markdown: its tables, each under its title, and its sentences."""
    parts: list[str] = []
    for part in parts_in(shown):
        parts += [str(part.title or ""), of_terminal(part)] if isinstance(part, Table) else [_sentence(part)]
    return "\n\n".join(filter(None, parts))


def of_result(report: RenderableType, result: Result[Any]) -> str:
    """The report of a result for a page; its last line says when, where and how it was made."""
    made, asked = counted(sum(result.trials.values()), "trials"), result.request
    return f"{of_report(report)}\n\n{host_line(result)}; {conditions_line(asked)}, {made}, seed {asked.seed}."
