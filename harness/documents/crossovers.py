"""Figures of crossovers: who wins at which wait. Pure."""

from documents.explanations import NOT_MEASURED
from documents.records import Records
from tandem.report.markdown import of_terminal
from tandem.studies.crossover.report import cells_table, ratio, sentences


def cells(records: Records, name: str) -> str:
    """The table, as the command prints it."""
    found = records.crossover(name)
    return f"{NOT_MEASURED.capitalize()}." if found is None else of_terminal(cells_table(found))


def told(records: Records, name: str) -> str:
    """Who wins where."""
    found = records.crossover(name)
    return NOT_MEASURED if found is None else "; ".join(sentences(found.conclusions))


def at(records: Records, name: str, wait_ms: str, threads: str = "") -> str:
    """The ratio in one cell, with its interval. threads: of a row of a grid."""
    found = records.crossover(name)
    if found is None:
        return NOT_MEASURED
    cell = next(
        cell
        for cell in found.conclusions.cells
        if str(cell.at.wait_ms) == wait_ms and threads in ("", str(cell.at.threads))
    )
    return ratio(cell).replace("–", " to ")


def pairs(records: Records, *names: str) -> str:
    """Who wins where, a line for each of several."""
    return "\n".join(f"- `{name}`: {told(records, name)}." for name in names)
