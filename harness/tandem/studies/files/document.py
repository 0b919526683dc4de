"""What asynctest says (`--json`), and the figures that are taken from it. Pure."""

from collections.abc import Collection
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tandem.errors import TandemError
from tandem.judge.judge import STEAL_VOID, STEAL_WARN
from tandem.record.part import Number, Part
from tandem.record.window import Finding
from tandem.studies.files.spec import Case

BUSY = 0.85
"""From this share of a CPU, or of all, it was the limit."""


class _Told(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Asking(_Told):
    files: int
    lines: int
    bytes: int
    repeats: int
    threads: int
    seed: int
    buffer_sizes_bytes: list[int]


class Way(_Told):
    """A way of counting. measure: the tight loop that it is held against."""

    name: str
    title: str
    library: str | None
    version: str | None
    measure: str
    unavailable: str | None
    """Why this machine does not let it."""


class Measurement(_Told):
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


class Document(_Told):
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
        raise TandemError(f"asynctest's output is not as expected: {where}: {first['msg']}") from None


def versions(document: Document) -> dict[str, str]:
    """The libraries of its ways."""
    return {way.library: way.version for way in document.ways if way.library and way.version}


class Counting(Part):
    """What one start says of one row: Trial.facts holds it by the row's label. Empty where it was not measured."""

    figures: dict[str, Number] = Field(default_factory=dict)
    bottleneck: str | None = None
    evidence: list[str] = Field(default_factory=list)
    """The share that decided the bottleneck."""


def counting(document: Document, case: Case, way: str) -> tuple[Counting, list[Finding]]:
    """What a document says of one way, and what is wrong with it. case: what was asked for."""
    known = next((one for one in document.ways if one.name == way), None)
    if known is not None and known.unavailable is not None:
        return Counting(), [_not_measured(known.unavailable)]
    made = _made(document, way)
    if known is None or made is None:
        return Counting(), [_wrong(f"asynctest reported nothing about {way}")]
    if (document.asked.files, made.lines) != (case.files, case.lines):
        text = f"{made.lines:,} lines were counted instead of {case.lines:,}"
        return Counting(), [_wrong(text)]
    if made.cache != case.cache or made.buffer_bytes not in (None, case.buffer_bytes):
        return Counting(), [_wrong(f"{way} was measured under other conditions than requested")]
    if not made.cache_achieved:
        return Counting(), [_not_measured(_elsewhere(document, made))]
    bottleneck, evidence = _limit(document, made)
    figures = _figures(document, known, made)
    return Counting(figures=figures, bottleneck=bottleneck, evidence=evidence), []


def measuring_s(document: Document, ways: Collection[str]) -> float:
    """How long these ways counted, together."""
    return sum(made.elapsed_ms for made in document.measurements if made.name in ways) / 1e3


def disturbance(steal_share: float) -> list[Finding]:
    """What a hypervisor did to a start. steal_share: of all CPUs, while its container was there."""
    if steal_share <= STEAL_WARN:
        return []
    text = f"the hypervisor took {steal_share:.1%} of the CPUs"
    return [Finding(code="steal", severity="warning" if steal_share <= STEAL_VOID else "void", text=text)]


def _wrong(text: str) -> Finding:
    return Finding.of("wrong-count", "invalid", text)


def _not_measured(why: str) -> Finding:
    return Finding.of("not-measured", "warning", f"not measured: {why}")


def _made(document: Document, way: str) -> Measurement | None:
    return next((made for made in document.measurements if made.name == way), None)


def _elsewhere(document: Document, made: Measurement) -> str:
    if made.disk_read_bytes is None:
        return "the kernel does not report what came from the disk"
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
