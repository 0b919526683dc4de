"""Ceilings of schema 1: ceiling.json, figures alone."""

from pathlib import Path

from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Baselines, Result
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.studies.ceiling.conclusions import Ceilings
from tandem.studies.old_json import Raw, incomplete, migrate

FILE, PLAN = "ceiling.json", "ceiling"


def migrated(folder: Path) -> tuple[Result[Ceilings], list[Trial]] | None:
    """The ceilings of that folder in today's schema, without trials. Raises TandemError, naming the file."""
    result = migrate(folder / FILE, lambda raw: _result(folder.name, raw))
    return None if result is None else (result, [])


def _result(name: str, raw: Raw) -> Result[Ceilings]:
    every = {**raw["ceilings"], **raw["implementations"]}
    reasons = [f"{what}: {text}" for what, own in every.items() for text in own["refused"]]
    known = all(own["goodput_rps"] is not None for own in every.values())
    wrong = any(": invalid" in reason or ": failed" in reason for reason in reasons)
    missing = f"it has neither its plan ({PLAN} unless another was given) nor its end, environment and trials"
    return Result[Ceilings](
        id=name,
        request=Request(
            study="ceiling",
            variants=[Variant(label=own, implementation=own) for own in raw["implementations"]],
            scenario=raw["scenario"],
            conditions=Conditions(topology=raw["topology"], placement=raw["placement"]),
            plan=PLAN,
            seed=raw["seed"],
        ),
        started_at=raw["started_at"],
        finished_at=raw["started_at"],
        verdict=Verdict.INVALID if wrong else Verdict.OK if known else Verdict.VOID,
        reasons=reasons,
        findings=[incomplete(missing)],
        trials={},
        baselines=Baselines(),
        conclusions=Ceilings.model_validate(
            {
                **{own: raw[own] for own in ("rounds", "window_s", "equal_load_rps", "ceilings")},
                "variants": raw["implementations"],
            }
        ),
    )
