"""Sweeps of schema 1: sweep.json, with the points' figures in place of trials."""

from collections import Counter
from pathlib import Path

from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Baselines, Result
from tandem.record.trial import Trial
from tandem.studies.old_json import Raw, environment, incomplete, migrate
from tandem.studies.sweep.conclusions import Curve, Swept

FILE = "sweep.json"


def migrated(folder: Path) -> tuple[Result[Swept], list[Trial]] | None:
    """The sweep of that folder in today's schema, without trials. Raises TandemError, naming the file."""
    result = migrate(folder / FILE, lambda raw: _result(folder.name, raw))
    return None if result is None else (result, [])


def _result(name: str, raw: Raw) -> Result[Swept]:
    asked, environments = raw["request"], raw["environment"]
    return Result[Swept](
        id=name,
        request=_request(asked),
        started_at=raw["started_at"],
        finished_at=raw["finished_at"],
        verdict=raw["verdict"],
        reasons=raw["reasons"],
        findings=[incomplete("it has the figures of each trial in curves only")],
        trials=Counter(point["verdict"] for point in raw["points"]),
        baselines=Baselines(
            ceilings_rps=raw.get("ceilings_rps", {}),
            selftest=next((own.get("selftest") for own in environments.values()), None),
        ),
        conclusions=Swept(
            axis=asked["axis"],
            values=asked["values"],
            rounds=asked["rounds"],
            curves=[_curve(own) for own in raw["curves"]],
        ),
        phases_s=raw.get("phases_s", {}),
        environments={label: environment(own) for label, own in environments.items()},
    )


def _request(asked: Raw) -> Request:
    return Request(
        study="sweep",
        variants=[Variant(label=name, implementation=name) for name in asked["implementations"]],
        scenario=asked["scenario"],
        conditions=Conditions(
            topology=asked["topology"], placement=asked["placement"], db_rtt_ms=asked.get("db_rtt_ms")
        ),
        plan=asked["plan"],
        seed=asked["seed"],
        settings=asked["knobs"],
        options={name: asked[name] for name in ("axis", "values", "rounds")},
    )


def _curve(raw: Raw) -> Curve:
    fields = {name: value for name, value in raw.items() if name != "implementation"}
    return Curve.model_validate({**fields, "label": raw["implementation"]})
