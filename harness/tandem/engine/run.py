"""The loop: takes a study's specs, makes the trials that the journal does not have, concludes, keeps the result."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from tandem.catalog.catalog import Catalog
from tandem.engine import stand_ins
from tandem.engine.blocks import Blocks
from tandem.engine.estimate import Overheads, estimate_s, recorded_overheads
from tandem.engine.findings import compared, host_seen, made_again, why
from tandem.engine.journal import Journal
from tandem.engine.study import Study, Windows, in_order, passed_on, sent
from tandem.errors import TandemError
from tandem.facts.estimate import estimates
from tandem.judge.on_wire import stated
from tandem.lab.live import View
from tandem.record.conclusion import Estimate
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, Concluded, Conclusions, Environment, Result
from tandem.record.store import RESULT, write_atomically, write_model
from tandem.record.trial import Trial, TrialSpec
from tandem.record.window import Finding, Verdict
from tandem.report import curves
from tandem.report.markdown import pictures_in
from tandem.report.picture import svg
from tandem.wording import counted, lasts


def conclude(study: Study[Any], trials: Sequence[Trial], baselines: Baselines) -> Concluded[Any]:
    """The study's own conclusions, and for each variant the estimates that its windows give, where the study has none of that
    metric, and does not say that the variant has no figures. trials: all but the looks at the ceilings."""
    found: Concluded[Any] = study.conclude(trials, baselines)
    if found.complete:
        return found
    own = found.conclusions.estimates
    known = {_key(one.metric, one) for one in own}
    without = {_key("", one) for one in own if one.verdict is not Verdict.OK}
    more = [
        one
        for one in estimates(trials, study.variants)
        if _key(one.metric, one) not in known and _key("", one) not in without
    ]
    found.conclusions.estimates = [*own, *more]
    return found


def _key(metric: str, one: Estimate) -> tuple[str, str, str]:
    return metric, one.variant, str(sorted(one.coordinates.items()))


FEW = 6
"""Variants of one trial that are named one by one."""


class TrialLab(Protocol):
    """Where trials are made. The real one is tandem.lab.laboratory.Laboratory; a program that measures itself has another."""

    @property
    def environments(self) -> dict[str, Environment]:
        """Environments by label, of the variants that are up or were."""

    @property
    def phases_s(self) -> dict[str, float]:
        """Where the time went that is not inside a trial."""

    def up(self) -> AbstractContextManager[None]:
        """Images built and shared services up; removed at the end whatever happens. Raises TandemError."""

    def visit(self, spec: TrialSpec, windows: Windows, folder: Path) -> Trial:
        """Makes a trial. folder: for its raw files. A trial that fails is a trial with that verdict."""


@dataclass(frozen=True)
class Session:
    """What a run of the engine needs beside the request."""

    catalog: Catalog
    results: Path
    view: View
    lab: Callable[[Study[Any], Sequence[Variant], Journal], TrialLab]
    """Maker of the lab: called with the study, all variants that appear in a trial, and where it is kept."""
    selftest: str | None = None
    """What the self-test says of the harness."""
    check: Callable[[Sequence[Variant], Request], None] = lambda variants, request: None
    """Raises UsageError for what this machine cannot make, TandemError while something else measures. It is asked
    before anything is left on disk."""
    findings: Callable[[Request], list[Finding]] = lambda request: []
    """What this machine is not fit for."""


def blocks_s[C: Conclusions](study: Study[C], results: Path) -> float:
    """The estimate: how long the study takes, without builds. results: where the newest records tell overheads."""
    outline = study.outline()
    looks = stand_ins.expected(study.catalog, study.request, outline) if stand_ins.wanted(study) else []
    return estimate_s([looks, *outline], _overheads(study, results))


def _overheads(study: Study[Any], results: Path) -> Overheads:
    """Of these variants, as the records in a folder tell."""
    far = study.request.conditions.db_rtt_ms is not None
    return recorded_overheads(results).named(study.variants, far)


def run[C: Conclusions](
    kind: type[Study[C]], request: Request, session: Session, resume: bool = False
) -> tuple[Result[C], Journal]:
    """Makes or resumes a study. Returns its result and its folder.

    Raises UsageError for a request that cannot be made, TandemError where it cannot be done. Whatever happens, the
    containers are removed and finished trials are kept.
    """
    study = kind(session.catalog, request)
    view = session.view
    looks = stand_ins.wanted(study)
    session.check([*study.variants, *looks], request)
    journal = (Journal.resume if resume else Journal.begin)(session.results, request)
    study = kind(session.catalog, journal.request)
    made = [trial.spec for trial in journal.trials()]
    if resume:
        view.note(f"continuing {journal.folder.name}: {counted(len(made), 'trials')} already measured")
    study.tell = view.note
    expected_s, outline = blocks_s(study, session.results), study.outline()
    view.note(f"{kind.name}: about {lasts(expected_s)} after the builds")
    made_s = estimate_s([made], _overheads(study, session.results))
    view.expected(expected_s - made_s)

    def estimated_again(_: Sequence[TrialSpec]) -> None:
        nonlocal outline
        if outline != (outline := study.outline()):
            view.expected(blocks_s(study, session.results) - made_s)

    plan = study.plan()
    if looks:
        plan = stand_ins.in_each_block(study.catalog, study.request, plan)
    try:
        block = next(plan, [])  # what it tells first is read before anything starts
        lab = session.lab(study, [*study.variants, *looks], journal)
        with lab.up():
            every = drive(plan, _maker(study, lab, journal, view), block, estimated_again)
        trials = [trial for trial in every if not stand_ins.is_look(trial.spec)]
        looked = stand_ins.looks_of(every)
        baselines = Baselines(
            ceilings_rps=stand_ins.ceilings_rps(looked), looks=looked, selftest=session.selftest
        )
        concluded = conclude(study, trials, baselines)
        result = Result[C](
            id=journal.folder.name,
            request=study.request,
            variants=concluded.variants or study.variants,
            started_at=journal.started_at,
            finished_at=datetime.now(UTC),
            verdict=concluded.verdict,
            headline=concluded.headline,
            reasons=concluded.reasons,
            findings=[*concluded.findings, *session.findings(study.request)],
            trials=dict(Counter(trial.verdict for trial in trials)),
            compared=compared(trials),
            made_again=made_again(trials),
            host=host_seen(trials),
            baselines=baselines,
            conclusions=concluded.conclusions,
            phases_s=phases(every, lab.phases_s),
            environments=lab.environments,
        )
        drawn = {one.file: svg(one) for one in pictures_in(kind.report(result)) if one.file}
        for name, text in {**curves.files(result.conclusions.estimates), **drawn}.items():
            write_atomically(journal.folder / name, text)
        write_model(journal.folder / RESULT, result)  # from now on the study is done
        return result, journal
    except TandemError:
        journal.forget_if_empty()
        raise
    finally:
        with suppress(OSError):
            journal.give_to(session.catalog.root)


def drive(
    plan: Blocks,
    make: Callable[[TrialSpec], Trial],
    begun: Sequence[TrialSpec] | None = None,
    before: Callable[[Sequence[TrialSpec]], None] = lambda block: None,
) -> list[Trial]:
    """Runs a plan to its end; returns every trial in the order in which it was asked for. begun: the block that the plan has
    yielded; None: it has not begun. before: called with each block."""
    trials: list[Trial] = []
    try:
        block = next(plan) if begun is None else begun
        while True:
            before(block)
            made = [make(spec) for spec in block]
            trials += made
            block = plan.send(made)
    except StopIteration:
        return trials


def _maker[C: Conclusions](
    study: Study[C], lab: TrialLab, journal: Journal, view: View
) -> Callable[[TrialSpec], Trial]:
    """What makes the trial of a spec, or finds it in the journal."""
    programs = {one.label: one.implementation for one in study.variants if one.stand_in is None}

    def make(spec: TrialSpec) -> Trial:
        found = journal.find(spec)
        if found is not None:
            return found
        view.trial(_title(spec))
        windows = (
            in_order(spec.windows)
            if stand_ins.is_look(spec)
            else sent(study, study.windows(spec), spec.block)
        )
        made = lab.visit(spec, passed_on(windows, made=view.measured), journal.fresh_raw(spec))
        for label, start in made.starts.items():
            start.implementation = programs.get(label)
        journal.save(made)
        view.note(f"  {summary(made)}")
        view.counted(made)
        return made

    return make


def _title(spec: TrialSpec) -> str:
    again = "" if spec.attempt == 1 else ", once more"
    labels = spec.variants
    named = ", ".join(labels) if len(labels) <= FEW else f"{', '.join(labels[:2])} and {len(labels) - 2} more"
    return f"block {spec.block}: {named}{again}"


def summary(trial: Trial) -> str:
    """One line about a trial, for people."""
    several = len(trial.spec.variants) > 1
    rates = [
        f"{f'{label} ' if several else ''}{window.goodput_rps:,.0f}/s"
        for label in trial.spec.variants
        for window in trial.of(label, "closed")[-1:]
    ]
    reason = f": {grave}" if (grave := why(trial)) else ""
    rest = f" (overhead {trial.overhead_s:.1f} s)" if trial.overhead_s is not None else ""
    read = stated([window for record in trial.windows for window in record.windows.values()])
    return f"{', '.join([*rates, str(trial.verdict)])}{reason}{read and f'; {read}'}{rest}"


def phases(trials: Sequence[Trial], besides: dict[str, float]) -> dict[str, float]:
    """Seconds of each phase, summed over all trials, beside what is outside them."""
    out = defaultdict(float, besides)
    for phase in (phase for trial in trials for phase in trial.phases):
        out[phase.name] += phase.duration_s
    return dict(out)
