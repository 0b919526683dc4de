"""drill, which measured one of the documents: iterations of a plan, a summary as text.

https://github.com/fcsonline/drill. Read in the source of 0.9.1: everything runs on one thread; the ramp-up is divided
by the iterations as whole seconds, and where that is none each iteration still waits for the next tick of a timer
of 1 ms, so with a ramp-up a rate is mostly that timer's; what cannot connect is an answer 520; without --quiet every request prints a line; times are rounded unless --nanosec is given.
"""

import json
import re

from tandem.errors import TandemError
from tandem.load.generator import FOLDER, Load, Summarising, ToolResult

NAME = "drill"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_MS = {"ns": 1e-6, "ms": 1.0}
_TOTALS = re.compile(r"^Time taken for tests +(\d+(?:\.\d+)?) seconds$", re.MULTILINE)
"""Beginning of the summary of all requests; single requests stand before it."""


class DrillGenerator(Summarising):
    """drill as a tandem.load.generator.Generator: the paths in turn, as many iterations at a time as connections.

    options: how many `requests`, a multiple of the number of paths, instead of seconds; `rampup_s`; `quiet`: False
    prints a line for each request, as drill does unless it is told not to.
    """

    name = NAME

    def inputs(self, load: Load, name: str) -> dict[str, str]:
        """The benchmark file; JSON is YAML. Raises TandemError where the requests cannot be divided."""
        self.check(load)
        base = "http://" + load.url.removeprefix("http://").partition("/")[0]
        paths = [url.removeprefix(base) for url in load.urls or [load.url]]
        requests = int(load.options["requests"])
        iterations, left = divmod(requests, len(paths))
        if left or iterations < load.connections:
            raise TandemError(
                f"drill makes {len(paths)} requests per iteration and needs at least {load.connections}"
                f" iterations: it cannot make {requests} requests"
            )
        step: dict[str, object] = {"name": "ask", "request": {"url": paths[0]}}
        if len(paths) > 1:
            step = {"name": "ask", "request": {"url": "{{ item }}"}, "with_items": paths}
        told = {"concurrency": load.connections, "base": base, "iterations": iterations}
        rampup_s = int(load.options.get("rampup_s", 0))
        return {"yml": json.dumps({**told, "rampup": rampup_s, "plan": [step]}) + "\n"}

    def arguments(self, load: Load, name: str) -> list[str]:
        self.check(load)
        file = f"{FOLDER}/{name}.yml"
        out = ["drill", "--benchmark", file, "--stats", "--nanosec", "--timeout", str(load.timeout_s)]
        return [*out, "--quiet"] if load.options.get("quiet", True) else out


def parse(text: str) -> ToolResult:
    """The figures in what drill printed with --stats. Raises TandemError if that is not a whole summary."""
    plain = _COLOUR.sub("", text)
    found = _TOTALS.search(plain)
    if not found:
        raise TandemError(f"drill printed no summary:\n{plain.strip()[-500:] or '(it printed nothing)'}")
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
        raise TandemError(f"drill's summary has no readable '{name}'")
    return match.groups()


def _time(text: str, name: str) -> float:
    number, unit = _value(text, name, r"(\d+(?:\.\d+)?)(ns|ms)")
    return float(number) * _MS[unit]


DRILL = DrillGenerator(parse)
