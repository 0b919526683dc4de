"""A session: what one machine said at one time of many contrasts. Sessions are appended and never replaced."""

import hashlib
import json
import math
from datetime import datetime
from pathlib import Path
from typing import Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from tandem.errors import TandemError
from tandem.record.conclusion import Contrast, Estimate
from tandem.record.part import Number, Part
from tandem.record.request import Services
from tandem.record.store import file_name, read_model, write_model

FOLDER = "sessions"
"""Folder of the sessions, below results/."""
SCHEMA_VERSION: Literal[1] = 1


class SessionMachine(Part):
    """What tells machines, and generations of CPUs, apart. Null: it could not be read, or an old record does not say."""

    cpu_vendor: str | None = None
    cpu_model: str | None = None
    cpu_family: str | None = None
    cpu_model_number: str | None = None
    cpu_stepping: str | None = None
    microcode: str | None = None
    caches_bytes: dict[str, int] = Field(default_factory=dict)
    """Level -> size, such as `l2`; empty where nothing was read."""
    cpus: int | None = None
    smt: str | None = None
    governor: str | None = None
    hypervisor: str | None = None
    kernel: str | None = None
    cgroup_version: int | None = None
    engine: str | None = None
    """Version of the Docker engine."""

    @property
    def plain_name(self) -> str:
        """Maker and model as the CPU names itself, for people."""
        plain = (self.cpu_model or self.cpu_vendor or "unknown CPU").replace("(R)", "").replace("(TM)", "")
        return " ".join(plain.split())

    @property
    def name(self) -> str:
        """The CPU's name with family, model and stepping, as far as they are known."""
        marks = {"family": self.cpu_family, "model": self.cpu_model_number, "stepping": self.cpu_stepping}
        told = ", ".join(f"{mark} {value}" for mark, value in marks.items() if value is not None)
        return f"{self.plain_name} ({told})" if told else self.plain_name

    @property
    def model(self) -> tuple[str, ...] | None:
        """What one CPU model has in common, caches among it: a virtual machine may name the CPU of another generation.
        None where the generation is not known."""
        if self.cpu_family is None:
            return None
        caches = ",".join(f"{level} {size}" for level, size in sorted(self.caches_bytes.items()))
        parts = self.cpu_vendor, self.cpu_model, self.cpu_family, self.cpu_model_number, self.cpu_stepping
        return (*(str(part) for part in parts), caches)

    @property
    def identity(self) -> str:
        """Eight hexadecimal digits that two machines share only if everything that does not change with an update is equal."""
        fixed = self.model_dump(
            mode="json", exclude={"kernel", "engine", "microcode", "governor", "cgroup_version"}
        )
        return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()[:8]


class SessionProgram(Part):
    """A variant of the session: what ran."""

    implementation: str
    version: int
    """The one in its bench.toml, raised by hand when the work that it does changes. 0: older than its present work."""
    settings: dict[str, str] = Field(default_factory=dict)
    """Settings that were chosen for it; empty: its defaults."""
    effective: dict[str, str] | None = None
    """All settings that it ran with, the defaults of that day included. Null: nobody knows them any more."""
    image: str | None = None
    """Digest; for the record only, as images are built anew everywhere."""
    pins: dict[str, str] | None = None
    """Versions of what it names itself, by its lock file. Null: nobody noted them."""


class SessionControl(Part):
    """The baseline's second start against its first."""

    contrasts: list[Contrast]
    failed: list[str] = Field(default_factory=list)
    """The metrics in which it differed: by more than chance, by one limit over all of them, or by more than the margin with
    an interval that leaves out 1, which a comparison does not publish. Their intervals are widened by what the control shows,
    and after the first kind those of all metrics are."""


class SessionRecord(Part):
    """A file of results/sessions."""

    schema_version: Literal[1] = SCHEMA_VERSION
    id: str
    """Start (UTC), the machine's identity, and the lab where there is one; the name of its file."""
    started_at: AwareDatetime
    finished_at: datetime | None = None
    commit: str | None
    """The commit of the sources that measured."""
    dirty: bool | None = None
    """Whether the sources differed from the commit; null: an old record does not say."""
    selftest: str | None = None
    """What the self-test said of the harness."""
    source: str
    """The command, or the record that the session was taken from."""
    machine: SessionMachine
    scenario: str
    scenario_version: int
    topology: str
    placement: str
    """`lab:NAME` where the roles were on the machines of a lab."""
    db_rtt_ms: int | None = None
    arrivals: str | None = None
    """How the requests of its open loops arrived, in words; null: evenly spaced."""
    services: Services | None = None
    """Debian release of PostgreSQL, PgBouncer and HAProxy, where it is not that of the base image; `stack` has their versions."""
    plan: str
    blocks: int
    measured_s: Number | None = None
    """How long a variant was measured within a block, at saturation."""
    programs: dict[str, SessionProgram]
    """Label -> what ran."""
    stack: dict[str, str] = Field(default_factory=dict)
    """Component -> version."""
    estimates: list[Estimate] = Field(default_factory=list)
    contrasts: list[Contrast]
    control: SessionControl | None = None

    @model_validator(mode="after")
    def _contrasts_are_of_its_programs(self) -> Self:
        for one in self.contrasts:
            if missing := {one.of, one.to} - set(self.programs):
                raise ValueError(f"contrasts: {min(missing)} is none of its programs")
            if one.ratio is not None and not 0 < one.ratio < math.inf:
                raise ValueError(f"contrasts: {one.ratio} is no ratio of {one.of} to {one.to}")
        return self


def name_of(started_at: datetime, machine: SessionMachine, lab: str | None = None) -> str:
    """The id of a session. lab: where it was made; labs of equal machines may begin in the same second."""
    name = f"{started_at:%Y%m%dT%H%M%SZ}-{machine.identity}"
    return name if lab is None else f"{name}-{file_name(Path(lab).stem)}"


def append(record: SessionRecord, results: Path) -> Path:
    """Writes a session's file. Raises TandemError where there is one of that name: nothing replaces a session."""
    folder = results / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{record.id}.json"
    if file.exists():
        raise TandemError(f"{file} is there already: a session is never replaced")
    write_model(file, record)
    return file


def read_sessions(results: Path) -> tuple[list[SessionRecord], list[str]]:
    """All sessions in order of time, and what is wrong with each file that cannot be read."""
    found, damaged = [], []
    for file in sorted((results / FOLDER).glob("*.json")):
        try:
            record = read_model(SessionRecord, file)
        except TandemError as error:
            damaged.append(str(error))
            continue
        if record.id != file.stem:
            damaged.append(f"{file}: its id is {record.id}: a copy would count twice.")
        else:
            found.append(record)
    return sorted(found, key=lambda record: record.started_at), damaged
