"""The history on disk: a folder for each machine, a file for each night. Histories merge by copying their files together.

One that nothing is added to may have its nights in one file, nights.jsonl, a line each."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel

from tandem.errors import TandemError
from tandem.history.night import AlarmAnswer, EventAnswer, Frozen, FrozenStack, Night
from tandem.record.store import explained, file_name, read_model, write_atomically

NIGHTS, ANSWERS, FROZEN, STACKS, EVENTS = "nights", "answers", "frozen", "stacks", "events"


@dataclass
class History:
    """The contents of a machine's folder."""

    nights: list[Night] = field(default_factory=list)
    """Nights in order of time."""
    answers: list[AlarmAnswer] = field(default_factory=list)
    frozen: dict[str, Frozen] = field(default_factory=dict)
    """Implementation -> the newest frozen image."""
    first: dict[str, Frozen] = field(default_factory=dict)
    """Implementation -> the oldest frozen image, which stays for ever."""
    stack: FrozenStack | None = None
    """The newest frozen stack."""
    events: list[EventAnswer] = field(default_factory=list)
    broken: dict[Path, str] = field(default_factory=dict)
    """File that cannot be read -> why. The rest counts without it."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lets only one process at a time write here. Raises TandemError at once if another does."""
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
    """Reads a machine's folder. A file that cannot be read is named, and stays as it is."""
    found = History()

    def every[M: BaseModel](kind: type[M], place: str) -> Iterator[M]:
        for file in sorted([*folder.glob(f"{place}/*.json"), *folder.glob(f"{place}.jsonl")]):
            try:
                text = file.read_text()
                for one in text.splitlines() if file.suffix == ".jsonl" else [text]:
                    yield kind.model_validate_json(one)
            except (ValueError, OSError) as error:
                found.broken[file] = explained(error)

    found.nights = sorted(every(Night, NIGHTS), key=lambda night: (night.started_at, night.id))
    found.answers = [*every(AlarmAnswer, ANSWERS)]
    found.events = [*every(EventAnswer, EVENTS)]
    for frozen in sorted(every(Frozen, FROZEN), key=lambda one: one.frozen_at):
        found.frozen[frozen.implementation] = frozen
        found.first.setdefault(frozen.implementation, frozen)
    found.stack = max(every(FrozenStack, STACKS), key=lambda one: one.frozen_at, default=None)
    return found


def append(folder: Path, night: Night) -> Night:
    """Keeps a night; one that is kept already stays as it is. Returns it as it is kept.

    A clock that went back is noticed: the newest night there is later than this one. Raises TandemError where the file
    cannot be written, such as on a full disk: then nothing of it is there; and where a file of this night cannot be read.
    """
    place = folder / NIGHTS
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"{file_name(night.id)}.json"
    if file.exists():
        return read_model(Night, file, " Remove it, and go on with --resume.")
    # Names begin with the time, so no file is read: thousands of nights cost nothing.
    newest = max((one.name for one in place.glob("*.json")), default=None)
    if newest is not None and newest > file.name:
        text = f"the clock went back: {newest} already exists and is later"
        night = night.model_copy(update={"clock": text})
    write_atomically(file, night.model_dump_json() + "\n")
    return night


def keep(folder: Path, one: AlarmAnswer | EventAnswer | Frozen | FrozenStack) -> None:
    """Keeps the answer to an alarm or to an event, the image that an implementation is compared with from now on, or the stack
    that all nights run on from now on. Raises TandemError where it cannot be written."""
    match one:
        case AlarmAnswer():
            place, name = ANSWERS, one.id
        case EventAnswer():
            place, name = EVENTS, one.id
        case Frozen():
            place, name = FROZEN, f"{one.implementation}-{one.frozen_at:%Y%m%dT%H%M%SZ}"
        case FrozenStack():
            # Two machines may freeze in the same second, and their histories may be merged.
            tags = "-".join(image.tag[:6] for image in one.images.values())
            place, name = STACKS, f"{one.frozen_at:%Y%m%dT%H%M%SZ}-{tags}"
    (folder / place).mkdir(parents=True, exist_ok=True)
    write_atomically(folder / place / f"{file_name(name)}.json", one.model_dump_json(indent=1) + "\n")
