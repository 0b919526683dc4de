"""Finds results and reads them, the newest first. What cannot be read is named, and the rest goes on."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tandem.engine.study import Study
from tandem.errors import TandemError
from tandem.record.result import Result
from tandem.record.store import RESULT, file_name
from tandem.record.trial import Trial
from tandem.studies.registry import IndexEntry, entry, read_folder, studies_in

BELOW = ("", "*", "*/*")
"""How deep below a given folder studies are looked for."""
SLUG_MOST, REASON_MOST = 120, 300
"""The most characters of a slug and of a reason."""


@dataclass(frozen=True)
class Header:
    """What is known of a result before it is read whole."""

    path: Path
    """Folder of the result."""
    name: str
    """Place of the result, for people."""
    entry: IndexEntry
    slug: str = ""
    """Name of the result's page; unique."""


@dataclass(frozen=True)
class Run:
    """A result that was read whole."""

    header: Header
    kind: type[Study[Any]]
    result: Result[Any]
    trials: list[Trial]

    @property
    def slug(self) -> str:
        return self.header.slug


@dataclass(frozen=True)
class NotShown:
    """What lies there and cannot be shown."""

    name: str
    reason: str


def find(folders: Iterable[Path], root: Path) -> tuple[list[Header], list[NotShown]]:
    """The results in some folders, the newest first, and what cannot be shown. root: names are told from there."""
    found: list[Header] = []
    broken: list[NotShown] = []
    for folder in studies_in([folder.resolve() for folder in folders], BELOW):
        name = (folder.relative_to(root) if folder.is_relative_to(root) else folder).as_posix()
        try:
            if not (folder / RESULT).is_file():
                raise TandemError("not finished; run its command with --resume to continue it")
            found.append(Header(folder, name, entry(name, folder / RESULT)))
        except TandemError as error:
            broken.append(NotShown(name, str(error)[:REASON_MOST]))
    newest, taken = [], Counter[str]()
    for header in sorted(found, key=lambda header: header.entry.started_at, reverse=True):
        slug = file_name(header.name).strip(".-")[-SLUG_MOST:] or "run"
        taken[slug] += 1
        newest.append(replace(header, slug=slug if taken[slug] == 1 else f"{slug}~{taken[slug]}"))
    return newest, broken


def read(header: Header) -> Run:
    """A result with its trials. Raises TandemError, naming the file."""
    return Run(header, *read_folder(header.path))
