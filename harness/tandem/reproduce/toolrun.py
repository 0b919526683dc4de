"""Runs a load by a tool in the generator's container, with the probes around it."""

from collections.abc import Callable
from dataclasses import dataclass

import httpx
import numpy as np

from tandem.errors import TandemError
from tandem.hosts import HERE
from tandem.judge.measure import Conditions, Measured, window
from tandem.lab.stack import Service, Stack
from tandem.lab.waiting import settle
from tandem.load.client import Client
from tandem.load.generator import Report
from tandem.load.rows import Rows
from tandem.old.cell import Cell
from tandem.probes.sampler import Prober, Sample, Sampler
from tandem.probes.watch import Watch
from tandem.record.window import Window
from tandem.reproduce.witness import Seen, Witness

ROLES = ("app", "proxy", "pgbouncer", "db", "loadgen")
# The tool's own lines stand between two stamps; its exit status is passed on.
_SCRIPT = 'date +%s.%N; "$@"; status=$?; date +%s.%N; exit $status'
TRIM_SHARE = 0.1
"""Of the load's time at both ends, in which connections are opened and closed: what roles used is taken between."""


@dataclass(frozen=True)
class ToolRun:
    """What a load left behind."""

    text: str
    """What the tool printed."""
    window: Window
    """Made of the counters alone: no rows, not judged."""
    app_cpu_s: float
    """Of the whole load."""
    seen: Seen


def services(stack: Stack) -> dict[str, Service]:
    """The running containers, by role."""
    return {role: stack.service(role) for role in ROLES}


def installed(stack: Stack, tools: list[str]) -> None:
    """Raises TandemError, with the remedy, for a tool that the generator's image does not have."""
    script = 'for tool; do command -v "$tool" >/dev/null || echo "$tool"; done'
    missing = stack.execute("loadgen", ["sh", "-c", script, "sh", *tools]).split()
    if missing:
        raise TandemError(
            f"the image of the load generators has no {' and no '.join(missing)}: it is older than loadgen/Dockerfile."
            " Build it anew: docker compose --profile load build loadgen"
        )


def versions(stack: Stack, tools: list[str]) -> dict[str, str]:
    """What wrk and drill say of themselves; oha's version is in every record."""
    found = {}
    for tool, option in (("wrk", "-v"), ("drill", "--version")):
        if tool in tools:  # wrk prints its version and exits with 1
            words = stack.execute("loadgen", ["sh", "-c", f"{tool} {option} || true"]).split()
            found[tool] = words[1] if len(words) > 1 else "unknown"
    return found


def run_tool(
    stack: Stack,
    cell: Cell,
    roles: dict[str, Service],
    command: list[str],
    connections: int,
    seen: Callable[[Sample, Sample], None],
) -> ToolRun:
    """Makes the load and waits for its end. Raises TandemError if the tool or a container fails."""
    settle(HERE)
    groups = {role: HERE.cgroup(service.pid) for role, service in roles.items()}
    groups["harness"] = HERE.harness_cgroup()
    sampler = Sampler(HERE, groups, None, None, seen)
    client = Client(cell.scenario, cell.answers, f"{roles['app'].address}:8080")
    prober = Prober(client.ask)
    watch = Watch(HERE, roles["app"].pid, *(roles[role].cpuset for role in ("app", "loadgen")))
    try:
        sampler.start()
        threads_before = groups["app"].thread_cpu_s()
        prober.start()
        try:
            watch.start()
            with Witness(HERE, roles["app"], roles["loadgen"], connections) as witness:
                said = stack.execute("loadgen", ["sh", "-c", _SCRIPT, "sh", *command])
        finally:
            prober.stop()
            try:
                watched = watch.stop()
            finally:
                series = sampler.stop()
        threads = groups["app"].thread_cpu_s()
    except (OSError, KeyError, httpx.HTTPError) as error:
        raise TandemError(f"the load of `{command[0]}` broke: {error}\n{stack.log('app')}") from None
    finally:
        client.close()
    began_s, text, ended_s = split(said)
    duration_s = ended_s - began_s
    usage = [sample.usage["app"].cpu_s for sample in (series.samples[0], series.samples[-1])]
    measured = Measured(
        rows=no_rows(),
        report=Report(statusCodeDistribution={}),
        began_s=began_s,
        series=series,
        busiest_thread_s=max((s - threads_before.get(t, 0.0) for t, s in threads.items()), default=None),
        statements={},
        probes=prober.asked,
        probes_refused=[wrong.text for wrong in prober.wrong if not wrong.body],
        probe_failures=[wrong.text for wrong in prober.wrong if wrong.body],
        watched=watched,
    )
    asked = Conditions(
        load="closed",
        duration_s=duration_s,
        connections=connections,
        rate_rps=None,
        trim_start_s=duration_s * TRIM_SHARE,
        trim_end_s=duration_s * TRIM_SHARE,
        lengths=set(),
        cpusets={role: service.cpuset for role, service in roles.items()},
        host_cpus=HERE.cpus,
    )
    return ToolRun(text, window(measured, asked), usage[1] - usage[0], witness.seen)


def split(said: str) -> tuple[float, str, float]:
    """When the load began, what the tool printed, when it ended. Raises TandemError if a stamp is missing."""
    lines = said.strip("\n").split("\n")
    try:
        return float(lines[0]), "\n".join(lines[1:-1]) + "\n", float(lines[-1])
    except (ValueError, IndexError):
        raise TandemError(f"the load generator's output has no stamps:\n{said[-500:]}") from None


def no_rows() -> Rows:
    """Rows of no request."""
    floats, integers = np.empty(0, dtype=np.float64), np.empty(0, dtype=np.int64)
    return Rows(floats, floats, floats, integers, integers)
