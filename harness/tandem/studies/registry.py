"""The studies. A further one is a folder beside this file and a line here."""

import json
from pathlib import Path
from typing import Any

from tandem.engine.study import Study
from tandem.errors import TandemError
from tandem.record.result import SCHEMA_VERSION, Result
from tandem.record.store import RESULT, TRIALS, read_model, read_trial
from tandem.record.trial import Trial
from tandem.studies.bench.study import Bench
from tandem.studies.files.study import Files

STUDIES: dict[str, type[Study[Any]]] = {study.name: study for study in (Bench, Files)}


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
