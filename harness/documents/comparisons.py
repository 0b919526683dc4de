"""Figures of committed comparisons. Pure."""

from rich.table import Table

from documents.records import Records
from documents.tables import times
from tandem.report.markdown import of_terminal
from tandem.studies.compare.conclusions import METRICS, ComparedRatio, second
from tandem.studies.compare.report import COLUMNS, tables, told
from tandem.wording import number


def _compared(records: Records, folder: str, variant: str, metric: str) -> ComparedRatio:
    found = records.comparison(folder).conclusions
    if variant == second(found.reference):
        return found.same_against_itself[metric]
    return next(entry for entry in found.entries if entry.variant == variant).against_reference[metric]


def _mean(records: Records, folder: str, variant: str, metric: str) -> float:
    entries = records.comparison(folder).conclusions.entries
    value = next(entry for entry in entries if entry.variant == variant).means[metric]
    if value is None:
        raise ValueError(f"{variant} has no {metric}")
    return value


def compared_table(records: Records, folder: str, metric: str) -> str:
    """The table of one metric, as `just report` prints it."""
    shown = [one for one in tables(records.comparison(folder)) if isinstance(one, Table)]
    return of_terminal(next(one for one in shown if str(one.title).startswith(f"{COLUMNS[metric][0]}:")))


def compared(records: Records, folder: str, variant: str, metric: str) -> str:
    """The ratio to the baseline with its interval."""
    return times(_compared(records, folder, variant, metric).ratio, 3)


def word(records: Records, folder: str, variant: str, metric: str) -> str:
    """The verdict, with its size."""
    return told(_compared(records, folder, variant, metric), METRICS[metric].better)


def setting(records: Records, implementation: str, changed: str, metric: str) -> str:
    """The ratio with one setting changed, such as `DB_PREPARE=0`, to the implementation as it ships."""
    entries = records.settings(implementation).conclusions.entries
    found = next(entry for entry in entries if entry.variant == f"{implementation}:{changed}")
    return times(found.against_reference[metric].ratio)


def by_mode(records: Records, folder: str, variant: str, mode: str) -> str:
    """The ratio to the baseline of the time in user mode, or in the kernel, with its interval."""
    return times(records.by_mode(folder, variant, mode), 3)


def mean(records: Records, folder: str, variant: str, metric: str) -> str:
    value = number(_mean(records, folder, variant, metric))
    return f"{value}/s" if metric == "goodput_rps" else f"{value} µs"


def length(records: Records, folder: str) -> str:
    found = records.comparison(folder)
    return f"{(found.finished_at - found.started_at).total_seconds() / 60:.0f} minutes"
