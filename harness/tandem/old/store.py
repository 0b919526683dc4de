"""Results on disk: one folder per campaign, written so that a kill at any moment loses one trial at most."""

import os
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from tandem.errors import TandemError, UsageError
from tandem.old.run import SCHEMA_VERSION, Run, Trial
from tandem.record.part import Part
from tandem.record.window import Finding, Verdict

NEEDED_BYTES = 1 << 30
"""Free space below which a campaign does not start: rows and logs of the longest plan fit."""


class Request(Part):
    """What the user asked for; the same request and seed give the same schedule."""

    kind: Literal["bench", "compare"] = "bench"
    implementations: list[str]
    scenario: str
    topology: str
    placement: str
    plan: str
    seed: int
    knobs: dict[str, str] = Field(default_factory=dict)
    db_rtt_ms: int | None = None
    """None: no latency proxy between application and database."""


class Campaign(Part):
    """campaign.json"""

    schema_version: int = SCHEMA_VERSION
    id: str
    request: Request
    started_at: datetime
    finished: bool = False


def write_atomically(file: Path, text: str) -> None:
    """Replaces a file in one step. Raises TandemError, naming the file, where the disk is full."""
    temporary = file.with_name(f".{file.name}.new")
    try:
        with temporary.open("w") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise TandemError(f"{file} cannot be written: {error.strerror}. Finished trials are kept.") from None


def file_name(name: str) -> str:
    """A name as it can stand in a path: an implementation's path or a set of knobs becomes one word."""
    return re.sub(r"[^A-Za-z0-9.~-]+", "-", name)


def give(folder: Path, owner: Path) -> None:
    """Makes the owner of a path the owner of everything in a folder: the harness's container runs as root."""
    status = owner.stat()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, status.st_uid, status.st_gid, follow_symlinks=False)


def _write(file: Path, model: BaseModel) -> None:
    write_atomically(file, model.model_dump_json(indent=1) + "\n")


def _read_trial(file: Path) -> Trial:
    try:
        return Trial.model_validate_json(file.read_text())
    except (ValueError, OSError) as error:
        raise TandemError(f"{file} cannot be read: {error}. Move it away to make that trial anew.") from None


def read_run(file: Path) -> Run:
    """The record of one run, of this version or an earlier one. Raises TandemError if it cannot be read."""
    try:
        return Run.model_validate_json(file.read_text())
    except (ValueError, OSError) as error:
        raise TandemError(f"{file}: the record cannot be read: {error}") from None


def read_runs(folder: Path) -> list[Run]:
    """The records of a campaign's folder, by implementation. Raises TandemError if there are none."""
    runs = [read_run(file) for file in sorted(folder.glob("*/run.json"))]
    if not runs:
        raise TandemError(f"{folder} holds no finished run (no */run.json)")
    return sorted(runs, key=lambda run: run.implementation)


class Store:
    """The folder of one campaign."""

    def __init__(self, results: Path, campaign: Campaign) -> None:
        self.folder = results / campaign.id
        self.campaign = campaign

    @classmethod
    def create(cls, results: Path, request: Request) -> "Store":
        """A new campaign. Raises TandemError if there is too little space or the folder cannot be made."""
        now = datetime.now(UTC)
        kind = "" if request.kind == "bench" else f"{request.kind}-"
        what = "+".join(map(file_name, request.implementations))[:80]
        campaign = Campaign(
            id=f"{now:%Y%m%dT%H%M%SZ}-{kind}{what}-{Path(request.plan).stem}", request=request, started_at=now
        )
        store = cls(results, campaign)
        try:
            store.folder.mkdir(parents=True)
        except OSError as error:
            raise TandemError(f"{store.folder} cannot be made: {error.strerror}") from None
        free = shutil.disk_usage(store.folder).free
        if free < NEEDED_BYTES:
            store.folder.rmdir()
            raise TandemError(
                f"{results} has {free / 1e9:.2f} GB left and a campaign needs {NEEDED_BYTES / 1e9:.1f} GB: make room first"
            )
        store.save()
        return store

    @classmethod
    def resume(cls, results: Path, request: Request) -> "Store":
        """The newest unfinished campaign of the same request, whatever its seed. Raises UsageError if there is none."""
        for file in sorted(results.glob("*/campaign.json"), reverse=True):
            try:
                campaign = Campaign.model_validate_json(file.read_text())
            except (ValueError, OSError):
                continue
            same = campaign.request.model_copy(update={"seed": request.seed}) == request
            # Trials of an earlier version lack what the summary is made from.
            if same and not campaign.finished and campaign.schema_version == SCHEMA_VERSION:
                return cls(results, campaign)
        raise UsageError(
            f"there is no unfinished campaign of {', '.join(request.implementations)} with this scenario, topology, plan and knobs"
        )

    def save(self) -> None:
        _write(self.folder / "campaign.json", self.campaign)

    def finish(self) -> None:
        self.campaign.finished = True
        self.save()

    def run_folder(self, run: str) -> Path:
        return self.folder / run

    def trial_folder(self, run: str, index: int) -> Path:
        return self.folder / run / f"trial-{index}"

    def fresh_trial_folder(self, run: str, index: int) -> Path:
        """An empty folder: what a killed trial left there is thrown away."""
        folder = self.trial_folder(run, index)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def save_trial(self, run: str, trial: Trial) -> None:
        _write(self.trial_folder(run, trial.index) / "trial.json", trial)

    def save_trial_or_its_failure(self, run: str, trial: Trial) -> None:
        """Saves a trial; where the disk is full its raw files make room, and it is saved as failed instead.

        Raises TandemError if not even that fits.
        """
        try:
            self.save_trial(run, trial)
        except TandemError as error:
            for file in self.trial_folder(run, trial.index).iterdir():
                file.unlink(missing_ok=True)
            trial.findings.append(Finding(code="failed", severity="invalid", text=str(error)))
            trial.verdict, trial.closed, trial.open = Verdict.FAILED, None, None
            self.save_trial(run, trial)

    def trials(self, run: str) -> list[Trial]:
        """The finished trials of a run, in order."""
        files = self.run_folder(run).glob("trial-*/trial.json")
        return sorted(map(_read_trial, files), key=lambda trial: trial.index)

    def save_run(self, run: Run) -> Path:
        file = self.run_folder(run.run) / "run.json"
        _write(file, run)
        return file

    def give_to(self, owner: Path) -> None:
        give(self.folder, owner)
