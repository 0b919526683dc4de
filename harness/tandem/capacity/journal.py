"""The folder of a capacity session: its request, what was measured so far, its result."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import Field, ValidationError

from tandem.capacity.probe import Probe
from tandem.capacity.record import Behaviour, Capacity
from tandem.capacity.search import Slo
from tandem.errors import TandemError, UsageError
from tandem.old.session import folder_for
from tandem.old.store import write_atomically
from tandem.record.part import Part

REQUEST, PROGRESS, RESULT = "request.json", "progress.json", "capacity.json"


class Asked(Part):
    """request.json"""

    implementation: str
    scenario: str
    topology: str
    placement: str
    plan: str
    knobs: dict[str, str]
    """Those that were chosen."""
    slo: Slo
    longest_s: int
    """No window is longer."""
    db_rtt_ms: int | None
    """None: no latency proxy between application and database."""
    seed: int


class Progress(Part):
    """progress.json: everything that was measured so far, in the order in which it was."""

    started_at: datetime
    search_starts: int = 0
    """Fresh starts that the search has measured in."""
    closed_goodput_rps: float | None = None
    """With all its digits: the search's first rate follows from it."""
    search: list[Probe] = Field(default_factory=list)
    confirmations: list[Probe] = Field(default_factory=list)
    behaviour_starts: int = 0
    behaviour: list[Behaviour] = Field(default_factory=list)


@dataclass
class Journal:
    """One session's folder. What is saved is on the disk from then on."""

    folder: Path
    asked: Asked
    progress: Progress

    @classmethod
    def begin(cls, results: Path, asked: Asked, resume: bool, now: datetime) -> "Journal":
        """A new folder, or the newest unfinished one of the same request, whatever its seed.

        Raises UsageError if there is none, TandemError if its progress cannot be read.
        """
        if resume:
            return unfinished(results, asked, now)
        folder = folder_for(results, f"capacity-{asked.implementation}-{asked.scenario}", now)
        folder.mkdir(parents=True)
        write_atomically(folder / REQUEST, asked.model_dump_json(indent=1) + "\n")
        return cls(folder, asked, Progress(started_at=now))

    @property
    def finished(self) -> bool:
        return (self.folder / RESULT).exists()

    def told(self) -> str:
        """What is there, for people."""
        made = self.progress
        return (
            f"{len(made.search)} probes of the search, {len(made.confirmations)} confirmations"
            f" and {len(made.behaviour)} loads are there"
        )

    def save(self) -> None:
        write_atomically(self.folder / PROGRESS, self.progress.model_dump_json(indent=1) + "\n")

    def finish(self, found: Capacity) -> None:
        write_atomically(self.folder / RESULT, found.model_dump_json(indent=1) + "\n")

    def unusable(self, why: str) -> TandemError:
        """The error for a progress that nothing can follow."""
        file = self.folder / PROGRESS
        return TandemError(f"{file} cannot be used: {why}. Remove it to make that search anew.")


def unfinished(results: Path, asked: Asked, now: datetime) -> Journal:
    """The newest search of the same request that has no result yet. Raises UsageError, TandemError."""
    for file in sorted(results.glob(f"*-capacity-*/{REQUEST}"), reverse=True):
        try:
            found = Asked.model_validate_json(file.read_text())
        except (ValueError, OSError):
            continue
        same = found.model_copy(update={"seed": asked.seed}) == asked
        journal = Journal(file.parent, found, Progress(started_at=now))
        if same and not journal.finished:
            _read(journal)
            return journal
    raise UsageError(
        f"there is no unfinished capacity search of {asked.implementation} for {asked.slo} with this scenario,"
        " topology, placement, plan, knobs, longest window and distance of the database"
    )


def _read(journal: Journal) -> None:
    """What was saved, if anything was before the interruption."""
    file = journal.folder / PROGRESS
    try:
        journal.progress = Progress.model_validate_json(file.read_text())
    except FileNotFoundError:
        return
    except ValidationError as error:
        raise journal.unusable(error.errors()[0]["msg"]) from None
    except (ValueError, OSError) as error:
        raise journal.unusable(str(error)) from None
