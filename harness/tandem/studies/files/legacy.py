"""Reads what Tandem left of an experiment with files before schema 3 (reproduction.json) as a result of today."""

import json
from pathlib import Path
from typing import Any

from tandem.errors import TandemError
from tandem.record.request import Request, Variant
from tandem.record.result import Result
from tandem.record.store import explained
from tandem.studies.files.spec import FilesRun, lines_made, percent_of, request_with, variant
from tandem.studies.reproduce import legacy
from tandem.studies.reproduce.conclusions import Reproduced, RowResult


def read(folder: Path) -> Result[Reproduced] | None:
    """The result in a folder, whose figures stand in its conclusions; None: there is none of this study's. Raises
    TandemError, naming the file."""
    file = folder / legacy.FILE
    if not file.is_file():
        return None
    try:
        old: dict[str, Any] = json.loads(file.read_text())
        if old["kind"] != "files":
            return None
        found = legacy.result(old, folder.name)
        return found.model_copy(update={"request": _request(found)})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TandemError(f"{file}: the record cannot be read: {explained(error)}") from None


def _request(old: Result[Reproduced]) -> Request:
    """As it would be asked for today."""
    found, percent = old.conclusions, percent_of(old.conclusions.settings)
    variants = [_variant(row, percent) for row in found.rows]
    return request_with(
        variants, found.experiment, found.experiment, found.digest, found.plan, old.request.seed
    )


def _variant(row: RowResult, percent: int) -> Variant:
    told: dict[str, Any] = dict(row.settings)
    run = FilesRun(
        way=told["way"],
        files=told["files"],
        lines=told["lines"].rpartition(" of ")[2].replace(",", ""),
        buffer_bytes=told["buffer"].removesuffix(" bytes"),
        cache=told["cache"],
    )
    return variant(row.label, run, lines_made(run, percent))
