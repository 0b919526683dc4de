"""Reads what an older Tandem left of a reproduction (reproduction.json) as a result of today. Pure but for reading."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tandem.errors import TandemError
from tandem.record.request import Conditions, Request, Variant
from tandem.record.result import Baselines, Environment, Result
from tandem.record.store import explained
from tandem.record.window import Verdict
from tandem.studies.reproduce.conclusions import Reproduced, RowResult, RowTrial
from tandem.studies.reproduce.report import headline

FILE = "reproduction.json"
NOT_SETTINGS = ("APP_MAXCONN", "PGBOUNCER_POOL_SIZE")
"""Of a row's settings in capitals, those of the shared services."""


def read(folder: Path) -> Result[Reproduced] | None:
    """The result in a folder, whose figures stand in its conclusions: these records hold no windows. None: there is none
    of this study's. Raises TandemError, naming the file."""
    file = folder / FILE
    if not file.is_file():
        return None
    try:
        old = json.loads(file.read_text())
        return None if old["kind"] == "files" else result(old, folder.name)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TandemError(f"{file}: the record cannot be read: {explained(error)}") from None


def result(old: dict[str, Any], name: str) -> Result[Reproduced]:
    """name: of its folder."""
    rows = [_row(row) for row in old["rows"]]
    concluded = {
        key: old[key]
        for key in (
            *("experiment", "title", "origin", "published_host", "kind", "plan", "settings", "digest"),
            *("columns", "claims", "sentence"),
        )
    }
    environments = {label: _environment(found) for label, found in old["environment"].items()}
    hosts = [found.host.get("cpus") for found in environments.values()]
    return Result[Reproduced](
        id=name,
        request=Request(
            study="reproduce",
            variants=[_variant(row, list(environments)) for row in rows],
            scenario=rows[0].settings.get("scenario", "index"),
            conditions=Conditions(
                topology=rows[0].settings.get("topology", "direct"),
                placement=rows[0].settings.get("placement", "two-cores"),
            ),
            plan=old["plan"],
            seed=old["seed"],
            title=old["experiment"],
            options={
                "experiment": old["experiment"],
                "digest": old["digest"],
                "cpus": int(hosts[0] or 1) if hosts else 1,
            },
        ),
        started_at=old["started_at"],
        finished_at=old["finished_at"],
        verdict=old["verdict"],
        headline=headline(old),
        reasons=old["reasons"],
        findings=[],
        trials=dict(Counter(Verdict(one.verdict) for row in rows for one in row.trials)),
        baselines=Baselines(),
        conclusions=Reproduced.model_validate({**concluded, "rows": [row.model_dump() for row in rows]}),
        phases_s=old["spent_s"],
        environments=environments,
    )


def _row(row: dict[str, Any]) -> RowResult:
    kept = {key: value for key, value in row.items() if key != "starts"}
    return RowResult.model_validate({**kept, "trials": [_trial(start) for start in row["starts"]]})


def _trial(start: dict[str, Any]) -> RowTrial:
    renamed = {"attempts": "attempt", "raw": "trial"}
    own = {renamed.get(key, key): value for key, value in start.items() if key != "spent_s"}
    return RowTrial.model_validate(own)


def _environment(old: dict[str, Any]) -> Environment:
    kept = {key: value for key, value in old.items() if key in Environment.model_fields}
    return Environment.model_validate({**kept, "settings": old["knobs"]})


def _variant(row: RowResult, programs: list[str]) -> Variant:
    """A row as something that was measured, as far as its settings tell."""
    told = row.settings
    named = [name for name in programs if row.label.startswith(f"{name},")]
    return Variant(
        label=row.label,
        implementation=told.get("implementation") or (named or programs)[0],
        settings={name: value for name, value in told.items() if name.isupper() and name not in NOT_SETTINGS},
        build="debug" if told.get("build") == "debug" else None,
    )
