"""What asynctest says (`--json`), and the starts that are made from it. Pure."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from tandem.errors import TandemError
from tandem.judge.judge import STEAL_VOID, STEAL_WARN
from tandem.record.window import Verdict
from tandem.reproduce.files_spec import Case, FilesRun
from tandem.reproduce.result import Start

BUSY = 0.85
"""From this share of a CPU, or of all, it was the limit."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Asking(_Part):
    files: int
    lines: int
    bytes: int
    repeats: int
    threads: int
    seed: int
    buffer_sizes_bytes: list[int]


class Way(_Part):
    """A way of counting. measure: the tight loop that it is held against."""

    name: str
    title: str
    library: str | None
    version: str | None
    measure: str
    unavailable: str | None
    """Why this machine does not let it."""


class Measurement(_Part):
    repeat: int
    name: str
    buffer_bytes: int | None
    cache: Literal["hot", "cold"]
    cache_achieved: bool | None
    lines: int
    elapsed_ms: float
    cpu_user_ms: float
    cpu_system_ms: float
    peak_memory_bytes: int | None
    disk_read_bytes: int | None


class Document(_Part):
    schema_version: Literal[1]
    program: str
    started_unix_s: int
    kernel: str | None
    asked: Asking
    made_s: float
    took_s: float
    ways: list[Way]
    measurements: list[Measurement]


def read(text: str) -> Document:
    """Raises TandemError for what is not asynctest's document."""
    try:
        return Document.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = " -> ".join(str(part) for part in first["loc"])
        raise TandemError(f"asynctest's document is not as expected: {where}: {first['msg']}") from None


def versions(document: Document) -> dict[str, str]:
    """The libraries of its ways."""
    return {way.library: way.version for way in document.ways if way.library and way.version}


def starts(
    document: Document, case: Case, rows: Mapping[str, FilesRun], block: int, attempt: int
) -> list[Start]:
    """One start for each row. rows: by label, all of that case."""
    return [_start(document, case, label, run, block, attempt) for label, run in rows.items()]


def _start(document: Document, case: Case, label: str, run: FilesRun, block: int, attempt: int) -> Start:
    start = Start(row=label, block=block, verdict=Verdict.OK, attempts=attempt)
    way = next((way for way in document.ways if way.name == run.way), None)
    if way is not None and way.unavailable is not None:
        return start.model_copy(update={"warnings": [f"not measured: {way.unavailable}"]})
    made = _made(document, run.way)
    if way is None or made is None:
        return _bad(start, f"asynctest says nothing about {run.way}")
    if (document.asked.files, made.lines) != (case.files, case.lines):
        return _bad(start, f"{made.lines:,} lines were counted where {case.lines:,} were asked for")
    if made.cache != case.cache or made.buffer_bytes not in (None, case.buffer_bytes):
        return _bad(start, f"{run.way} was measured under other conditions than were asked for")
    start.spent_s = {"measuring": made.elapsed_ms / 1e3}
    if not made.cache_achieved:
        return start.model_copy(update={"warnings": [f"not measured: {_elsewhere(document, made)}"]})
    start.figures = _figures(document, way, made)
    start.bottleneck, start.evidence = _limit(document, made)
    return start


def disturbed(start: Start, steal_share: float) -> Start:
    """The start as it counts after all: void where the hypervisor took too much. steal_share: of all CPUs, while the
    start's container was there."""
    text = f"the hypervisor took {steal_share:.1%} of the CPUs"
    if start.verdict is not Verdict.OK or steal_share <= STEAL_WARN:
        return start
    if steal_share <= STEAL_VOID:
        return start.model_copy(update={"warnings": [*start.warnings, text]})
    return start.model_copy(update={"verdict": Verdict.VOID, "reason": text, "figures": {}})


def _bad(start: Start, reason: str) -> Start:
    return start.model_copy(update={"verdict": Verdict.INVALID, "reason": reason})


def _made(document: Document, way: str) -> Measurement | None:
    return next((made for made in document.measurements if made.name == way), None)


def _elsewhere(document: Document, made: Measurement) -> str:
    if made.disk_read_bytes is None:
        return "the kernel does not say what came from the disk"
    share = made.disk_read_bytes / document.asked.bytes
    if made.cache == "cold":
        return f"not achieved: the files did not leave the page cache, {share:.0%} came from the disk"
    return f"not achieved: the page cache did not keep the files, {share:.0%} came from the disk"


def _figures(document: Document, way: Way, made: Measurement) -> dict[str, float]:
    found = {"time_ms": made.elapsed_ms, "cpu_ms": _cpu_ms(made)}
    if made.peak_memory_bytes is not None:
        found["peak_memory_mib"] = made.peak_memory_bytes / 2**20
    measure = _made(document, way.measure)
    if measure is not None and measure.cache_achieved and made.cache == "hot":
        found["loop_ratio"] = made.elapsed_ms / measure.elapsed_ms
    return found


def _cpu_ms(made: Measurement) -> float:
    return made.cpu_user_ms + made.cpu_system_ms


def _limit(document: Document, made: Measurement) -> tuple[str, list[str]]:
    """What a way waited for, by the CPUs that it kept busy."""
    threads = document.asked.threads
    busy = _cpu_ms(made) / made.elapsed_ms
    evidence = [f"{busy:.2f} of {threads} CPUs busy"]
    if made.cache == "cold":
        from_disk = (made.disk_read_bytes or 0) / 1e6 / (made.elapsed_ms / 1e3)
        evidence.append(f"{from_disk:,.0f} MB/s from the disk")
    if busy >= BUSY * threads:
        return "app-cpu", evidence
    if busy >= BUSY:
        return "app-thread", evidence
    return ("disk" if made.cache == "cold" else "unknown"), evidence
