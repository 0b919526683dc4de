"""TOML files of the repository and of a user, with one form of error. Pure but for reading."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from tandem.errors import UsageError

RENAMED = {"knobs": "settings"}
"""A key's earlier name -> its name."""


def read_toml(file: Path) -> dict[str, Any]:
    """Read a file. Raises UsageError, naming it."""
    try:
        return tomllib.loads(file.read_text())
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{file}: not valid TOML: {error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: not UTF-8: {error}") from None
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None


def parsed[M: BaseModel](model: type[M], data: Any, file: Path, *within: str) -> M:
    """Make a model of what a file holds. within: the keys under which it stands. Raises UsageError with the file and the key."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = " -> ".join(str(part) for part in (*within, *first["loc"])) or "(top level)"
        renamed = RENAMED.get(str(first["loc"][-1])) if first["type"] == "extra_forbidden" else None
        told = f"is called '{renamed}' now" if renamed else first["msg"]
        raise UsageError(f"{file}: {where}: {told}") from None
