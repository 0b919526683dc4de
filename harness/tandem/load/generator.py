"""What a load is and what a load generator has to be; oha, the one that measures."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel

from tandem.catalog.golden import SentBodies
from tandem.errors import TandemError
from tandem.load.rows import Rows, no_rows, read_rows
from tandem.record.part import Number, Part
from tandem.record.trial import Arrivals

OLDEST = (1, 14)
"""Oldest release that can be read: before it the SQLite rows lack the paced start."""
KNOWN_MAJOR = 1
"""A later major version may mean other things by the same columns."""
TIMEOUT_S = 10
FOLDER = "/tmp"
HEADERS = {"accept": "*/*", "accept-encoding": "gzip, compress, deflate, br", "user-agent": "oha/1.16.0"}
"""Headers that oha sends with each request, beside what it is told and before that; then the host and the body's length."""


@dataclass(frozen=True)
class Load:
    """One window's load."""

    url: str
    duration_s: int
    connections: int
    threads: int
    headers: dict[str, str]
    rate_rps: int | None = None
    """Rate of an open loop; None: closed loop, every connection sends again as soon as it is answered."""
    urls: list[str] | None = None
    """URLs of which the generator draws one for each request; None: always `url`."""
    method: str = "GET"
    bodies: SentBodies | None = None
    """Bodies of which the generator draws one for each request."""
    timeout_s: int = TIMEOUT_S
    retries: int = 0
    """How often what has no answer within `timeout_s` is sent again."""
    requests_per_connection: int = 0
    """Requests of which one closes its connection; 0: none does."""
    weight: int = 1
    """Weight of these requests: their share by the sum of all."""
    beside: tuple["Load", ...] = ()
    """The other classes of a mix: what is asked, and its weight."""
    arrivals: Arrivals = field(default_factory=Arrivals)
    share: tuple[int, int] = (0, 1)
    """Which of how many generators: of a schedule it sends every n-th arrival."""
    whole_rps: int | None = None
    """The rate of all generators together; None: `rate_rps`."""
    options: dict[str, Any] = field(default_factory=dict)
    """Options of one generator beside the load (WindowSpec.generator_options)."""
    http2: bool = False

    @property
    def patience_s(self) -> int:
        """How long a request may take in all."""
        return self.timeout_s * (1 + self.retries)

    @property
    def parts(self) -> tuple["Load", ...]:
        """The classes of its requests."""
        return self, *self.beside


def body_file(bodies: SentBodies) -> str:
    """File of the bodies in the generator's container: each on a line."""
    return f"{FOLDER}/body-{bodies.name}"


class SocketErrors(Part):
    """wrk's own four counts."""

    connect: int
    read: int
    write: int
    timeout: int

    @property
    def total(self) -> int:
        return self.connect + self.read + self.write + self.timeout


class ToolResult(Part):
    """The figures of one load. Null: the tool does not tell."""

    requests: int
    """Requests that were answered, right or wrong."""
    failed: int
    """Answers that the tool itself holds for wrong, and requests that failed: never more is known than it tells."""
    duration_s: Number
    """Length by the tool; wrk rounds it to hundredths of its unit."""
    requests_rps: Number
    latency_mean_ms: Number | None = None
    latency_p50_ms: Number | None = None
    latency_p90_ms: Number | None = None
    latency_p99_ms: Number | None = None
    latency_max_ms: Number | None = None
    socket_errors: SocketErrors | None = None


class Report(BaseModel):
    """The part of oha's JSON that is used: a cross-check and the errors, which have no rows."""

    statusCodeDistribution: dict[str, int]
    errorDistribution: dict[str, int] = {}
    errors_of: dict[int, int] = {}
    """Class of a mix -> its errors."""
    retried: int | None = None
    """How often a request was sent again, where the generator may."""
    told: ToolResult | None = None
    """The figures of a generator that leaves none at all: then the window's are these, and its checks are those of a
    second opinion (tandem.judge.windows)."""

    @property
    def errors(self) -> int:
        """Requests without a row."""
        return sum(self.errorDistribution.values())

    @property
    def answered_2xx(self) -> int:
        return sum(n for status, n in self.statusCodeDistribution.items() if status.startswith("2"))

    @property
    def answered(self) -> int:
        return sum(self.statusCodeDistribution.values())


def read_report(file: Path) -> Report:
    """Reads oha's JSON. Raises TandemError if it is missing or not of that form."""
    try:
        return Report.model_validate_json(file.read_text())
    except (OSError, ValueError) as error:
        raise TandemError(f"{file}: the load generator's summary cannot be read: {error}") from None


def said(folder: Path, name: str) -> str:
    """Output of a generator. Raises TandemError if it printed nothing."""
    file = folder / f"{name}.txt"
    if not file.is_file():
        raise TandemError(f"{file}: the load generator printed nothing")
    return file.read_text()


class Generator(Protocol):
    """A load generator that runs in the container `loadgen`. The name of a load is that of its files in FOLDER."""

    name: str
    suffixes: tuple[str, ...]
    """Suffixes of the files that a load leaves."""
    scheduled: bool = False
    """Whether it is told when each request is due."""

    def inputs(self, load: Load, name: str) -> dict[str, str]:
        """Files that it reads: suffix -> text."""
        return {}

    def arguments(self, load: Load, name: str) -> list[str]:
        """The command line of a load. Raises TandemError for one that it cannot make."""

    def began_s(self, text: str) -> float | None:
        """When the load began (time.time() there), where what it printed says so. Raises TandemError."""
        return None

    def read(self, folder: Path, name: str) -> tuple[Rows, Report]:
        """Read the files of a load, copied to `folder`; what it printed is in name.txt. Raises TandemError if that
        cannot be read."""


class Summarising(Generator):
    """A Generator that leaves no rows and prints a summary; it makes closed loops of GET requests without headers."""

    suffixes: tuple[str, ...] = ()

    def __init__(self, parse: Callable[[str], ToolResult]) -> None:
        """parse: reads the summary. Raises TandemError."""
        self._parse = parse

    def check(self, load: Load) -> None:
        """Raises TandemError for a load that it cannot make."""
        if load.rate_rps is not None or load.method != "GET" or load.headers or load.url.startswith("https"):
            raise TandemError(
                f"{self.name} is used only for closed loops of plain GET requests without headers"
            )

    def read(self, folder: Path, name: str) -> tuple[Rows, Report]:
        return no_rows(), Report(statusCodeDistribution={}, told=self._parse(said(folder, name)))


class Oha(Generator):
    """oha as a Generator: rows from SQLite, errors from its summary."""

    name = "oha"
    suffixes: tuple[str, ...] = ("json", "sqlite")

    def inputs(self, load: Load, name: str) -> dict[str, str]:
        return {} if load.urls is None else {"urls": "\n".join(load.urls) + "\n"}

    def arguments(self, load: Load, name: str) -> list[str]:
        """Rows go to FOLDER/name.sqlite, the summary to FOLDER/name.json.

        --worker-threads: the default ignores CPU sets. -w: requests in flight at the deadline are waited for.
        -r 0: a redirect is no answer. -t: the default never times out.
        """
        if load.retries or load.requests_per_connection:
            raise TandemError("oha neither sends a request again nor closes its connections: vegeta does")
        file = f"{FOLDER}/{name}"
        out = ["oha", "--no-tui", "--worker-threads", str(load.threads), "-t", f"{load.timeout_s}s"]
        out += ["-w", "-r", "0", "-z", f"{load.duration_s}s", "-c", str(load.connections)]
        out += ["--output-format", "json", "-o", f"{file}.json", "--db-url", f"{file}.sqlite"]
        if load.rate_rps is not None:
            out += ["-q", str(load.rate_rps), "--latency-correction"]
        out += ["--insecure"] if load.url.startswith("https") else []
        out += ["--http2"] if load.http2 else []
        if load.method != "GET":
            out += ["-m", load.method]
        if load.bodies is not None:
            out += ["-D" if len(load.bodies.each) == 1 else "-Z", body_file(load.bodies)]
        for key, value in load.headers.items():
            out += ["-H", f"{key}: {value}"]
        return [*out, load.url] if load.urls is None else [*out, "--urls-from-file", f"{file}.urls"]

    def read(self, folder: Path, name: str) -> tuple[Rows, Report]:
        return read_rows(folder / f"{name}.sqlite"), read_report(folder / f"{name}.json")


OHA = Oha()


def check_version(text: str) -> str:
    """The version in the output of `oha --version`. Raises TandemError below OLDEST and above KNOWN_MAJOR."""
    match = re.search(r"(\d+)\.(\d+)\.\d+", text)
    if not match:
        raise TandemError(f"the load generator did not report its version: {text!r}")
    found = int(match[1]), int(match[2])
    if found < OLDEST:
        raise TandemError(f"oha {match[0]} is too old: {OLDEST[0]}.{OLDEST[1]} or newer is needed")
    if found[0] > KNOWN_MAJOR:
        raise TandemError(
            f"oha {match[0]} is not supported: {KNOWN_MAJOR}.x is. Pin one in loadgen/Dockerfile, or check what has"
            " changed in its rows and raise KNOWN_MAJOR"
        )
    return match[0]
