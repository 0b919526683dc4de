"""Figures of the weekly self-test. Pure."""

from itertools import groupby

from documents.records import Records
from tandem.record.outcome import Outcome
from tandem.report.markdown import table
from tandem.selftest import registry

CLASSES = {"unit": ("unit",), "end to end": tuple(registry.END_TO_END)}
"""Which groups of checks belong to a class; the weekly one has all others."""
LONG = 100


def _short(text: str) -> str:
    """What was measured, without its details where these would fill a table."""
    return text if len(text) <= LONG else text.partition(" (")[0]


def _line(found: list[Outcome]) -> tuple[str, ...]:
    """One check, or the first of several that are alike."""
    first, times = found[0], f", {len(found)} times" if len(found) > 1 else ""
    return (first.name + times, _short(first.measured), first.tolerance, first.negative_control or "–")


def _of(records: Records, kind: str) -> list[list[Outcome]]:
    """The checks of a class, each with its repetitions. kind: `unit`, `end to end` or `weekly`."""
    groups = records.selftest()
    known = {group for names in CLASSES.values() for group in names}
    names = CLASSES.get(kind) or [group for group in groups if group not in known]
    return [
        list(same) for name in names for _, same in groupby(groups.get(name, []), key=lambda one: one.name)
    ]


def checks(records: Records, kind: str) -> str:
    """What each check of a class found."""
    return table(("check", "found", "tolerance", "negative control"), map(_line, _of(records, kind)))


def number(records: Records, kind: str) -> str:
    """How many checks a class has."""
    return str(len(_of(records, kind)))


def date(records: Records, kind: str) -> str:
    """The day of the weekly self-test, or of the latest one without --full: `end to end`."""
    return records.selftest_started(kind)


def found(records: Records, name: str, field: str) -> str:
    """`measured` or `negative_control` of one check."""
    outcomes = [one for group in records.selftest().values() for one in group]
    return str(getattr(next(one for one in outcomes if one.name == name), field))
