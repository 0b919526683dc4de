"""Records of schema 1: one JSON file for each command. What reading them shares."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tandem.errors import TandemError
from tandem.record.result import Environment
from tandem.record.store import explained
from tandem.record.window import Finding

type Raw = dict[str, Any]


def migrate[T](file: Path, convert: Callable[[Raw], T]) -> T | None:
    """What an old record becomes; None where there is none. Raises TandemError, naming the file, if it cannot be read."""
    if not file.is_file():
        return None
    try:
        return convert(json.loads(file.read_text()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TandemError(f"{file}: the record cannot be read: {explained(error)}") from None


def environment(raw: Raw) -> Environment:
    """An old record's, whose settings were called knobs and which held the line of the self-test."""
    fields = {name: value for name, value in raw.items() if name not in ("knobs", "selftest")}
    return Environment.model_validate({**fields, "settings": raw["knobs"]})


def incomplete(what: str) -> Finding:
    """what: the old record did not hold."""
    return Finding(code="old-record", severity="warning", text=f"the record is an older Tandem's: {what}")
