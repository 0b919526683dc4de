"""What a self-test came to, where it is kept, and what it is worth later."""

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from tandem.record.part import Part
from tandem.record.store import write_atomically


class Outcome(Part):
    name: str
    group: str = ""
    """Group of checks, as `--only` names it; in older records another word for it."""
    expected: str
    measured: str
    tolerance: str = "none"
    passed: bool
    negative_control: str | None = None
    """What was broken on purpose, and what the check then saw; null where there is none."""
    negative_control_failed: bool | None = None
    """True when the broken variant did fail, as it must."""
    steal_share: float | None = None
    """Share of the CPUs that the hypervisor took during a check that does not hold though its control is caught, where it
    disturbs a window."""


FRESH = timedelta(days=14)
FILE = "selftest.json"

Kind = Literal["unit", "end to end", "weekly"]


class Status(StrEnum):
    PASSED = "passed"
    FAILING = "failing"
    STALE = "stale"
    MISSING = "missing"


class Selftest(Part):
    """selftest.json: one whole self-test."""

    schema_version: Literal[1] = 1
    kind: Kind
    """The largest class that was run; each contains those before it."""
    started_at: datetime
    finished_at: datetime
    duration_s: float | None = None
    """Seconds that the checks took; with --resume less than from start to finish. None in older records."""
    git_commit: str | None
    source: str
    """Hash of the harness's own source."""
    oha_version: str | None
    cpus: int
    outcomes: list[Outcome]

    @property
    def passed(self) -> bool:
        return bool(self.outcomes) and all(map(good, self.outcomes))


def good(outcome: Outcome) -> bool:
    """The check passed, and where it has a negative control, that was caught."""
    return outcome.passed and outcome.negative_control_failed is not False


def excuse(outcomes: Iterable[Outcome]) -> str | None:
    """Why what does not hold here says nothing about the harness: the hypervisor disturbed all of it. None where it did not,
    and where all holds."""
    shares = [outcome.steal_share for outcome in outcomes if not good(outcome)]
    known = [share for share in shares if share is not None]
    return f"the hypervisor took {max(known):.1%} of the CPUs" if known and known == shares else None


def status(found: Selftest | None, source: str, now: datetime) -> Status:
    """What a kept self-test says about the harness of this source today. A failing one is failing, however old."""
    if found is None or found.kind == "unit":
        return Status.MISSING
    if not found.passed:
        return Status.FAILING
    if found.source != source or now - found.finished_at > FRESH:
        return Status.STALE
    return Status.PASSED


def sentence(state: Status, found: Selftest | None) -> str:
    """One line for the top of a report."""
    remedy = "run just selftest"
    if found is None or state is Status.MISSING:
        return f"self-test: missing, {remedy}"
    day = f"{found.finished_at:%Y-%m-%d}"
    if state is Status.PASSED:
        return f"self-test: passed, {len(found.outcomes)} checks on {day} ({found.kind})"
    if state is Status.STALE:
        return f"self-test: stale (from {day}: older than {FRESH.days} days, or the harness has changed), {remedy}"
    bad = [outcome.name for outcome in found.outcomes if not good(outcome)]
    listed = [*bad[:3], *(["…"] if len(bad) > 3 else []), *filter(None, [excuse(found.outcomes)])]
    return f"self-test: failing ({', '.join(listed)}), {remedy}"


# ---- on disk ----


def harness_source(root: Path) -> str:
    """The hash of harness/tandem of a repository: SHA-256 over the names and contents of its files, in the order of their names."""
    digest, folder = hashlib.sha256(), root / "harness/tandem"
    for file in sorted(folder.rglob("*.py")):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(folder)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def save(found: Part, results: Path, name: str = FILE) -> None:
    """Keeps a self-test, or what is done of one, as a file of results/. Raises TandemError if it cannot be written."""
    results.mkdir(parents=True, exist_ok=True)
    write_atomically(results / name, found.model_dump_json(indent=1) + "\n")


def load(results: Path) -> Selftest | None:
    """The kept self-test; None if there is none that can be read: an unreadable one proves nothing."""
    try:
        return Selftest.model_validate_json((results / FILE).read_text())
    except (OSError, ValidationError, UnicodeDecodeError):
        return None


def line(results: Path, root: Path, now: datetime) -> tuple[Status, str]:
    """The status today of what is kept, and its sentence."""
    found = load(results)
    state = status(found, harness_source(root), now)
    return state, sentence(state, found)
