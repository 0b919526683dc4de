"""The folder of a reproduction: its request, one file per start, its result; what is measured next."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from tandem.errors import TandemError, UsageError
from tandem.lab.live import View
from tandem.old.session import folder_for
from tandem.old.store import write_atomically
from tandem.record.window import Verdict
from tandem.reproduce.result import Asked, Reproduction, Start, Step, start_file
from tandem.studies.reproduce.experiment import Experiment
from tandem.studies.reproduce.figures import FIGURES

ATTEMPTS = 2
"""A void start is made once more, after all others."""
RESULT = "reproduction.json"
FEW = 6
"""Rows of one step that are named one by one."""


@dataclass
class Journal:
    """One reproduction's folder. Every start is there from the moment that it is finished."""

    folder: Path
    asked: Asked

    @classmethod
    def begin(cls, results: Path, asked: Asked, resume: bool, now: datetime) -> "Journal":
        """A new folder, or the newest unfinished one of the same request, whatever its seed. Raises UsageError."""
        if resume:
            return unfinished(results, asked)
        folder = folder_for(results, f"reproduce-{asked.experiment}-{asked.plan}", now)
        (folder / "starts").mkdir(parents=True)
        write_atomically(folder / "request.json", asked.model_dump_json(indent=1) + "\n")
        return cls(folder, asked)

    def starts(self) -> dict[str, Start]:
        """All that are there, by file name. Raises TandemError for one that cannot be read."""
        found = {}
        for file in sorted((self.folder / "starts").glob("*.json")):
            try:
                found[file.name] = Start.model_validate_json(file.read_text())
            except (ValueError, OSError) as error:
                raise TandemError(
                    f"{file} cannot be read: {error}. Remove it to make that start anew."
                ) from None
        return found

    def save(self, start: Start) -> None:
        write_atomically(self.folder / "starts" / start.file, start.model_dump_json(indent=1) + "\n")

    def finish(self, found: Reproduction) -> None:
        write_atomically(self.folder / RESULT, found.model_dump_json(indent=1) + "\n")


def unfinished(results: Path, asked: Asked) -> Journal:
    """The newest reproduction like this one that has no result yet. Raises UsageError."""
    for file in sorted(results.glob("*-reproduce-*/request.json"), reverse=True):
        try:
            found = Asked.model_validate_json(file.read_text())
        except (ValueError, OSError):
            continue
        same = found.model_copy(update={"seed": asked.seed}) == asked
        if same and not (file.parent / RESULT).exists():
            return Journal(file.parent, found)
    raise UsageError(
        f"there is no unfinished reproduction of {asked.experiment} with the plan {asked.plan} and this definition"
    )


def read_reproduction(folder: Path) -> Reproduction:
    """The result in a folder. Raises TandemError if it cannot be read."""
    file = folder / RESULT
    try:
        return Reproduction.model_validate_json(file.read_text())
    except (ValueError, OSError) as error:
        raise TandemError(f"{file}: the record cannot be read: {error}") from None


def make_all(
    order: Sequence[Step],
    journal: Journal,
    view: View,
    measure: Callable[[int, Sequence[str], int], Sequence[Start]],
    main_figure: str,
) -> None:
    """Makes every start that is missing, in order; then those once more that were void.

    measure(block, labels, attempt) makes one fresh start and returns the starts of these rows, each saved here;
    it may return fewer where it ended early (the others are then made with the next attempt or by --resume).
    """
    for attempt in range(1, ATTEMPTS + 1):
        for number, step in enumerate(order, start=1):
            there = journal.starts()
            wanted = [row for row in step.rows if _wanted(there.get(start_file(step.block, row)), attempt)]
            if not wanted:
                continue
            again = ", once more" if attempt > 1 else ""
            view.trial(f"{number} of {len(order)}: {_names(wanted)}; start {step.block}{again}")
            made = list(measure(step.block, wanted, attempt))
            for start in made:
                journal.save(start)
            for line in told_all(made, main_figure):
                view.note(f"  {line}")


def _wanted(there: Start | None, attempt: int) -> bool:
    return there is None or (there.verdict is Verdict.VOID and there.attempts < attempt)


def told(start: Start, main_figure: str) -> str:
    """One line about a start."""
    value, figure = start.figures.get(main_figure), FIGURES[main_figure]
    head = "" if value is None else f"{figure.text(value)}, "
    return f"{start.row}: {head}{start.verdict}{f': {start.reason}' if start.reason else ''}"


def told_all(made: Sequence[Start], main_figure: str) -> list[str]:
    """Lines about the starts of one step: of many rows only those that do not count."""
    if len(made) <= FEW:
        return [told(start, main_figure) for start in made]
    good = sum(start.verdict is Verdict.OK for start in made)
    return [f"{good} of {len(made)} rows ok"] + [
        told(start, main_figure) for start in made if start.verdict is not Verdict.OK
    ]


def _names(rows: Sequence[str]) -> str:
    return ", ".join(rows) if len(rows) <= FEW else f"{', '.join(rows[:2])} and {len(rows) - 2} more"


def ordered(experiment: Experiment, journal: Journal) -> list[Start]:
    """The starts by the experiment's rows, then by block."""
    place = {row.label: number for number, row in enumerate(experiment.rows)}
    return sorted(journal.starts().values(), key=lambda start: (place.get(start.row, 0), start.block))
