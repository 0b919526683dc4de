"""The studies. A further one is a folder beside this file and a line here."""

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from tandem.engine.study import Study
from tandem.errors import TandemError
from tandem.record.result import SCHEMA_VERSION, Result
from tandem.record.store import RESULT, TRIALS, read_model, read_trial
from tandem.record.trial import Trial
from tandem.studies.bench.study import Bench
from tandem.studies.compare.study import Compare
from tandem.studies.ceiling.study import Ceiling
from tandem.studies.crosscheck.study import CrossCheck
from tandem.studies.sweep.study import Sweep
from tandem.studies.capacity.study import Capacity

STUDIES: dict[str, type[Study[Any]]] = {
    study.name: study for study in (Bench, Compare, Capacity, Sweep, Ceiling, CrossCheck)
}


def study_of(file: Path) -> type[Study[Any]]:
    """The study that a result is of. Raises TandemError, naming the file, where that is not known."""
    try:
        raw = json.loads(file.read_text())
        version, name = raw.get("schema_version"), raw["request"]["study"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TandemError(f"{file}: the record cannot be read: {error!r}") from None
    if version != SCHEMA_VERSION:
        raise TandemError(
            f"{file}: schema version {version} is not known; this Tandem reads {SCHEMA_VERSION}"
        )
    if name not in STUDIES:
        raise TandemError(f"{file}: the study '{name}' is not known; there are {', '.join(sorted(STUDIES))}")
    return STUDIES[name]


def read_result(file: Path) -> Result[Any]:
    """A result with its study's conclusions. Raises TandemError, naming the file."""
    kind = study_of(file)
    return read_model(Result[kind.kind], file)  # type: ignore[name-defined]


def read_folder(folder: Path) -> tuple[type[Study[Any]], Result[Any], list[Trial]]:
    """A study's folder: its kind, its result, its trials where they were kept. Raises TandemError."""
    file = folder / RESULT if folder.is_dir() else folder
    if not file.is_file():
        for kind in STUDIES.values():
            if folder.is_dir() and (old := kind.migrated(folder)) is not None:
                return kind, *old
        raise TandemError(f"{folder} holds no finished study (no {RESULT})")
    result = read_result(file)
    trials = sorted(
        (read_trial(each) for each in (file.parent / TRIALS).glob("*.json")),
        key=lambda trial: trial.started_at,
    )
    return study_of(file), result, trials


def json_schema() -> dict[str, Any]:
    """The JSON Schema of all that this Tandem writes: `oneOf` a result of each study and a trial. What results have in
    common is described once, under `$defs`."""
    results: dict[str, type[BaseModel]] = {
        name: Result[kind.kind]  # type: ignore[name-defined]
        for name, kind in STUDIES.items()
    }
    of: Literal["serialization"] = "serialization"
    every: list[type[BaseModel]] = [*results.values(), Trial]
    models = [(model, of) for model in every]
    references, definitions = models_json_schema(models)
    for name, model in results.items():
        definition = definitions["$defs"][_key(references[model, of])]
        definition["title"] = f"result.json of {name}"
        request = {"allOf": [definition["properties"]["request"], {"properties": {"study": {"const": name}}}]}
        definition["properties"]["request"] = request
    definitions["$defs"][_key(references[Trial, of])]["title"] = "a file of trials/"
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Tandem, schema version {SCHEMA_VERSION}",
        "oneOf": [references[model, of] for model in every],
        **definitions,
    }


def _key(reference: dict[str, Any]) -> str:
    return str(reference["$ref"]).rpartition("/")[2]
