"""The questions to the program in `file-io/`, and its answer. Pure."""

import random
from collections.abc import Collection, Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tandem.errors import TandemError
from tandem.judge.judge import STEAL_VOID, STEAL_WARN
from tandem.record.part import Number, Part
from tandem.record.store import explained
from tandem.record.window import Finding

PROGRAM = "file-io"
"""The implementation of the variants; the folder of the program."""
BUSY = 0.85
"""Share of a CPU, or of all, from which on it was the limit."""
LOOPS = ("loop-one", "loop-all")
"""The yardsticks."""
NANOS_DIGITS = 19
SPARE = 1.05
"""Space that a file system needs for itself."""
CONTAINER_S = 1.5
MADE_NS, COUNTED_NS = 150, 80
"""Times for the estimate: a container; a line to make it, and to count it once in a way."""


class Case(BaseModel):
    """The files of one start, which its ways share."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    files: Annotated[int, Field(ge=1, le=1000)]
    lines: Annotated[int, Field(ge=1)]
    """Lines in all files together."""
    buffer_bytes: Annotated[int, Field(ge=64, le=2**30)] = 8192
    cache: Literal["hot", "cold"] = "hot"

    @property
    def name(self) -> str:
        return f"{self.files}-{self.lines}-{self.buffer_bytes}-{self.cache}"

    @property
    def bytes(self) -> int:
        """The size of all files, at most."""
        longest = len(str(self.files - 1)) + len(str(self.lines // self.files)) + NANOS_DIGITS + len(",,\n")
        return round(self.lines * longest * SPARE)

    def expected_s(self, ways: int) -> float:
        """Seconds of a start that counts in so many ways."""
        return CONTAINER_S + self.lines * (MADE_NS + COUNTED_NS * ways) / 1e9

    def arguments(self, ways: Iterable[str], seed: str) -> list[str]:
        """Arguments of asynctest, after the folder: the ways and both yardsticks, in an order that the seed fixes."""
        order = sorted({*ways, *LOOPS})
        random.Random(f"{seed} {self.name}").shuffle(order)
        sizes = ["--buffer-size", str(self.buffer_bytes)]
        return [str(self.files), str(self.lines), "--only", ",".join(order), *sizes, "--cache", self.cache]


class WaySettings(Case):
    """The settings of a variant: a way of counting, and what it counts."""

    way: Annotated[str, Field(pattern=r"^(test[0-9]{2}(-in-place)?|loop-(one|all))$")]
    """Way of counting, as `asynctest --help` names it."""

    @property
    def case(self) -> Case:
        return Case(files=self.files, lines=self.lines, buffer_bytes=self.buffer_bytes, cache=self.cache)


class _Printed(BaseModel):
    """A part of the document, as far as it is used."""

    model_config = ConfigDict(frozen=True)


class Asking(_Printed):
    files: int
    bytes: int
    threads: int


class Way(_Printed):
    """A way of counting. measure: the tight loop that it is held against."""

    name: str
    library: str | None
    version: str | None
    measure: str
    unavailable: str | None
    """Why this machine does not let it."""


class Measurement(_Printed):
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

    @property
    def cpu_ms(self) -> float:
        return self.cpu_user_ms + self.cpu_system_ms


class Document(_Printed):
    """The output of asynctest."""

    schema_version: Literal[1, 2]
    asked: Asking
    made_s: float
    took_s: float
    ways: list[Way]
    measurements: list[Measurement]

    @property
    def versions(self) -> dict[str, str]:
        """The libraries of its ways."""
        return {way.library: way.version for way in self.ways if way.library and way.version}

    def measuring_s(self, ways: Collection[str]) -> float:
        """Seconds that these ways counted, together."""
        return sum(made.elapsed_ms for made in self.measurements if made.name in ways) / 1e3

    def of(self, way: str) -> Measurement | None:
        return next((made for made in self.measurements if made.name == way), None)


def read(text: str) -> Document:
    """Raises TandemError for what is not asynctest's document."""
    try:
        return Document.model_validate_json(text)
    except ValidationError as error:
        raise TandemError(f"asynctest's output is not as expected: {explained(error)}") from None


class Counting(Part):
    """Figures of one way in one start: Trial.facts holds it by the variant's label. Empty where it was not measured."""

    figures: dict[str, Number] = Field(default_factory=dict)
    bottleneck: str | None = None
    evidence: list[str] = Field(default_factory=list)
    """The share that decided the bottleneck."""


def counting(document: Document, case: Case, way: str) -> tuple[Counting, list[Finding]]:
    """Read one way out of a document, with what is wrong with it. case: what was asked for."""
    known = next((one for one in document.ways if one.name == way), None)
    if known is not None and known.unavailable is not None:
        return Counting(), [_not_measured(known.unavailable)]
    made = document.of(way)
    if known is None or made is None:
        return Counting(), [_wrong(f"asynctest reported nothing about {way}")]
    if (document.asked.files, made.lines) != (case.files, case.lines):
        return Counting(), [_wrong(f"{made.lines:,} lines were counted instead of {case.lines:,}")]
    if made.cache != case.cache or made.buffer_bytes not in (None, case.buffer_bytes):
        return Counting(), [_wrong(f"{way} was measured under other conditions than requested")]
    if not made.cache_achieved:
        return Counting(), [_not_measured(_elsewhere(document, made))]
    bottleneck, evidence = _limit(document.asked.threads, made)
    figures = _figures(document.of(known.measure), made)
    return Counting(figures=figures, bottleneck=bottleneck, evidence=evidence), []


def disturbance(steal_share: float) -> list[Finding]:
    """Findings about what a hypervisor took. steal_share: of all CPUs, while its container was there."""
    if steal_share <= STEAL_WARN:
        return []
    text = f"the hypervisor took {steal_share:.1%} of the CPUs"
    return [Finding.of("steal", "warning" if steal_share <= STEAL_VOID else "void", text)]


def _wrong(text: str) -> Finding:
    return Finding.of("wrong-count", "invalid", text)


def _not_measured(why: str) -> Finding:
    return Finding.of("not-measured", "warning", f"not measured: {why}")


def _elsewhere(document: Document, made: Measurement) -> str:
    if made.disk_read_bytes is None:
        return "the kernel does not report what came from the disk"
    share = made.disk_read_bytes / document.asked.bytes
    cold, hot = "the files did not leave the page cache", "the page cache did not keep the files"
    return f"not achieved: {cold if made.cache == 'cold' else hot}, {share:.0%} came from the disk"


def _figures(loop: Measurement | None, made: Measurement) -> dict[str, float]:
    """Figures of a way. loop: the tight loop of the same start."""
    found = {"time_ms": made.elapsed_ms, "cpu_ms": made.cpu_ms}
    if made.peak_memory_bytes is not None:
        found["peak_memory_mib"] = made.peak_memory_bytes / 2**20
    if loop is not None and loop.cache_achieved and made.cache == "hot":
        found["loop_ratio"] = made.elapsed_ms / loop.elapsed_ms
    return found


def _limit(threads: int, made: Measurement) -> tuple[str, list[str]]:
    """The bottleneck of a way, by the CPUs that it kept busy."""
    busy = made.cpu_ms / made.elapsed_ms
    evidence = [f"{busy:.2f} of {threads} CPUs busy"]
    if made.cache == "cold":
        from_disk = (made.disk_read_bytes or 0) / 1e6 / (made.elapsed_ms / 1e3)
        evidence.append(f"{from_disk:,.0f} MB/s from the disk")
    if busy >= BUSY * threads:
        return "app-cpu", evidence
    if busy >= BUSY:
        return "app-thread", evidence
    return ("disk" if made.cache == "cold" else "unknown"), evidence
