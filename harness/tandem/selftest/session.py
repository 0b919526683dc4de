"""Runs the self-test: the chosen checks in their order, every failure an outcome."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from tandem.catalog import Catalog
from tandem.errors import TandemError, unknown
from tandem.live import View
from tandem.provenance import git
from tandem.selftest import registry
from tandem.selftest.outcome import Outcome
from tandem.selftest.result import Kind, Selftest, good, harness_source
from tandem.selftest.stage import Stage, oha_version


def could_not(name: str, error: Exception) -> Outcome:
    """A check that could not be made has not passed."""
    return Outcome(
        name=name,
        group=name,
        expected="a check",
        measured=f"could not be made: {error}"[:400],
        tolerance="none",
        passed=False,
        negative_control=None,
        negative_control_failed=None,
    )


def chosen(only: list[str], full: bool) -> list[str]:
    """What is run, in order. Raises UsageError for a name that does not exist."""
    for name in only:
        if name not in registry.names():
            raise unknown("group of checks", name, registry.names())
    if only:
        return [name for name in registry.names() if name in only]
    return ["unit", *registry.END_TO_END, *(registry.WEEKLY if full else [])]


def run(root: Path, results: Path, view: View, only: list[str], full: bool) -> Selftest:
    """Runs the checks. Raises UsageError for unknown names, TandemError where the stack does not come up."""
    groups, started, outcomes = chosen(only, full), datetime.now(UTC), list[Outcome]()
    oha: str | None = None

    def told(found: list[Outcome]) -> None:
        outcomes.extend(found)
        for outcome in found:
            view.note(f"  {'ok' if good(outcome) else 'NOT OK'}  {outcome.name}: {outcome.measured}")

    if "unit" in groups:
        view.trial("unit")
        for check in registry.units():
            told([_guarded(getattr(check, "__name__", "check"), check)])
    staged = {name: run for name, run in {**registry.END_TO_END, **registry.WEEKLY}.items() if name in groups}
    if staged:
        catalog = Catalog(root)
        placement = catalog.default_placement(os.cpu_count() or 1).name
        with Stage(catalog, results, view, placement).up() as stage:
            oha = oha_version(stage)
            for name, on_stage in staged.items():
                view.trial(name)
                try:
                    told(on_stage(stage))
                except (TandemError, OSError, ValueError, KeyError) as error:
                    told([could_not(name, error)])
    weekly = bool(registry.WEEKLY.keys() & set(groups))
    kind: Kind = "weekly" if weekly else "end to end" if staged else "unit"
    return Selftest(
        kind=kind,
        started_at=started,
        finished_at=datetime.now(UTC),
        git_commit=git(root, "rev-parse", "HEAD"),
        source=harness_source(root),
        oha_version=oha,
        cpus=os.cpu_count() or 1,
        outcomes=outcomes,
    )


def _guarded(name: str, check: Callable[[], Outcome]) -> Outcome:
    try:
        return check()
    except (TandemError, ArithmeticError, ValueError) as error:
        return could_not(name, error)
