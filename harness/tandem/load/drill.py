"""drill, which measured one of the documents: iterations of a plan, a summary as text.

https://github.com/fcsonline/drill. Read in the source of 0.9.1: everything runs on one thread; the ramp-up is divided
by the iterations as whole seconds, and where that is none each iteration still waits for the next tick of a timer
of 1 ms, so with a ramp-up a rate is mostly that timer's; what cannot connect is an answer 520; without --quiet every request prints a line; times are rounded unless --nanosec is given.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import TandemError
from tandem.load.generator import FOLDER, Load, Report, said
from tandem.load.rows import Rows, no_rows
from tandem.load.tool_result import ToolResult

NAME = "drill"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_MS = {"ns": 1e-6, "ms": 1.0}
_TOTALS = re.compile(r"^Time taken for tests +(\d+(?:\.\d+)?) seconds$", re.MULTILINE)
"""Where the summary of all requests begins; those of single requests come before it."""


@dataclass(frozen=True)
class Drill:
    """A load by drill: `iterations` times the paths in turn, `concurrency` iterations at a time."""

    base: str
    paths: tuple[str, ...]
    concurrency: int
    requests: int
    """A multiple of the number of paths."""
    rampup_s: int
    timeout_s: int
    quiet: bool = True
    """False: it prints a line for each request, as it does unless it is told not to."""

    def benchmark(self) -> str:
        """The benchmark file; JSON is YAML. Raises TandemError where the requests cannot be divided."""
        iterations, left = divmod(self.requests, len(self.paths))
        if left or iterations < self.concurrency:
            raise TandemError(
                f"drill makes {len(self.paths)} requests an iteration and needs {self.concurrency} iterations at"
                f" least: {self.requests} requests cannot be made that way"
            )
        step: dict[str, object] = {"name": "ask", "request": {"url": self.paths[0]}}
        if len(self.paths) > 1:
            step = {"name": "ask", "request": {"url": "{{ item }}"}, "with_items": list(self.paths)}
        told = {"concurrency": self.concurrency, "base": self.base, "iterations": iterations}
        return json.dumps({**told, "rampup": self.rampup_s, "plan": [step]}) + "\n"

    def arguments(self, file: str) -> list[str]:
        """The command line in the generator's container. file: the benchmark there."""
        out = ["drill", "--benchmark", file, "--stats", "--nanosec", "--timeout", str(self.timeout_s)]
        return [*out, "--quiet"] if self.quiet else out


class DrillGenerator:
    """drill as a tandem.load.generator.Generator: so many `requests` and not so many seconds. options: `requests`,
    `rampup_s`, `quiet`."""

    name = NAME
    suffixes: tuple[str, ...] = ()

    def inputs(self, load: Load, name: str) -> dict[str, str]:
        return {"yml": self._drill(load).benchmark()}

    def arguments(self, load: Load, name: str) -> list[str]:
        """Raises TandemError for a load that it cannot make."""
        return self._drill(load).arguments(f"{FOLDER}/{name}.yml")

    def read(self, folder: Path, name: str) -> tuple[Rows, Report]:
        return no_rows(), Report(statusCodeDistribution={}, told=parse(said(folder, name)))

    def _drill(self, load: Load) -> Drill:
        if load.rate_rps is not None or load.method != "GET" or load.headers:
            raise TandemError("drill makes closed loops of GET requests without headers here")
        base, _, _ = load.url.removeprefix("http://").partition("/")
        base = f"http://{base}"
        paths = tuple(url.removeprefix(base) for url in load.urls or [load.url])
        own = load.options
        return Drill(
            base,
            paths,
            load.connections,
            int(own["requests"]),
            int(own.get("rampup_s", 0)),
            load.timeout_s,
            bool(own.get("quiet", True)),
        )


DRILL = DrillGenerator()


def parse(text: str) -> ToolResult:
    """The figures in what drill printed with --stats. Raises TandemError if that is not a whole summary."""
    plain = _COLOUR.sub("", text)
    found = _TOTALS.search(plain)
    if not found:
        raise TandemError(f"drill left no summary:\n{plain.strip()[-500:] or '(it printed nothing)'}")
    totals = plain[found.start() :]
    return ToolResult(
        requests=int(_value(totals, "Total requests", r"(\d+)")[0]),
        failed=int(_value(totals, "Failed requests", r"(\d+)")[0]),
        duration_s=float(found[1]),
        requests_rps=float(_value(totals, "Requests per second", r"(\d+(?:\.\d+)?) \[#/sec\]")[0]),
        latency_mean_ms=_time(totals, "Average time per request"),
        latency_p50_ms=_time(totals, "Median time per request"),
        latency_p99_ms=_time(totals, "99.0'th percentile"),
        latency_max_ms=_time(totals, "Max time per request") if "Max time per request" in totals else None,
    )


def _value(text: str, name: str, form: str) -> tuple[str, ...]:
    match = re.search(rf"^{re.escape(name)} +{form}$", text, re.MULTILINE)
    if not match:
        raise TandemError(f"drill's summary has no '{name}' that can be read")
    return match.groups()


def _time(text: str, name: str) -> float:
    number, unit = _value(text, name, r"(\d+(?:\.\d+)?)(ns|ms)")
    return float(number) * _MS[unit]
