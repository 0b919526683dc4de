"""The studies. A further one is a folder beside this file, with study.py and command.py."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from importlib.util import find_spec
from inspect import isabstract
from os import SEEK_END
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from pydantic_core import from_json

from tandem.catalog.catalog import Catalog
from tandem.catalog.service import OwnService
from tandem.engine import replay
from tandem.engine.journal import BEGUN
from tandem.engine.study import Study
from tandem.errors import TandemError, UsageError
from tandem.facts.session import SessionRecord
from tandem.facts.statement import StatedAnswers
from tandem.record.packed import unpack
from tandem.record.request import Request
from tandem.record.result import SCHEMA_VERSION, Result
from tandem.record.store import PACKED, RESULT, read_model, read_trials
from tandem.record.trial import Trial
from tandem.record.window import Verdict

FOLDERS = sorted(file.parent.name for file in Path(__file__).parent.glob("*/study.py"))


def _kinds_in(folder: str) -> Iterator[type[Study[Any]]]:
    """The kinds of study that are defined in a study's folder."""
    package = f"tandem.studies.{folder}."
    for found in vars(import_module(f"{package}study")).values():
        if isinstance(found, type) and issubclass(found, Study) and not isabstract(found):
            yield from [found] if found.__module__.startswith(package) else []


STUDIES: dict[str, type[Study[Any]]] = {kind.name: kind for folder in FOLDERS for kind in _kinds_in(folder)}


def add_commands() -> None:
    """Imports the commands of all studies, which adds them to the command line."""
    for folder in FOLDERS:
        if find_spec(name := f"tandem.studies.{folder}.command"):  # one may be asked for through another's
            import_module(name)


def part_of(catalog: Catalog, request: Request, rows: Sequence[str]) -> Request:
    """A recorded request of these rows alone, and of what a study measures with them. Raises UsageError for a row that there is not,
    and where the study cannot be made without the others."""
    own = _again(request, "part_of")
    found: Request = own(catalog, request, rows) if own else replay.part(request, rows)
    try:
        STUDIES[request.study](catalog, found)
    except UsageError as error:
        raise UsageError(f"--only is not for this record: {error}") from None
    return found


def of_today(catalog: Catalog, request: Request) -> Request:
    """A recorded request as it would be asked today. Raises UsageError for what is no longer there."""
    own = _again(request, "of_today")
    found: Request = own(catalog, request) if own else request
    return found


def _again(request: Request, what: str) -> Callable[..., Any] | None:
    """What the folder of a study says of records, in again.py; None: nothing of its own."""
    name = f"{STUDIES[request.study].__module__.rpartition('.')[0]}.again"
    return getattr(import_module(name), what, None) if find_spec(name) else None


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """Raises TandemError, naming the file, for whatever is wrong with the record in it."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TandemError(f"{file}: the record cannot be read: {error!r}") from None


def _study(file: Path, raw: dict[str, Any]) -> type[Study[Any]]:
    """The study of what stands in the file. Raises TandemError for another version or an unknown study."""
    version, name = raw.get("schema_version"), raw["request"]["study"]
    if version != SCHEMA_VERSION:
        raise TandemError(
            f"{file}: schema version {version} is not known; this Tandem reads {SCHEMA_VERSION}"
        )
    if name not in STUDIES:
        raise TandemError(
            f"{file}: the study '{name}' is not known; the studies are {', '.join(sorted(STUDIES))}"
        )
    return STUDIES[name]


def read_result(file: Path) -> Result[Any]:
    """A result with its study's conclusions. Raises TandemError, naming the file, also where its study is not known."""
    with _named(file):
        kind = _study(file, beginning(file))
    return read_model(Result[kind.kind], file)  # type: ignore[name-defined]


def read_folder(folder: Path) -> tuple[type[Study[Any]], Result[Any], list[Trial]]:
    """A study's folder or its result.json: its kind, its result, its trials where they were kept. Raises TandemError,
    naming the file."""
    file = folder / RESULT if folder.is_dir() else folder
    if not file.is_file():
        raise TandemError(f"{folder} holds no finished study (no {RESULT})")
    result, packed = read_result(file), file.with_name(PACKED)
    kind = STUDIES[result.request.study]
    if not result.packed_sha256 and not packed.exists():
        return kind, result, read_trials(file.parent)
    result.environments, trials = unpack(packed, result.packed_sha256)
    return kind, result, trials


def json_schema() -> dict[str, Any]:
    """The JSON Schema of all that this Tandem writes: `oneOf` a result of each study, a trial, a session, answers and a service file. What results have in
    common is described once, under `$defs`."""
    studies: dict[type[BaseModel], list[str]] = {}  # two studies may conclude the same kind of thing
    for name, kind in STUDIES.items():
        studies.setdefault(Result[kind.kind], []).append(name)  # type: ignore[name-defined]
    titles: dict[type[BaseModel], str] = {
        **{model: f"result.json of {', '.join(names)}" for model, names in studies.items()},
        Trial: "a file of trials/, a line of trials.jsonl.xz",
        SessionRecord: "a file of results/sessions/",
        StatedAnswers: "answers.json of a page",
        OwnService: "a service file (--service)",
    }
    of: Literal["serialization"] = "serialization"
    references, definitions = models_json_schema([(model, of) for model in titles])
    for model, title in titles.items():
        definition = definitions["$defs"][references[model, of]["$ref"].rpartition("/")[2]]
        definition["title"] = title
        if names := studies.get(model):
            own = {"properties": {"study": {"enum": names}}}
            definition["properties"]["request"] = {"allOf": [definition["properties"]["request"], own]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Tandem, schema version {SCHEMA_VERSION}",
        "oneOf": [references[model, of] for model in titles],
        **definitions,
    }


# ---- a folder of many ----

FIRST_BYTES = 64 << 10
"""Bytes of a result that are read; the rest only where its request alone is longer."""
BELOW = ("*", "*/*")
"""How deep studies are looked for."""


@dataclass(frozen=True)
class IndexEntry:
    """What a list of results says of one result."""

    folder: str
    """Folder of the result, below the one that was looked through."""
    id: str
    study: str
    variants: list[str]
    scenario: str
    started_at: str
    """Time of the start: ISO 8601, UTC."""
    verdict: str
    headline: str
    """The main figure; empty where there is none."""


@dataclass(frozen=True)
class Index:
    """The results in a folder, the newest first, and what else is there."""

    entries: list[IndexEntry]
    unreadable: list[str]
    """Reasons why results cannot be read, each with the file's name."""
    unfinished: list[str]
    """Folders of studies that have begun and not ended."""


def index(folder: Path) -> Index:
    """Everything in a folder that holds studies' folders, in it or one deeper. Reads no trials, and of a result its
    beginning only, where that has what is listed: a thousand are read in less than a second."""
    entries, unreadable, unfinished = [], [], []
    for study in studies_in([folder], BELOW):
        name = study.relative_to(folder).as_posix()
        if not (study / RESULT).is_file():
            unfinished.append(name)
            continue
        try:
            entries.append(entry(name, study / RESULT))
        except TandemError as error:
            unreadable.append(str(error))
    return Index(sorted(entries, key=lambda entry: entry.started_at, reverse=True), unreadable, unfinished)


def studies_in(folders: Iterable[Path], below: Sequence[str]) -> list[Path]:
    """Folders with a result or a request of a study, in order of their names. below: patterns of how deep they lie."""
    names = [f"{at}/{name}".removeprefix("/") for at in below for name in (RESULT, BEGUN)]
    return sorted({file.parent for folder in folders for name in names for file in folder.glob(name)})


def beginning(file: Path) -> dict[str, Any]:
    """A result as far as its headline, at least. Raises ValueError for what is no whole JSON object."""
    with file.open("rb") as stream:
        first = stream.read(FIRST_BYTES)
        if len(first) == FIRST_BYTES:
            stream.seek(-2, SEEK_END)
            if not stream.read().rstrip().endswith(b"}"):
                raise ValueError("the file is truncated")
            beginning: dict[str, Any] = from_json(first, allow_partial=True)
            if "headline" in beginning:
                return beginning
            stream.seek(0)
            first = stream.read()
    whole: dict[str, Any] = from_json(first)
    return whole


def entry(name: str, file: Path) -> IndexEntry:
    """What a list says of a result. name: of its folder, for people. Raises TandemError, naming the file."""
    with _named(file):
        raw = beginning(file)
        study, asked, started = _study(file, raw), raw["request"], raw["started_at"]
        datetime.fromisoformat(started)
        return IndexEntry(
            folder=name,
            id=raw["id"],
            study=study.name,
            variants=[variant["label"] for variant in asked["variants"]],
            scenario=asked["scenario"],
            started_at=started,
            verdict=Verdict(raw["verdict"]),
            headline=raw.get("headline", ""),
        )
