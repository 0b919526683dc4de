"""Figures of the weekly self-test. Pure but for reading."""

from itertools import groupby
from pathlib import Path

from documents.records import Records
from tandem.record.selftest import FILE as LATEST
from tandem.record.selftest import Outcome, Selftest
from tandem.report.markdown import table
from tandem.selftest import registry
from tandem.selftest.session import FILE as WEEKLY
from tandem.selftest.session import Progress

FOLDER, LONG = "results/reference-selftest", 100
"""Characters of what was measured; more of them would fill a table."""


def _read(root: Path) -> tuple[Progress, Selftest]:
    """The weekly self-test, and the latest one without --full."""
    folder = root / FOLDER
    latest = Selftest.model_validate_json((folder / LATEST).read_text())
    return Progress.model_validate_json((folder / WEEKLY).read_text()), latest


def weekly_groups(root: Path) -> dict[str, list[Outcome]]:
    """The groups of the weekly class; those that ran separately have files of their own."""
    found = {group: made for group, made in _read(root)[0].done.items() if group in registry.WEEKLY}
    for file in sorted((root / FOLDER).glob("*.json")):
        if file.name not in (WEEKLY, LATEST):
            found[file.stem] = Selftest.model_validate_json(file.read_text()).outcomes
    return found


def outcomes(root: Path, kind: str) -> list[Outcome]:
    """The outcomes of a class of checks. kind: `unit`, `end to end` or `weekly`."""
    if kind == "weekly":
        return [one for made in weekly_groups(root).values() for one in made]
    every = _read(root)[1].outcomes
    staged = next(n for n, one in enumerate(every) if one.group in registry.END_TO_END)
    return every[:staged] if kind == "unit" else every[staged:]


def checks(records: Records, kind: str) -> str:
    """What each check of a class found; repetitions share a row."""
    rows = []
    for _, same in groupby(outcomes(records.root, kind), key=lambda one: one.name):
        one, *others = same
        times = f", {1 + len(others)} times" if others else ""
        short = one.measured if len(one.measured) <= LONG else one.measured.partition(" (")[0]
        rows.append((one.name + times, short, one.tolerance, one.negative_control or "–"))
    return table(("check", "found", "tolerance", "negative control"), rows)


def date(records: Records, kind: str) -> str:
    """The day of the weekly self-test, or of the latest one without --full: `end to end`."""
    weekly, latest = _read(records.root)
    return f"{(weekly if kind == 'weekly' else latest).started_at:%Y-%m-%d}"


def found(records: Records, name: str, field: str) -> str:
    """`measured` or `negative_control` of one check."""
    every = (one for kind in ("weekly", "end to end", "unit") for one in outcomes(records.root, kind))
    return str(getattr(next(one for one in every if one.name == name), field))
