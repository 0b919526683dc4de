"""Results on disk: one folder per campaign, written so that a kill at any moment loses one trial at most."""

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, Field

from tandem.errors import TandemError, UsageError
from tandem.record import SCHEMA_VERSION, Part, Run, Trial

NEEDED_BYTES = 1 << 30
"""Free space below which a campaign does not start: rows and logs of the longest plan fit."""


class Request(Part):
    """What the user asked for; the same request and seed give the same schedule."""

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


def _write(file: Path, model: BaseModel) -> None:
    write_atomically(file, model.model_dump_json(indent=1) + "\n")


def _read_trial(file: Path) -> Trial:
    try:
        return Trial.model_validate_json(file.read_text())
    except (ValueError, OSError) as error:
        raise TandemError(f"{file} cannot be read: {error}. Move it away to make that trial anew.") from None


def read_runs(folder: Path) -> list[Run]:
    """The records of a campaign's folder, by implementation. Raises TandemError if there are none."""
    try:
        runs = [Run.model_validate_json(file.read_text()) for file in sorted(folder.glob("*/run.json"))]
    except (ValueError, OSError) as error:
        raise TandemError(f"{folder}: a record cannot be read: {error}") from None
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
        what = "+".join(name.replace("/", "-") for name in request.implementations)
        campaign = Campaign(
            id=f"{now:%Y%m%dT%H%M%SZ}-{what}-{Path(request.plan).stem}", request=request, started_at=now
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
            if same and not campaign.finished:
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

    def trials(self, run: str) -> list[Trial]:
        """The finished trials of a run, in order."""
        files = self.run_folder(run).glob("trial-*/trial.json")
        return sorted(map(_read_trial, files), key=lambda trial: trial.index)

    def save_run(self, run: Run) -> Path:
        file = self.run_folder(run.run) / "run.json"
        _write(file, run)
        return file

    def give_to(self, owner: Path) -> None:
        """Makes the owner of a path the owner of everything here: the harness's container runs as root."""
        status = owner.stat()
        for path in (self.folder, *self.folder.rglob("*")):
            os.chown(path, status.st_uid, status.st_gid, follow_symlinks=False)
