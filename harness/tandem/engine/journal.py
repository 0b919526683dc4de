"""The folder of a study while it is made: its request, a file for each trial, its result. Append-only.

A kill at any moment loses the running trial at most: a file is complete or not there.
"""

import shutil
from datetime import UTC, datetime
from pathlib import Path

from tandem.errors import TandemError, UsageError
from tandem.record.part import Part
from tandem.record.request import Request
from tandem.record.result import SCHEMA_VERSION
from tandem.record.store import (
    RESULT,
    TRIALS,
    file_name,
    give,
    read_trial,
    read_trials,
    room_for,
    write_model,
)
from tandem.record.trial import Trial, TrialSpec
from tandem.record.window import Finding, Verdict

BEGUN = "request.json"
NAME_MOST = 80
"""A folder is named after its variants where that is no longer; else after its scenario."""


class Begun(Part):
    """request.json"""

    schema_version: int = SCHEMA_VERSION
    request: Request
    started_at: datetime


class Journal:
    """One study's folder."""

    def __init__(self, folder: Path, begun: Begun) -> None:
        self.folder, self.request, self.started_at = folder, begun.request, begun.started_at

    @classmethod
    def begin(cls, results: Path, request: Request) -> "Journal":
        """A new folder. Raises TandemError if it cannot be made or the disk is nearly full."""
        now = datetime.now(UTC)
        what = "+".join(file_name(variant.label) for variant in request.variants)
        if request.title or len(what) > NAME_MOST:
            what = file_name(request.title or request.scenario)
        name = f"{now:%Y%m%dT%H%M%SZ}-{request.study}-{what}-{Path(request.plan).stem}"
        folder = results / name
        number = 1
        while folder.exists():  # two within one second
            number += 1
            folder = results / f"{name}-{number}"
        room_for(folder)
        begun = Begun(request=request, started_at=now)
        write_model(folder / BEGUN, begun)
        (folder / TRIALS).mkdir()
        return cls(folder, begun)

    @classmethod
    def resume(cls, results: Path, request: Request) -> "Journal":
        """The newest unfinished folder of the same request, whatever its seed. Raises UsageError if there is none,
        and TandemError for one that an older Tandem began."""
        unreadable = []
        for file in sorted(results.glob(f"*/{BEGUN}"), reverse=True):
            if (file.parent / RESULT).exists():
                continue
            try:
                begun = Begun.model_validate_json(file.read_text())
            except (ValueError, OSError):
                unreadable.append(str(file))
                continue
            if not begun.request.same_but_for_the_seed(request):
                continue
            if begun.schema_version != SCHEMA_VERSION:
                raise TandemError(
                    f"{file} was started by another version of Tandem (schema {begun.schema_version}, this is"
                    f" {SCHEMA_VERSION}): start again, without --resume."
                )
            return cls(file.parent, begun)
        names = request.title or ", ".join(variant.label for variant in request.variants)
        also = f" (cannot be read: {', '.join(unreadable)})" if unreadable else ""
        raise UsageError(
            f"there is no unfinished {request.study} of {names} with this scenario, plan, settings, conditions"
            f" and options{also}"
        )

    def _file(self, spec: TrialSpec) -> Path:
        return self.folder / TRIALS / f"{file_name(spec.key)}.json"

    def raw(self, spec: TrialSpec) -> Path:
        """Where the raw files of a trial go."""
        return self.folder / "raw" / file_name(spec.key)

    def find(self, spec: TrialSpec) -> Trial | None:
        """The trial of this spec, if it was made. Raises TandemError, naming the file, if it cannot be read or is of
        another spec: then the study would go on differently from how it began."""
        file = self._file(spec)
        if not file.exists():
            return None
        trial = read_trial(file)
        if trial.spec != spec:
            raise TandemError(
                f"{file} cannot be used: it belongs to another trial specification. Remove it to measure that trial again."
            )
        return trial

    def fresh_raw(self, spec: TrialSpec) -> Path:
        """An empty folder for a trial: what a killed one left there is thrown away."""
        folder = self.raw(spec)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def save(self, trial: Trial) -> None:
        """Keeps a trial. Where the disk is full its raw files make room and it is kept as failed.

        Raises TandemError if not even that fits.
        """
        try:
            write_model(self._file(trial.spec), trial)
        except TandemError as error:
            shutil.rmtree(self.raw(trial.spec), ignore_errors=True)
            trial.findings.append(Finding.of("failed", "invalid", str(error)))
            trial.verdict, trial.windows = Verdict.FAILED, []
            write_model(self._file(trial.spec), trial)

    def trials(self) -> list[Trial]:
        """All that were made, in order of time. Raises TandemError for a file that cannot be read."""
        return read_trials(self.folder)

    def forget_if_empty(self) -> None:
        """Removes the folder of a study that could not begin: no trial of it was made."""
        if not any((self.folder / TRIALS).glob("*.json")):
            shutil.rmtree(self.folder, ignore_errors=True)

    def give_to(self, owner: Path) -> None:
        """Makes the owner of a path the owner of all files here."""
        give(self.folder, owner)
