"""Records of capacity searches from before schema 3: capacity.json, and request.json beside it."""

import json
from pathlib import Path
from typing import Any

from tandem.errors import TandemError
from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Baselines, Environment, Result
from tandem.record.store import explained
from tandem.record.window import Finding
from tandem.studies.capacity.conclusions import Behaviour, CapacityFound
from tandem.studies.capacity.judged import Judged
from tandem.studies.capacity.search import Slo

RECORD, REQUEST = "capacity.json", "request.json"
LONGEST_S = 60
"""The command's default; the record itself does not tell."""


def migrated(folder: Path) -> Result[CapacityFound] | None:
    """The record in today's schema; None where there is none. Its probes and loads keep what is told of them; windows
    were not kept. Raises TandemError, naming the file."""
    file = folder / RECORD
    if not file.is_file():
        return None
    try:
        old = json.loads(file.read_text())
        if old.get("schema_version") != 1:
            raise ValueError(f"schema version {old.get('schema_version')} is not known")
        return _result(folder, old)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        text = f"{error.args[0]} is missing" if isinstance(error, KeyError) else explained(error)
        raise TandemError(f"{file}: the record cannot be read: {text}.") from None


def _result(folder: Path, old: dict[str, Any]) -> Result[CapacityFound]:
    environment: dict[str, Any] | None = old["environment"]
    label, slo = old["implementation"], Slo.model_validate(old["slo"])
    distance = (environment or {}).get("variables", {}).get("DB_RTT_MS")
    same = CapacityFound.model_fields.keys() - {"slo", "search", "confirmations", "behaviour"}
    return Result[CapacityFound](
        id=folder.name,
        request=Request(
            study="capacity",
            variants=[Variant(label=label, implementation=label)],
            scenario=old["scenario"],
            conditions=Conditions(
                topology=old["topology"],
                placement=old["placement"],
                db_rtt_ms=None if distance is None else int(distance),
            ),
            plan=old["plan"],
            seed=old["seed"],
            settings=old["knobs"],
            options={"slo": slo.asked, "longest_s": _longest_s(folder)},
        ),
        started_at=old["started_at"],
        finished_at=old["finished_at"],
        verdict=old["verdict"],
        reasons=old["reasons"],
        findings=_interruptions(old),
        trials={},
        baselines=Baselines(
            ceilings_rps=old.get("ceilings_rps", {}), selftest=(environment or {}).get("selftest")
        ),
        conclusions=CapacityFound.model_validate(
            {
                **{name: old[name] for name in same},
                "slo": slo,
                "search": [_judged(probe, slo) for probe in old["search"]],
                "confirmations": [_judged(probe, slo) for probe in old["confirmations"]],
                "behaviour": [
                    {name: value for name, value in load.items() if name in Behaviour.model_fields}
                    for load in old["behaviour"]
                ],
            }
        ),
        phases_s=old.get("phases_s", {}),
        environments={} if environment is None else {label: _environment(environment)},
    )


def _judged(probe: dict[str, Any], slo: Slo) -> Judged:
    times = probe["response_time_ms"] or {}
    kept = {name: value for name, value in probe.items() if name in Judged.model_fields}
    return Judged(**kept, p50_ms=times.get("p50"), percentile_ms=times.get(slo.percentile))


def _environment(old: dict[str, Any]) -> Environment:
    same = {name: value for name, value in old.items() if name in Environment.model_fields}
    return Environment(**same, settings=old["knobs"])


def _longest_s(folder: Path) -> int:
    try:
        return int(json.loads((folder / REQUEST).read_text())["longest_s"])
    except (OSError, ValueError, KeyError, TypeError):
        return LONGEST_S


def _interruptions(old: dict[str, Any]) -> list[Finding]:
    """A search went on in another fresh start where it was interrupted."""
    told = {"search_starts": "the probes of the search", "behaviour_starts": "the loads around the capacity"}
    return [
        Finding(
            code="interrupted",
            severity="warning",
            text=f"it was interrupted: {what} are of {old[name]} fresh starts",
        )
        for name, what in told.items()
        if old.get(name, 1) > 1
    ]
