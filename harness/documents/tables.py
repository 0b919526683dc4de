"""Tables and numbers as the documents write them. Pure."""

import re
from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from tandem.analysis.ratios import Ratio


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


def of_terminal(shown: Table) -> str:
    """The same table as a command prints it."""

    def text(cell: object) -> str:
        return cell.plain if isinstance(cell, Text) else str(cell)

    headings = [
        text(column.header).replace("\n", ", ") + (">" if column.justify == "right" else "")
        for column in shown.columns
    ]
    cells = [[text(cell) for cell in column.cells] for column in shown.columns]
    return table(headings, zip(*cells, strict=True))


def percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %"


def span(values: Sequence[float], digits: int = 0) -> str:
    """The least and the greatest."""
    return f"{min(values):,.{digits}f} to {max(values):,.{digits}f}"


def times(ratio: Ratio, digits: int = 2) -> str:
    """× 1.57 (1.25 to 1.98), with the 95 % interval."""
    if ratio.ratio is None:
        return "–"
    told = f"× {ratio.ratio:,.{digits}f}"
    if ratio.interval is None:
        return told
    low, high = ratio.interval
    return f"{told} ({low:,.{digits}f} to {high:,.{digits}f})"
