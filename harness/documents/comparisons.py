"""Figures of committed comparisons. Pure."""

from documents.records import Records
from documents.tables import times
from tandem.studies.compare.conclusions import METRICS, ComparedRatio, second
from tandem.studies.compare.report import told
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


def mean(records: Records, folder: str, variant: str, metric: str) -> str:
    value = number(_mean(records, folder, variant, metric))
    return f"{value}/s" if metric == "goodput_rps" else f"{value} µs"
