"""The history on disk: a folder for each machine, a file for each night. Histories merge by copying their files together."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

from tandem.errors import TandemError
from tandem.history.night import (
    FORMS,
    NIGHT_SCHEMA,
    AlarmAnswer,
    EventAnswer,
    Frozen,
    FrozenStack,
    Night,
)
from tandem.record.store import explained, file_name, write_atomically

NIGHTS, ANSWERS, FROZEN, QUARANTINE = "nights", "answers", "frozen", "quarantine"
STACKS, EVENTS = "stacks", "events"


@dataclass
class History:
    """What a machine's folder holds."""

    nights: list[Night] = field(default_factory=list)
    """In order of time."""
    answers: list[AlarmAnswer] = field(default_factory=list)
    frozen: dict[str, Frozen] = field(default_factory=dict)
    """Implementation -> the newest."""
    first: dict[str, Frozen] = field(default_factory=dict)
    """Implementation -> the oldest, which stays for ever."""
    stack: FrozenStack | None = None
    """The newest."""
    events: list[EventAnswer] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    """What was odd about the files: each sentence names one."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Only one at a time writes here. Raises TandemError at once if another does."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / ".lock"
    with file.open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise TandemError(
                f"another nightly uses {folder}: two at once would disturb each other. Wait for it, or end it."
            ) from None
        yield


def read(folder: Path) -> History:
    """All that is there. A file that cannot be read is named, and moved to `quarantine`; one of an older version is brought
    to the present form. Raises TandemError where that cannot be written."""
    found = History()
    for file in sorted(folder.glob(f"{NIGHTS}/*.json")):
        night = _read(Night, file, found.said)
        if night is not None:
            found.nights.append(night)
    found.nights.sort(key=lambda night: (night.started_at, night.id))
    for file in sorted(folder.glob(f"{ANSWERS}/*.json")):
        answer = _read(AlarmAnswer, file, found.said)
        if answer is not None:
            found.answers.append(answer)
    for file in sorted(folder.glob(f"{FROZEN}/*.json")):
        if (frozen := _read(Frozen, file, found.said)) is None:
            continue
        name = frozen.implementation
        found.frozen[name] = max(found.frozen.get(name, frozen), frozen, key=lambda one: one.frozen_at)
        found.first[name] = min(found.first.get(name, frozen), frozen, key=lambda one: one.frozen_at)
    stacks = [_read(FrozenStack, file, found.said) for file in sorted(folder.glob(f"{STACKS}/*.json"))]
    found.stack = max((one for one in stacks if one), key=lambda one: one.frozen_at, default=None)
    events = [_read(EventAnswer, file, found.said) for file in sorted(folder.glob(f"{EVENTS}/*.json"))]
    found.events = [one for one in events if one]
    return found


def _read[M: BaseModel](kind: type[M], file: Path, said: list[str]) -> M | None:
    try:
        text = file.read_text()
        version = json.loads(text).get("schema_version") if kind is Night else None
        if version in FORMS:
            new = kind.model_validate(FORMS[version](json.loads(text)))
            write_atomically(file, new.model_dump_json() + "\n")
            said.append(f"{file}: migrated from schema {version} to {NIGHT_SCHEMA}")
            return new
        return kind.model_validate_json(text)
    except (ValueError, OSError, KeyError, TypeError, AttributeError) as error:
        place = file.parent.parent / QUARANTINE / file.name
        place.parent.mkdir(exist_ok=True)
        os.replace(file, place)
        said.append(f"{file}: cannot be read; moved to {QUARANTINE}/: {explained(error)}")
        return None


def append(folder: Path, night: Night) -> Night:
    """Keeps a night; one that is kept already stays as it is. Returns it as it is kept.

    A clock that went back is noticed: the newest night there is later than this one. Raises TandemError where the file
    cannot be written, such as on a full disk: then nothing of it is there.
    """
    place = folder / NIGHTS
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"{file_name(night.id)}.json"
    if file.exists():
        return Night.model_validate_json(file.read_text())
    newest = max((one.name for one in place.glob("*.json")), default=None)
    # Names begin with the time, so the newest is read and no other: thousands of nights cost nothing.
    if newest is not None and newest > file.name:
        text = f"the clock went back: {newest} already exists and is later"
        night = night.model_copy(update={"clock": text})
    write_atomically(file, night.model_dump_json() + "\n")
    return night


def keep_answer(folder: Path, answer: AlarmAnswer) -> None:
    """Keeps what became of an alarm. Raises TandemError where it cannot be written."""
    _keep(folder / ANSWERS, answer.id, answer)


def freeze(folder: Path, frozen: Frozen) -> None:
    """From now on the implementation is compared with this. Raises TandemError where it cannot be written."""
    _keep(folder / FROZEN, f"{frozen.implementation}-{frozen.frozen_at:%Y%m%dT%H%M%SZ}", frozen)


def freeze_stack(folder: Path, stack: FrozenStack) -> None:
    """From now on all nights run on this. Raises TandemError where it cannot be written."""
    tags = "-".join(
        one.tag[:6] for one in stack.images.values()
    )  # of two in the same second, on two machines
    _keep(folder / STACKS, f"{stack.frozen_at:%Y%m%dT%H%M%SZ}-{tags}", stack)


def keep_event(folder: Path, answer: EventAnswer) -> None:
    """Keeps what an event did to a series. Raises TandemError where it cannot be written."""
    _keep(folder / EVENTS, answer.id, answer)


def _keep(place: Path, name: str, model: BaseModel) -> None:
    place.mkdir(parents=True, exist_ok=True)
    write_atomically(place / f"{file_name(name)}.json", model.model_dump_json(indent=1) + "\n")
