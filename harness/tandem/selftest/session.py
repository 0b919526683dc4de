"""Runs the self-test: the chosen checks in their order, every failure an outcome."""

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pydantic import Field
from rich.table import Table
from rich.text import Text

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError, UsageError, unknown
from tandem.hosts import HERE
from tandem.hosts.host import HostCpu
from tandem.judge.judge import STEAL_WARN
from tandem.lab.live import View
from tandem.lab.sources import git
from tandem.record.part import Part
from tandem.record.selftest import Kind, Outcome, Selftest, excuse, good, harness_source, save
from tandem.report.table import texts
from tandem.selftest import registry
from tandem.selftest.stage import Stage

FILE = "selftest-progress.json"

type Making = Callable[[], Outcome | list[Outcome]]


class Progress(Part):
    """selftest-progress.json"""

    source: str
    """Hash of the harness's own source: outcomes of another one prove nothing about this one."""
    full: bool
    started_at: datetime
    spent_s: float = 0.0
    oha_version: str | None = None
    done: dict[str, list[Outcome]] = Field(default_factory=dict)
    """Group -> its outcomes, in the order in which they were made."""


def begun(results: Path, fresh: Progress, resume: bool) -> Progress:
    """The fresh progress, or with `resume` the kept one of the same harness and class. Raises UsageError if there is none."""
    if not resume:
        return fresh
    try:
        kept = Progress.model_validate_json((results / FILE).read_text())
    except FileNotFoundError:
        raise UsageError("there is no unfinished self-test: start one without --resume") from None
    except (ValueError, OSError) as error:
        raise UsageError(
            f"{results / FILE} cannot be read: {error}. Start again, without --resume."
        ) from None
    if kept.source != fresh.source:
        raise UsageError(
            "the harness has changed since the self-test was started: start again, without --resume"
        )
    if kept.full != fresh.full:
        was = "with" if kept.full else "without"
        raise UsageError(f"the unfinished self-test was started {was} --full: continue it the same way")
    return kept


def chosen(only: list[str], full: bool) -> list[str]:
    """Groups to run, in order. Raises UsageError for a name that does not exist."""
    names = registry.names()
    for name in only:
        if name not in names:
            raise unknown("group of checks", name, names)
    wanted = only or (names if full else ["unit", *registry.END_TO_END])
    return [name for name in names if name in wanted]


def run(root: Path, results: Path, view: View, only: list[str], full: bool, resume: bool = False) -> Selftest:
    """Runs the checks; without `only`, each group is kept once it is done, and `resume` goes on after those. Raises
    UsageError for unknown names and where nothing can go on, TandemError where the stack does not come up."""
    groups, source = chosen(only, full), harness_source(root)
    kept = begun(results, Progress(source=source, full=full, started_at=datetime.now(UTC)), resume)
    spent_s, began = kept.spent_s, time.monotonic()
    if kept.done:
        view.note(f"continuing after {', '.join(kept.done)}")

    def group(name: str, checks: Iterable[tuple[str, Making]]) -> None:
        view.trial(name)
        found, before = list[Outcome](), HERE.read_cpu()
        for label, check in checks:
            for outcome in made(label, check):
                found.append(outcome.model_copy(update={"group": name}))
                view.note(f"  {'ok' if good(outcome) else 'NOT OK'}  {outcome.name}: {outcome.measured}")
        kept.done[name] = with_steal(found, HERE.read_cpu().since(before))
        kept.spent_s = spent_s + time.monotonic() - began
        if not only:
            save(kept, results, FILE)

    left = [name for name in groups if name not in kept.done]
    if "unit" in left:
        group("unit", [(getattr(check, "__name__", "check"), check) for check in registry.UNIT])
    staged = {name: run for name, run in {**registry.END_TO_END, **registry.WEEKLY}.items() if name in left}
    if staged:
        placement = Catalog(root).default_placement(HERE.topology().places).name
        with Stage(root, results, view, placement).up() as stage:
            kept.oha_version = next(iter(stage.laboratory.environments.values())).versions["oha"]
            for name, on_stage in staged.items():
                group(name, [(name, partial(on_stage, stage))])
    weekly = bool(registry.WEEKLY.keys() & set(groups))
    kind: Kind = "weekly" if weekly else "end to end" if kept.oha_version else "unit"
    return Selftest(
        kind=kind,
        started_at=kept.started_at,
        finished_at=datetime.now(UTC),
        duration_s=kept.spent_s,
        git_commit=git(root, "rev-parse", "HEAD"),
        source=source,
        oha_version=kept.oha_version,
        cpus=HERE.cpus,
        outcomes=[outcome for name in groups for outcome in kept.done[name]],
    )


def with_steal(outcomes: list[Outcome], during: HostCpu) -> list[Outcome]:
    """The outcomes, with the hypervisor's share where that may be why one does not hold."""
    share = during.steal_s / during.total_s if during.total_s else 0.0

    def excused(one: Outcome) -> bool:
        return share > STEAL_WARN and not one.passed and bool(one.negative_control_failed)

    return [one.model_copy(update={"steal_share": share}) if excused(one) else one for one in outcomes]


def made(name: str, check: Making) -> list[Outcome]:
    """The outcomes of a check. One that could not be made has not passed."""
    try:
        found = check()
    except (TandemError, ArithmeticError, OSError, ValueError, KeyError) as error:
        said = f"could not be made: {error}"[:400]
        found = Outcome(name=name, expected="a check", measured=said, passed=False)
    return found if isinstance(found, list) else [found]


def _mark(value: bool | None) -> Text:
    if value is None:
        return Text("–", style="dim")
    return Text("yes", style="green") if value else Text("NO", style="bold red")


def report(found: Selftest) -> Table:
    """One row per check: the known answer, the measured one, and the negative control."""
    headings = ("check", "expected", "measured", "tolerance", "ok", "broken on purpose", "caught")
    rows = [
        (
            *map(Text, (one.name, one.expected, one.measured, one.tolerance)),
            _mark(one.passed),
            Text(one.negative_control or "–", style="dim"),
            _mark(one.negative_control_failed),
        )
        for one in found.outcomes
    ]
    out = texts(f"self-test, {found.kind}", rows, *headings, left=headings)
    out.show_lines = True
    return out


def sentence(found: Selftest) -> str:
    """The outcome in one sentence."""
    right = sum(map(good, found.outcomes))
    seconds = found.duration_s or (found.finished_at - found.started_at).total_seconds()
    host = f": {why}, make it again" if (why := excuse(found.outcomes)) else ""
    return f"{right} of {len(found.outcomes)} checks hold ({found.kind}), in {seconds:.0f} s{host}"
