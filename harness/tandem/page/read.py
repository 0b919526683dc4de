"""Finds results and reads them, the newest first. What cannot be read is named, and the rest goes on."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from tandem.engine.journal import BEGUN
from tandem.engine.study import Study
from tandem.errors import TandemError
from tandem.record.result import Result
from tandem.record.store import RESULT, file_name
from tandem.record.trial import Trial
from tandem.studies.registry import beginning, read_folder

BELOW = ("", "*/", "*/*/")
"""How deep below a given folder studies are looked for."""
SLUG_MOST = 120


@dataclass(frozen=True)
class Header:
    """What is known of a result before it is read whole."""

    folder: Path
    name: str
    """For people: where it lies."""
    started_at: str
    study: str = ""
    verdict: str = ""
    scenario: str = ""
    variants: str = ""
    headline: str = ""
    slug: str = ""
    """Name of its page; unique."""


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
    found, broken = {}, {}
    for folder in _studies(folders):
        name = (folder.relative_to(root) if folder.is_relative_to(root) else folder).as_posix()
        if (folder / RESULT).is_file():
            try:
                found[name] = _header(folder, name)
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                broken[name] = NotShown(name, f"{RESULT} cannot be read: {error!r}"[:300])
        else:
            broken[name] = NotShown(name, "not finished; run its command with --resume to continue it")
    newest, taken = [], Counter[str]()
    for header in sorted(found.values(), key=lambda header: header.started_at, reverse=True):
        slug = file_name(header.name).strip(".-")[-SLUG_MOST:] or "run"
        taken[slug] += 1
        newest.append(replace(header, slug=slug if taken[slug] == 1 else f"{slug}~{taken[slug]}"))
    return newest, [broken[name] for name in sorted(broken)]


def _studies(folders: Iterable[Path]) -> Iterator[Path]:
    found = {
        file.parent.resolve()
        for folder in folders
        for at in BELOW
        for name in (RESULT, BEGUN)
        for file in folder.glob(at + name)
    }
    return iter(sorted(found))


def _header(folder: Path, name: str) -> Header:
    raw = beginning(folder / RESULT)
    asked = raw["request"]
    return Header(
        folder=folder,
        name=name,
        started_at=datetime.fromisoformat(raw["started_at"]).isoformat(),
        study=str(asked["study"]),
        verdict=str(raw["verdict"]),
        scenario=str(asked["scenario"]),
        variants=", ".join(str(variant["label"]) for variant in asked["variants"][:4]),
        headline=str(raw.get("headline") or ""),
    )


def read(header: Header) -> Run | NotShown:
    """A result with its trials, or why there is none."""
    try:
        kind, result, trials = read_folder(header.folder)
    except TandemError as error:
        return NotShown(header.name, str(error))
    return Run(header, kind, result, trials)
