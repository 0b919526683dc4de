"""Runs a campaign: builds, starts the stack, makes the visits, judges, stores."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from tandem.analysis import analyse
from tandem.analysis.schedule import schedule
from tandem.catalog.catalog import Catalog, Implementation, Plan
from tandem.ceiling.around import ceilings_of, look_s
from tandem.lab.lab import BenchLab
from tandem.lab.live import View
from tandem.lab.prepare import Conditions, Prepared, build, refuse_or_clean_up, shared, start
from tandem.lab.provenance import environment
from tandem.lab.session import Session
from tandem.lab.visit import Visit
from tandem.record.run import Run, Trial, Verdict, Warning
from tandem.record.store import Request, Store
from tandem.selftest.result import line

BESIDE_S = 10
"""What a visit takes besides its loads."""


def estimate_s(plan: Plan, runs: int) -> float:
    """How long a campaign takes, without builds, where warm-ups are steady at once."""
    return look_s(plan) + runs * plan.trials * (plan.steady_after_s + plan.closed_s + plan.open_s + BESIDE_S)


class Bench:
    """One campaign. `run` may be called once."""

    def __init__(self, catalog: Catalog, results: Path, view: View) -> None:
        self._catalog, self._results, self._view = catalog, results, view
        self._ceilings_rps: dict[str, float | None] = {}

    def run(self, request: Request, resume: bool) -> tuple[Store, list[Run]]:
        """Makes or resumes a campaign; returns its store and one record per implementation.

        Raises UsageError for names that do not exist, TandemError where it cannot be done. Whatever happens,
        the containers are removed and finished trials are kept.
        """
        implementations = [self._catalog.implementation(name) for name in request.implementations]
        plan = self._catalog.plan(request.plan)
        under = Conditions(
            self._catalog, request.topology, request.placement, plan, request.knobs, request.db_rtt_ms
        )
        under.check(request.scenario, implementations)
        refuse_or_clean_up(self._catalog.root, self._results, self._view.note)
        if resume:
            store = Store.resume(self._results, request)
            self._view.note(f"going on with {store.campaign.id}")
        else:
            store = Store.create(self._results, request)
        try:
            scenario = self._catalog.scenarios[request.scenario]
            runs = [
                under.prepare(i, scenario, store.run_folder(_run_name(i, request))) for i in implementations
            ]
            try:
                self._view.phase("build", None)
                build(runs, self._view.note, store.folder)
                self._view.phase("start the stack", None)
                start(runs[0].stack, self._view.note)
                for prepared in runs:
                    self._describe(prepared)
                if plan.ceilings:
                    session = Session(under, scenario, self._results, self._view, store.campaign.request.seed)
                    self._ceilings_rps = ceilings_of(session, store.folder)
                self._visit_all(store, runs, plan)
            finally:
                runs[0].stack.down()
            records = [self._conclude(store, prepared, plan) for prepared in runs]
            store.finish()
            return store, records
        finally:
            with suppress(OSError):
                store.give_to(self._catalog.root)

    def _describe(self, prepared: Prepared) -> None:
        images = {service: prepared.stack.service(service).image for service in shared(prepared.stack)}
        found = environment(self._catalog.root, prepared.stack, prepared.knobs, images)
        found.configuration["plan"] = prepared.cell.plan.model_dump_json(indent=1)
        found.configuration["scenario"] = prepared.cell.scenario.model_dump_json(indent=1)
        found.selftest = line(self._results, self._catalog.root, datetime.now(UTC))[1]
        prepared.environment = found

    # ---- visits ----

    def _visit_all(self, store: Store, runs: list[Prepared], plan: Plan) -> None:
        by_name = {prepared.name: prepared for prepared in runs}
        visits = schedule(list(by_name), plan.trials, store.campaign.request.seed)
        for visit in visits:
            self._visit(store, by_name[visit.run], plan, visit.block, None)
        # One more try, once, for each trial that the host disturbed.
        for prepared in runs:
            void = [
                trial
                for trial in store.trials(prepared.name)
                if trial.verdict is Verdict.VOID and not trial.retry_of
            ]
            for extra, trial in enumerate(void, start=1):
                self._visit(store, prepared, plan, plan.trials + extra, trial.index)

    def _visit(self, store: Store, prepared: Prepared, plan: Plan, index: int, retry_of: int | None) -> None:
        done = store.trials(prepared.name)
        if any(trial.index == index for trial in done):
            return
        again = f", once more for trial {retry_of}" if retry_of else ""
        self._view.trial(f"{prepared.name}: trial {index} of {plan.trials}{again}")
        folder = store.fresh_trial_folder(prepared.name, index)
        lab = BenchLab(prepared.stack, prepared.cell, folder, self._view.sample, self._view.offered)
        trial = Visit(lab, plan, prepared.cell.workers, self._view).run(index, retry_of)
        store.save_trial_or_its_failure(prepared.name, trial)
        self._view.note(f"  {_told(trial)}")

    # ---- after ----

    def _conclude(self, store: Store, prepared: Prepared, plan: Plan) -> Run:
        request, trials = store.campaign.request, store.trials(prepared.name)
        verdict, reasons = analyse.run_verdict(trials, plan.trials)
        summary = (
            analyse.summarise(trials, analyse.pool(trials))
            if verdict is Verdict.OK
            else analyse.nothing(trials)
        )
        bottleneck, evidence = analyse.run_bottleneck(trials)
        assert prepared.environment is not None
        run = Run(
            campaign=store.campaign.id,
            run=prepared.name,
            implementation=prepared.cell.implementation.name,
            scenario=request.scenario,
            topology=request.topology,
            placement=request.placement,
            plan=request.plan,
            seed=request.seed,
            started_at=store.campaign.started_at,
            finished_at=datetime.now(UTC),
            verdict=verdict,
            reasons=reasons,
            bottleneck=bottleneck,
            bottleneck_evidence=evidence,
            warnings=[*analyse.run_warnings(trials, summary, verdict), *_unfit(plan)],
            ceilings_rps=self._ceilings_rps,
            summary=summary,
            trials=trials,
            environment=prepared.environment,
        )
        store.save_run(run)
        return run


def _unfit(plan: Plan) -> list[Warning]:
    why = plan.unfit(os.cpu_count() or 1)
    return [Warning(code="unfit-machine", text=why)] if why else []


def _told(trial: Trial) -> str:
    goodput = f"{trial.closed.goodput_rps:,.0f}/s, " if trial.closed else ""
    reasons = [f for w in (trial.closed, trial.open) if w for f in w.findings if f.severity != "warning"]
    reasons += [finding for finding in trial.findings if finding.severity != "warning"]
    why = f": {reasons[0].text}" if reasons else ""
    return f"{goodput}{trial.verdict}{why} (besides warm-up and windows {trial.overhead_s or 0:.1f} s)"


def _run_name(implementation: Implementation, request: Request) -> str:
    return f"{implementation.name.replace('/', '-')}.{request.scenario}.{request.topology}"
