"""What the kinds share that put one application after the other under load: conditions, stack, journal, starts."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from tandem.catalog.catalog import Plan
from tandem.hosts import HERE
from tandem.judge import judge
from tandem.lab.programs import identity, keep
from tandem.lab.stack import BENCH_PROJECT, Stack, build_side_by_side
from tandem.old.cell import Cell
from tandem.old.lab import BenchLab
from tandem.old.prepare import TOLD_FROM_S, Conditions, Prepared, refuse_or_clean_up
from tandem.old.session import Session
from tandem.record.window import Finding, Verdict, Window
from tandem.reproduce.experiment import Experiment, ExperimentPlan
from tandem.reproduce.journal import Journal, make_all, ordered
from tandem.reproduce.kinds import Bench
from tandem.reproduce.result import Asked, Facts, Reproduction, Start, Step, conclude
from tandem.reproduce.witness import Seen

TOPOLOGY = "direct"
"""The generator asks the application itself."""
LONG_S = 10
SHORT_TRIMS = {"trim_start_s": 1.5, "trim_end_s": 0.5}
"""From LONG_S on a window has the plans' usual trims; a shorter one has less to lose."""
START_S, WINDOW_S = 6, 3
"""For estimates: what a fresh start and a load take besides their own seconds."""
OPENING_S_PER_THOUSAND = 0.4
"""oha opens its connections while it asks: so long is added before the measured part."""
VARIANT = "VARIANT"
Measure = Callable[[int, Sequence[str], int], Sequence[Start]]


@dataclass
class Work:
    """An experiment's conditions, and the session that starts stacks and labs under them."""

    bench: Bench
    under: Conditions
    session: Session

    @classmethod
    def of(cls, bench: Bench, scenario: str, plan: ExperimentPlan, window_s: int, seed: int) -> "Work":
        """Raises UsageError for names that there are not."""
        catalog = bench.catalog
        asked = catalog.pick("scenario", scenario, catalog.scenarios)
        trims = {"trim_start_s": 2.0, "trim_end_s": 1.0} if window_s >= LONG_S else SHORT_TRIMS
        own = Plan(
            name="experiment",
            purpose="An experiment's own.",
            trials=plan.starts,
            warm_up_s=max(1, plan.warm_up_s),
            warm_up_requests_per_worker=0,
            warm_up_cap_s=max(1, plan.warm_up_s),
            closed_s=window_s,
            open_s=window_s,
            open_load_fraction=0.5,
        ).model_copy(update=trims)
        placement = catalog.default_placement(HERE.cpus).name
        under = Conditions(catalog, TOPOLOGY, placement, own, {})
        return cls(bench, under, Session(under, asked, bench.results, bench.view, seed))

    def cell(self, implementation: str, scenario: str, knobs: Mapping[str, str] | None = None) -> Cell:
        """What a load is about. knobs: the effective ones; None: the defaults."""
        catalog = self.under.catalog
        known = catalog.implementation(implementation)
        effective = knobs or catalog.effective_knobs(known, self.under.host.cpus, {})
        return self.under.cell(known, catalog.scenarios[scenario], dict(effective))

    def prepare(
        self, implementation: str, scenario: str, folder: Path, knobs: dict[str, str] | None = None
    ) -> Prepared:
        """An implementation with its stack. knobs: besides the defaults."""
        catalog = self.under.catalog
        under = self.under.with_knobs(knobs or {})
        return under.prepare(catalog.implementation(implementation), catalog.scenarios[scenario], folder)

    def fresh(self, prepared: Prepared, folder: Path) -> AbstractContextManager[BenchLab]:
        """A fresh start, verified and warm."""
        return self.session.fresh(prepared, folder)

    @contextmanager
    def open(self, experiment: Experiment, asked: Asked, resume: bool) -> Iterator["Opened"]:
        """The reproduction's folder; what is started within is removed at its end. Raises UsageError, TandemError."""
        began = datetime.now(UTC)
        refuse_or_clean_up(self.under.catalog.root, self.bench.results, self.bench.view.note)
        journal = Journal.begin(self.bench.results, asked, resume, began)
        with ExitStack() as exits:
            yield Opened(self, experiment, journal, began, exits)


@dataclass
class Opened:
    """A reproduction that is being made."""

    work: Work
    experiment: Experiment
    journal: Journal
    began: datetime
    _exits: ExitStack
    _besides_s: dict[str, float] = field(default_factory=dict)

    def start(self, runs: Sequence[Prepared]) -> None:
        """Builds every image and starts what stays up. Raises TandemError."""
        began = time.monotonic()
        # Images are built by the implementation's name, of which a variant is another one.
        plain = [run for run in runs if VARIANT not in run.stack.variables]
        others = [run for run in runs if VARIANT in run.stack.variables]
        session = self.work.session
        self._exits.enter_context(session.stack(plain or others[:1], self.journal.folder))
        if others:
            build_side_by_side({run.name: (run.stack, "app") for run in others}, self._built)
            keep(self.journal.folder, {run.name: identity(run.stack.image("app")) for run in others})
        self._besides_s["builds and stack"] = time.monotonic() - began

    def make(
        self,
        order: Sequence[Step],
        measure: Measure,
        runs: Mapping[str, Prepared],
        facts: Mapping[str, Facts],
        versions: Mapping[str, str],
        beside: Callable[[Reproduction], object] = lambda found: None,
    ) -> Reproduction:
        """Makes what is missing and concludes. facts: by row. versions: of further programs. beside: writes what belongs to a
        result besides its record."""
        environments = {}
        for name, run in runs.items():
            own = self.work.session.environment(run)
            environments[name] = own.model_copy(update={"versions": {**own.versions, **versions}})
        make_all(order, self.journal, self.work.bench.view, measure, self.experiment.figures[0])
        starts = ordered(self.experiment, self.journal)
        times = (self.began, datetime.now(UTC))
        found = conclude(
            self.experiment, self.journal.asked, starts, facts, environments, self._besides_s, times
        )
        beside(found)
        self.journal.finish(found)
        return found

    def _built(self, name: str, seconds: float) -> None:
        if seconds >= TOLD_FROM_S:
            self.work.bench.view.note(f"  {name}: {seconds:.0f} s")


def opening_s(connections: int) -> int:
    """Whole seconds in which so many connections are opened."""
    return int(connections / 1000 * OPENING_S_PER_THOUSAND)


def loaded(cell: Cell, connections: int) -> tuple[Cell, int]:
    """The cell with so many connections, and how many seconds its window takes: the plan's, and those of opening them."""
    more = opening_s(connections)
    plan = cell.plan.model_copy(update={"trim_start_s": cell.plan.trim_start_s + more})
    scenario = cell.scenario.model_copy(update={"connections": connections})
    return replace(cell, scenario=scenario, plan=plan), cell.plan.closed_s + more


def variant(prepared: Prepared, folder: Path, variables: dict[str, str]) -> Prepared:
    """The same implementation from another build. folder: where `compose.env` goes. variables: further ones of
    compose/stack.yaml."""
    stack = prepared.stack
    own = Stack(stack.root, BENCH_PROJECT, {**stack.variables, **variables}, folder / "compose.env")
    return replace(prepared, name=folder.name, stack=own)


def started(
    window: Window,
    figures: dict[str, float],
    findings: Sequence[Finding],
    seen: Seen,
    limit: tuple[str, list[str]],
) -> Start:
    """What a load came to; whose row and block it is, the caller says."""
    verdict = judge.verdict(list(findings))
    grave = [finding.text for finding in findings if finding.severity != "warning"]
    start = failed(grave[0] if grave else "").model_copy(update={"verdict": verdict})
    start.reason = start.reason or None
    start.warnings = [finding.text for finding in findings if finding.severity == "warning"]
    if verdict is Verdict.OK:
        held = {"established": float(seen.established)} if seen.established else {}
        start.figures = {**figures, **held}
        start.bottleneck, start.evidence = limit
    return start


def failed(reason: str) -> Start:
    """A load that could not be measured."""
    return Start(row="", block=0, verdict=Verdict.FAILED, reason=reason)
