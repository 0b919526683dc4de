"""Results on disk: one folder per study. A file is complete or not there."""

import os
import re
import shutil
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from tandem.errors import TandemError
from tandem.record.trial import Trial

NEEDED_BYTES = 1 << 30
"""Free space below which a study does not start: rows and logs of the longest plan fit."""
RESULT, TRIALS, PACKED = "result.json", "trials", "trials.jsonl.xz"
"""A study keeps its trials in a folder, a file each; a committed record has one file of them, a line each."""
OPENED = 2
"""Levels of a JSON file that have a line for each key."""


def write_atomically(file: Path, text: str) -> None:
    """Replaces a file in one step. Raises TandemError, naming the file, where the disk is full."""
    temporary = file.with_name(f".{file.name}.new")
    try:
        with temporary.open("w") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise TandemError(f"{file} cannot be written: {error.strerror}. Finished trials are kept.") from None


def in_lines(value: Any, level: int = 0) -> str:
    """JSON that people can read and git can compare: a line for each key of the outer levels, and for each object of their lists."""
    end = "\n" + " " * level
    if isinstance(value, dict) and value and level < OPENED:
        parts = (f"{to_json(key).decode()}: {in_lines(part, level + 1)}" for key, part in value.items())
        return f"{{{end} " + f",{end} ".join(parts) + f"{end}}}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return f"[{end} " + f",{end} ".join(to_json(part).decode() for part in value) + f"{end}]"
    return to_json(value).decode()


def write_model(file: Path, model: BaseModel) -> None:
    """Writes a record. Raises TandemError, naming the file, where that cannot be done."""
    write_atomically(file, in_lines(model.model_dump(mode="json")) + "\n")


def file_name(name: str) -> str:
    """A name as it can stand in a path: an implementation's path or a set of settings becomes one word."""
    return re.sub(r"[^A-Za-z0-9.~-]+", "-", name)


def room_for(folder: Path) -> None:
    """Makes a folder. Raises TandemError if that cannot be done or there is too little space."""
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise TandemError(f"{folder} cannot be created: {error.strerror}") from None
    free = shutil.disk_usage(folder).free
    if free < NEEDED_BYTES:
        folder.rmdir()
        raise TandemError(
            f"{folder.parent} has {free / 1e9:.2f} GB left, but a study needs {NEEDED_BYTES / 1e9:.1f} GB: free some space first"
        )


def give(folder: Path, owner: Path) -> None:
    """Makes the owner of a path the owner of everything in a folder: the harness's container runs as root."""
    status = owner.stat()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, status.st_uid, status.st_gid, follow_symlinks=False)


def read_model[M: BaseModel](kind: type[M], file: Path, remedy: str = "") -> M:
    """A record. Raises TandemError, naming the file, the key and the remedy, if it cannot be read."""
    try:
        return kind.model_validate_json(file.read_text())
    except (ValueError, OSError) as error:
        raise TandemError(f"{file}: the record cannot be read: {explained(error)}.{remedy}") from None


def explained(error: Exception, *within: str) -> str:
    """The first thing that is wrong, with the path of its key. within: the keys above it."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    where = " -> ".join(map(str, (*within, *first["loc"])))
    return f"{where}: {first['msg']}" if where else first["msg"]


def read_trials(folder: Path) -> list[Trial]:
    """The trials of a study's folder, in order of time. Raises TandemError for a file that cannot be read."""
    found = [read_trial(file) for file in (folder / TRIALS).glob("*.json")]
    return sorted(found, key=lambda trial: (trial.started_at, trial.spec.key))


def read_trial(file: Path) -> Trial:
    """A trial. Raises TandemError, naming the file, if it cannot be read."""
    return read_model(Trial, file, " Move it away to measure that trial again.")
