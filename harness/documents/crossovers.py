"""Figures of crossovers: who wins at which wait. Pure."""

from documents.records import Records
from tandem.report.markdown import of_terminal
from tandem.studies.crossover.report import cells_table, sentences

NOT_MEASURED = "not measured"


def cells(records: Records, name: str) -> str:
    """The table, as the command prints it."""
    found = records.crossover(name)
    return f"{NOT_MEASURED.capitalize()}." if found is None else of_terminal(cells_table(found))


def told(records: Records, name: str) -> str:
    """Who wins where."""
    found = records.crossover(name)
    return NOT_MEASURED if found is None else "; ".join(sentences(found.conclusions))
