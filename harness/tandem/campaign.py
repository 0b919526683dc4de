"""Runs a campaign: builds, starts the stack, makes the visits, judges, stores."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tandem import analyse
from tandem.catalog import Catalog, Implementation, Plan
from tandem.errors import TandemError, UsageError
from tandem.generator import read_report
from tandem.golden import read_golden
from tandem.lab import BenchLab, Cell
from tandem.live import View
from tandem.measure import Conditions, responses
from tandem.placement import EnvFile, cpus_in
from tandem.probes.postgres import read_queries
from tandem.provenance import environment
from tandem.readiness import await_services
from tandem.record import Environment, Run, Trial, Verdict
from tandem.rows import Floats, read_rows
from tandem.schedule import schedule
from tandem.stack import BENCH_PROJECT, Stack, build_side_by_side, other_campaigns, remove_leftovers
from tandem.store import Request, Store
from tandem.visit import Visit

SHARED = ["db", "pgbouncer", "proxy", "loadgen"]
"""The services that stay up for the whole campaign."""
TOLD_FROM_S = 5.0
"""Builds that come from the cache are not worth a line."""


@dataclass
class Prepared:
    """A run of the campaign, ready for its visits."""

    name: str
    cell: Cell
    stack: Stack
    knobs: dict[str, str]
    environment: Environment | None = None


def estimate_s(plan: Plan, runs: int) -> float:
    """How long the visits of a campaign take, without builds."""
    return runs * plan.trials * (plan.warm_up_s + plan.closed_s + plan.open_s + 10)


class Bench:
    """One campaign. `run` may be called once."""

    def __init__(self, catalog: Catalog, results: Path, view: View) -> None:
        self._catalog, self._results, self._view = catalog, results, view

    def run(self, request: Request, resume: bool) -> tuple[Store, list[Run]]:
        """Makes or resumes a campaign; returns its store and one record per implementation.

        Raises UsageError for names that do not exist, TandemError where it cannot be done. Whatever happens,
        the containers are removed and finished trials are kept.
        """
        implementations = [self._catalog.implementation(name) for name in request.implementations]
        plan = self._catalog.plan(request.plan)
        self._check(request, implementations)
        self._refuse_or_clean_up()
        if resume:
            store = Store.resume(self._results, request)
            self._view.note(f"going on with {store.campaign.id}")
        else:
            store = Store.create(self._results, request)
        try:
            runs = [self._prepare(store, implementation, plan) for implementation in implementations]
            try:
                self._build(runs)
                self._start(runs[0].stack)
                for prepared in runs:
                    self._describe(prepared)
                self._visit_all(store, runs, plan)
            finally:
                runs[0].stack.down()
            records = [self._conclude(store, prepared, plan) for prepared in runs]
            store.finish()
            return store, records
        finally:
            with suppress(OSError):
                store.give_to(self._catalog.root)

    # ---- before ----

    def _check(self, request: Request, implementations: list[Implementation]) -> None:
        catalog = self._catalog
        catalog.pick("scenario", request.scenario, catalog.scenarios)
        catalog.pick("topology", request.topology, catalog.topologies)
        placement = catalog.pick("placement", request.placement, catalog.placements)
        have = os.cpu_count() or 1
        highest = max((_highest(cpuset) for cpuset in placement.variables.values()), default=-1)
        if highest >= have:
            raise UsageError(
                f"the placement {request.placement} needs {highest + 1} CPUs and this host has {have}"
            )
        for implementation in implementations:
            if request.scenario in implementation.unsupported.scenarios:
                reason = implementation.unsupported.scenarios[request.scenario]
                raise UsageError(f"{implementation.name} does not support {request.scenario}: {reason}")
            catalog.effective_knobs(implementation, have, request.knobs)

    def _refuse_or_clean_up(self) -> None:
        others = other_campaigns()
        if others:
            raise TandemError(
                f"another campaign is measuring (container {others[0]}): two at once would measure each other."
                f" Wait for it, or end it with: docker stop {others[0]}"
            )
        if remove_leftovers(self._catalog.root, self._results / ".leftovers.env"):
            self._view.note("removed the containers of a campaign that was killed")

    def _prepare(self, store: Store, implementation: Implementation, plan: Plan) -> Prepared:
        request = store.campaign.request
        catalog = self._catalog
        scenario = catalog.scenarios[request.scenario]
        topology: EnvFile = catalog.topologies[request.topology]
        placement = catalog.placements[request.placement].variables
        app_cpus = cpus_in(placement.get("APP_CPUSET", "")) or os.cpu_count() or 1
        knobs = catalog.effective_knobs(implementation, app_cpus, request.knobs)
        name = f"{implementation.name.replace('/', '-')}.{scenario.name}.{topology.name}"
        variables = {
            **topology.variables,
            **placement,
            **knobs,
            "IMPL": implementation.name,
            "FAULT": os.environ.get("FAULT", ""),
            "HTTP_PORT": "0",  # any free port: nothing here goes through it
            "STATS_PORT": "0",
            "HEALTH_INTERVAL": "1h",  # the harness asks each service itself; no check runs in a window
        }
        stack = Stack(catalog.root, BENCH_PROJECT, variables, store.run_folder(name) / "compose.env")
        workers = int(knobs.get("WORKERS") or 1)
        threads = int(knobs["THREADS"]) if implementation.model == "sync" and knobs.get("THREADS") else None
        pool = int(knobs["DB_POOL_MAX"])
        cell = Cell(
            implementation=implementation,
            scenario=scenario,
            plan=plan,
            workers=workers,
            db_pool_usable=pool if threads is None else min(pool, workers * threads),
            load_address=topology.variables["LOAD_ADDRESS"],
            proxied=topology.variables["LOAD_ADDRESS"].startswith("proxy"),
            golden=read_golden(catalog.root / "contract/golden/recipes.tsv"),
            queries=read_queries(catalog.root / "contract/sql/queries"),
        )
        return Prepared(name, cell, stack, knobs)

    def _build(self, runs: list[Prepared]) -> None:
        began = time.monotonic()
        jobs = {service: (runs[0].stack, service) for service in SHARED}
        jobs |= {prepared.cell.implementation.name: (prepared.stack, "app") for prepared in runs}
        self._view.phase("build", None)
        self._view.note(
            f"images: building what is new of {', '.join(jobs)} (the first time this takes minutes)"
        )
        build_side_by_side(jobs, self._built)
        self._view.note(f"images: ready in {time.monotonic() - began:.0f} s, built side by side")

    def _built(self, name: str, seconds: float) -> None:
        if seconds >= TOLD_FROM_S:
            self._view.note(f"  {name}: {seconds:.0f} s")

    def _start(self, stack: Stack) -> None:
        began = time.monotonic()
        self._view.phase("start the stack", None)
        stack.start(SHARED)
        await_services(stack)
        self._view.note(f"stack: ready in {time.monotonic() - began:.1f} s")

    def _describe(self, prepared: Prepared) -> None:
        images = {service: prepared.stack.service(service).image for service in SHARED}
        prepared.environment = environment(self._catalog.root, prepared.stack, prepared.knobs, images)

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
        rate = next(
            (
                int(t.open.offered_rps)
                for t in done
                if t.verdict is Verdict.OK and t.open and t.open.offered_rps
            ),
            None,
        )
        again = f", once more for trial {retry_of}" if retry_of else ""
        self._view.trial(f"{prepared.name}: trial {index} of {plan.trials}{again}")
        folder = store.fresh_trial_folder(prepared.name, index)
        lab = BenchLab(prepared.stack, prepared.cell, folder, self._view.sample, self._view.offered)
        trial = Visit(lab, plan, prepared.cell.workers, self._view).run(index, rate, retry_of)
        store.save_trial(prepared.name, trial)
        self._view.note(f"  {_told(trial)}")

    # ---- after ----

    def _conclude(self, store: Store, prepared: Prepared, plan: Plan) -> Run:
        request, trials = store.campaign.request, store.trials(prepared.name)
        pooled = [
            _responses(store.trial_folder(prepared.name, trial.index), trial, prepared.cell)
            for trial in trials
            if trial.verdict is Verdict.OK
        ]
        verdict, reasons = analyse.run_verdict(trials, plan.trials)
        summary = analyse.summarise(trials, pooled) if verdict is Verdict.OK else analyse.nothing(trials)
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
            warnings=analyse.run_warnings(trials, summary, verdict),
            summary=summary,
            trials=trials,
            environment=prepared.environment,
        )
        store.save_run(run)
        return run


def _responses(folder: Path, trial: Trial, cell: Cell) -> Floats:
    assert trial.open is not None
    assert trial.open.offered_rps is not None
    asked = Conditions(
        load="open",
        duration_s=trial.open.duration_s,
        connections=trial.open.connections,
        rate_rps=int(trial.open.offered_rps),
        trim_start_s=cell.plan.trim_start_s,
        trim_end_s=cell.plan.trim_end_s,
        lengths=cell.golden.lengths(cell.scenario.expanded_ids or None),
        cpusets={},
    )
    errors = sum(read_report(folder / "open.json").errorDistribution.values())
    return responses(read_rows(folder / "open.sqlite"), asked, errors)


def _told(trial: Trial) -> str:
    goodput = f"{trial.closed.goodput_rps:,.0f}/s, " if trial.closed else ""
    reasons = [f for w in (trial.closed, trial.open) if w for f in w.findings if f.severity != "warning"]
    reasons += [finding for finding in trial.findings if finding.severity != "warning"]
    why = f": {reasons[0].text}" if reasons else ""
    return f"{goodput}{trial.verdict}{why} (besides warm-up and windows {trial.overhead_s or 0:.1f} s)"


def _highest(cpuset: str) -> int:
    return max((int(part) for span in cpuset.split(",") for part in span.split("-") if part), default=-1)
