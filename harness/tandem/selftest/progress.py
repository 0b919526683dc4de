"""An unfinished self-test's outcomes so far: groups of checks that are done are not made again after --resume."""

from datetime import datetime
from pathlib import Path

from pydantic import Field

from tandem.errors import UsageError
from tandem.record.part import Part
from tandem.record.selftest import Outcome
from tandem.record.store import write_atomically

FILE = "selftest-progress.json"


class Progress(Part):
    """selftest-progress.json"""

    source: str
    """Hash of the harness's own source: outcomes of another one prove nothing about this one."""
    full: bool
    started_at: datetime
    spent_s: float = 0.0
    oha_version: str | None = None
    done: dict[str, list[Outcome]] = Field(default_factory=dict)
    """Group -> its outcomes, in the order in which they were made."""


def begin(results: Path, fresh: Progress, resume: bool) -> Progress:
    """The fresh progress, or with `resume` the kept one of the same harness and class. Raises UsageError if there is none."""
    if not resume:
        return fresh
    try:
        kept = Progress.model_validate_json((results / FILE).read_text())
    except FileNotFoundError:
        raise UsageError("there is no unfinished self-test: start one without --resume") from None
    except (ValueError, OSError) as error:
        raise UsageError(
            f"{results / FILE} cannot be read: {error}. Start again, without --resume."
        ) from None
    if kept.source != fresh.source:
        raise UsageError(
            "the harness has changed since the self-test was started: start again, without --resume"
        )
    if kept.full != fresh.full:
        was = "with" if kept.full else "without"
        raise UsageError(f"the unfinished self-test was started {was} --full: continue it the same way")
    return kept


def save(progress: Progress, results: Path) -> None:
    """Raises TandemError if it cannot be written."""
    results.mkdir(parents=True, exist_ok=True)
    write_atomically(results / FILE, progress.model_dump_json(indent=1) + "\n")


def forget(results: Path) -> None:
    """Removes the file, once the whole is kept."""
    (results / FILE).unlink(missing_ok=True)
