"""Campaigns of schema 1 and 2: campaign.json and a run.json for each implementation."""

from collections import Counter
from pathlib import Path

from pydantic import ValidationError

from tandem.catalog.catalog import Plan
from tandem.errors import TandemError
from tandem.record.legacy import RUN, TRIMS_S, OldRequest, OldRun, OldTrial, read_campaign, trial_of
from tandem.record.request import Variant
from tandem.record.result import Baselines, Result
from tandem.record.store import read_model
from tandem.record.trial import Trial, WarmUp
from tandem.record.window import Finding
from tandem.studies.bench.conclusions import Benched, Row, Summary, round_trip, worst


def migrated(folder: Path) -> tuple[Result[Benched], list[Trial]] | None:
    """The bench that a campaign's folder holds, or that of a folder with one run.json; None if there is none.

    Raises TandemError, naming the file, for a record that cannot be read.
    """
    campaign = read_campaign(folder)
    if campaign is not None and campaign.request.kind != "bench":
        return None
    files = [file for file in (folder / RUN,) if file.is_file()] or sorted(folder.glob(f"*/{RUN}"))
    if not files:
        return None
    runs = sorted((_read(file) for file in files), key=lambda run: run.implementation)
    request = campaign.request if campaign is not None else _request(runs)
    by_run = {run.implementation: _trials(run) for run in runs}
    trials = sorted((t for own in by_run.values() for t in own), key=lambda trial: trial.started_at)
    variants = [Variant(label=name, implementation=name) for name in request.implementations]
    phases_s: dict[str, float] = {}
    for phase in (phase for trial in trials for phase in trial.phases):
        phases_s[phase.name] = phases_s.get(phase.name, 0.0) + phase.duration_s
    result = Result[Benched](
        id=runs[0].campaign,
        request=request.migrated(variants),
        started_at=runs[0].started_at,
        finished_at=max(run.finished_at for run in runs),
        verdict=worst(run.verdict for run in runs),
        reasons=[f"{run.implementation}: {reason}" for run in runs for reason in run.reasons],
        findings=[],
        trials=dict(Counter(trial.verdict for trial in trials)),
        baselines=Baselines(ceilings_rps=runs[0].ceilings_rps, selftest=runs[0].environment.selftest),
        conclusions=Benched(rows=[_row(run, by_run[run.implementation]) for run in runs]),
        phases_s=phases_s,
        environments={run.implementation: run.environment.migrated() for run in runs},
    )
    return result, trials


def _read(file: Path) -> OldRun:
    return read_model(OldRun, file)


def _request(runs: list[OldRun]) -> OldRequest:
    """What was asked for, as far as the records of a campaign tell where its own file is not there."""
    first = runs[0]
    distance = first.environment.variables.get("DB_RTT_MS")
    return OldRequest(
        implementations=[run.implementation for run in runs],
        scenario=first.scenario,
        topology=first.topology,
        placement=first.placement,
        plan=first.plan,
        seed=first.seed,
        knobs={},
        db_rtt_ms=int(distance) if distance else None,
    )


def _plan(run: OldRun) -> Plan | None:
    """The plan as it was, if the record holds it."""
    text = run.environment.configuration.get("plan")
    try:
        return Plan.model_validate_json(text) if text else None
    except ValidationError:
        return None


def _trials(run: OldRun) -> list[Trial]:
    plan = _plan(run)
    trims_s = (plan.trim_start_s, plan.trim_end_s) if plan else TRIMS_S

    def warm_up(old: OldTrial) -> WarmUp:
        if plan is None:
            spent = round(old.warm_up_s or 0)
            return WarmUp(least_s=spent, cap_s=spent)
        return WarmUp(
            least_s=plan.warm_up_s,
            requests_per_worker=plan.warm_up_requests_per_worker,
            steady_buckets=plan.steady_buckets,
            cap_s=plan.warm_up_cap_s,
        )

    return [trial_of(old, run.implementation, warm_up(old), trims_s) for old in run.trials]


def _row(run: OldRun, trials: list[Trial]) -> Row:
    try:
        summary = Summary.model_validate(run.summary)
    except ValidationError as error:
        raise TandemError(f"{run.campaign}: {run.run}: its summary cannot be read: {error}") from None
    return Row(
        label=run.implementation,
        verdict=run.verdict,
        reasons=run.reasons,
        bottleneck=run.bottleneck,
        bottleneck_evidence=run.bottleneck_evidence,
        findings=[Finding(code=one.code, severity="warning", text=one.text) for one in run.warnings],
        summary=summary,
        db_rtt=round_trip(trials),
    )
