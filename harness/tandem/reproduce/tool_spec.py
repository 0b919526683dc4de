"""A row of an experiment by tools, and what a load of it came to. Pure."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tandem.errors import UsageError
from tandem.load import wrk
from tandem.load.tool_result import ToolResult
from tandem.record.window import Finding, Window
from tandem.reproduce import opinion
from tandem.reproduce.benches import started
from tandem.reproduce.experiment import ExperimentPlan
from tandem.reproduce.result import Start
from tandem.reproduce.saturation import limit
from tandem.reproduce.toolrun import ToolRun
from tandem.reproduce.witness import Seen

DRILL_LIMIT = "drill_s"
"""Of a plan's limits: no more requests by drill than take about so long."""
DRILL_RPS, DRILL_RAMPED_RPS = 8_000, 600
"""What its one thread makes at least; and, with a ramp-up, each iteration at a time."""


class ToolSpec(BaseModel):
    """A row's `run`. Rows with the same are measured once in a start, whatever document they stand beside."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    tool: Literal["wrk", "drill", "oha"]
    implementation: str
    scenario: Literal["index", "users"] = "index"
    build: Literal["release", "debug"] = "release"
    connections: Annotated[int, Field(ge=1)]
    """drill's concurrency."""
    threads: Annotated[int, Field(ge=1)] = 1
    """wrk's."""
    requests: Annotated[int, Field(ge=1)] | None = None
    """drill's; the others have the plan's window."""
    rampup_s: Annotated[int, Field(ge=0)] = 0
    quiet: bool = True

    def settings(self, plan: ExperimentPlan) -> dict[str, str]:
        """For people."""
        told = {name: str(value) for name, value in self.model_dump(exclude_defaults=True).items()}
        made = {} if self.requests is None else {"requests": str(asked_requests(self, plan))}
        return {"tool": self.tool, **told, "build": self.build, **made}

    @property
    def group(self) -> tuple[str, str]:
        """Rows of a group share a fresh start."""
        return self.implementation, self.build


def drill_rps(spec: ToolSpec) -> int:
    """What drill makes at least."""
    return min(DRILL_RPS, DRILL_RAMPED_RPS * spec.connections) if spec.rampup_s else DRILL_RPS


def asked_requests(spec: ToolSpec, plan: ExperimentPlan) -> int:
    """How many requests drill makes under a plan; whole hundreds where the plan limits it. Raises UsageError where
    the row does not say."""
    if spec.requests is None:
        raise UsageError("a row of drill needs `requests`")
    limit_s = plan.limits.get(DRILL_LIMIT)
    most = spec.requests if limit_s is None else limit_s * drill_rps(spec) // 100 * 100
    return min(spec.requests, most)


def oha_figures(window: Window) -> dict[str, float]:
    """The figures of a measured window, by the experiments' names."""
    errors = {reason: n for reason, n in window.failed.items() if reason.startswith("error: ")}
    told: dict[str, float | None] = {
        "goodput_rps": window.goodput_rps,
        "requests": float(window.requests),
        "mean_ms": window.service_time_ms.mean,
        "p50_ms": window.service_time_ms.p50,
        "p90_ms": window.service_time_ms.p90,
        "p99_ms": window.service_time_ms.p99,
        "max_ms": window.service_time_ms.max,
        "app_cpu_us_per_request": window.app_cpu_us_per_request,
        "connect_errors": float(sum(n for reason, n in errors.items() if "onnect" in reason)),
        "errors": float(sum(window.failed.values())),
    }
    return {name: value for name, value in told.items() if value is not None}


def not_connected(figures: dict[str, float], seen: Seen, connections: int) -> list[Finding]:
    """What makes a window of many connections invalid besides the house's gates."""
    found = []
    if seen.established < connections:
        text = f"only {seen.established:,} of {connections:,} connections were established"
        found.append(Finding(code="not-connected", severity="invalid", text=text))
    if figures["connect_errors"]:
        text = f"{figures['connect_errors']:,.0f} connections could not be opened (connect errors)"
        found.append(Finding(code="connect-errors", severity="invalid", text=text))
    return found


def opinion_of(result: ToolResult, made: ToolRun, spec: ToolSpec, asked_s: float | None) -> Start:
    """A tool's own figures as a row's start. asked_s: how long its load was to take, where it was told."""
    window = made.window
    figures = opinion.figures(result, made.app_cpu_s, window.probes)
    # drill opens connections when it needs them; its concurrency says how many there are at the most.
    wanted = spec.connections if spec.tool == wrk.NAME else 0
    found = opinion.findings(result, window, wanted, made.seen.established, asked_s)
    answered = window.model_copy(update={"requests": result.requests, "goodput_rps": figures["goodput_rps"]})
    share = None
    if result.latency_mean_ms is not None:
        share = result.requests_rps * result.latency_mean_ms / 1e3 / spec.connections
    named = limit(answered, made.seen.busiest_generator_thread_cores, share)
    start = started(answered, figures, found, made.seen, named)
    start.warnings.append(opinion.NOTE)
    return start
