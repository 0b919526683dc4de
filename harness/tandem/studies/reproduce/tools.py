"""Rows of the kind `tools`: one application under wrk, drill and oha, in one fresh start of each build. Pure."""

import math
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tandem.errors import TandemError, UsageError
from tandem.load import drill, wrk
from tandem.load.generator import Load
from tandem.load.tool_result import ToolResult
from tandem.record.request import Variant
from tandem.record.store import file_name
from tandem.record.trial import Trial, WindowSpec
from tandem.record.window import Finding, Verdict, Window
from tandem.studies.reproduce.conclusions import Facts, RowTrial
from tandem.studies.reproduce.experiment import ExperimentPlan, ExperimentRow
from tandem.studies.reproduce.kinds import RowsOf, begun, trims_s, with_findings
from tandem.studies.reproduce.saturation import limit

OHA = "oha"
TOPOLOGY = "direct"
"""The generator asks the application itself."""
TRIMS_SHORT, TRIMS_LONG = (1.5, 0.5), (2.0, 1.0)
TRIM_SHARE = 0.1
"""Of a tool's own load at both ends, in which connections are opened and closed: what roles used is taken between."""
OPENING_S_PER_THOUSAND = 0.4
"""oha opens its connections while it asks: so long is added before the measured part."""
OVERRUN = 1.3
"""wrk begins its time before its connections are open, and prints it late where that took long."""
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
    def group(self) -> str:
        """Rows of a group share a fresh start: they are about one program with one scenario."""
        return " ".join([self.implementation, self.build, self.scenario])

    def options(self, plan: ExperimentPlan) -> dict[str, object]:
        """What its generator is told besides the load."""
        if self.tool == wrk.NAME:
            return {"threads": self.threads}
        if self.tool == drill.NAME:
            requests = asked_requests(self, plan)
            return {"requests": requests, "rampup_s": self.rampup_s, "quiet": self.quiet}
        return {}


def drill_rps(spec: ToolSpec) -> int:
    """What drill makes at least."""
    return min(DRILL_RPS, DRILL_RAMPED_RPS * spec.connections) if spec.rampup_s else DRILL_RPS


def asked_requests(spec: ToolSpec, plan: ExperimentPlan) -> int:
    """How many requests drill makes under a plan; whole hundreds where the plan limits it. Raises UsageError where
    the row does not say."""
    if spec.requests is None:
        raise UsageError("a drill row needs `requests`")
    limit_s = plan.limits.get(DRILL_LIMIT)
    most = spec.requests if limit_s is None else limit_s * drill_rps(spec) // 100 * 100
    return min(spec.requests, most)


def opening_s(connections: int) -> int:
    """Whole seconds in which so many connections are opened."""
    return int(connections / 1000 * OPENING_S_PER_THOUSAND)


def loaded(
    name: str, variant: str, seconds: int, connections: int, generator: str = OHA, **options: object
) -> WindowSpec:
    """A closed window of so many connections. seconds: besides those of opening them, which are added."""
    opening, (start, end) = opening_s(connections), trims_s(seconds, TRIMS_SHORT, TRIMS_LONG)
    return WindowSpec(
        name=name,
        variants=[variant],
        seconds=seconds + opening,
        generator=generator,
        generator_options=options,
        scenario_changes={"connections": connections},
        trim_start_s=start + opening,
        trim_end_s=end,
    )


def by_tool(
    name: str, variant: str, seconds: int, connections: int, tool: str, options: dict[str, object]
) -> WindowSpec:
    """A closed window by a tool that leaves no rows."""
    return WindowSpec(
        name=name,
        variants=[variant],
        seconds=seconds,
        generator=tool,
        generator_options=options,
        scenario_changes={"connections": connections},
        trim_start_s=round(seconds * TRIM_SHARE, 4),
        trim_end_s=round(seconds * TRIM_SHARE, 4),
    )


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
        **held(window),
    }
    return {name: value for name, value in told.items() if value is not None}


def tool_figures(told: ToolResult, window: Window) -> dict[str, float]:
    """The figures of a tool's own load. Wrong answers are no goodput; a probe of the harness is no error of the tool's."""
    errors = told.socket_errors
    found: dict[str, float | None] = {
        "goodput_rps": window.goodput_rps,
        "total_s": told.duration_s,
        "requests": float(told.requests),
        "mean_ms": told.latency_mean_ms,
        "p50_ms": told.latency_p50_ms,
        "p90_ms": told.latency_p90_ms,
        "p99_ms": told.latency_p99_ms,
        "max_ms": told.latency_max_ms,
        "app_cpu_us_per_request": window.app_cpu_us_per_request if told.requests else None,
        "connect_errors": None if errors is None else float(errors.connect),
        "errors": float(told.failed + (errors.total if errors else 0)),
        **held(window),
    }
    return {name: value for name, value in found.items() if value is not None}


def held(window: Window) -> dict[str, float | None]:
    """How many connections were open; left out where none was seen."""
    return {"established": float(window.established) if window.established else None}


def not_connected(window: Window, connections: int, connect_errors: float = 0.0) -> list[Finding]:
    """What makes a window of many connections invalid besides the checks of every window."""
    found, established = [], window.established or 0
    if established < connections:
        text = f"only {established:,} of {connections:,} connections were established"
        found.append(Finding.of("not-connected", "invalid", text))
    if connect_errors:
        text = f"{connect_errors:,.0f} connections could not be opened (connect errors)"
        found.append(Finding.of("connect-errors", "invalid", text))
    return found


def overrun(told: ToolResult, asked_s: float) -> list[Finding]:
    """Whether a tool that is told a time kept to it."""
    if told.duration_s <= OVERRUN * asked_s:
        return []
    text = f"the tool took {told.duration_s:.1f} s for a load of {asked_s:.0f} s: it was not ready to send"
    return [Finding.of("overrun", "invalid", text)]


class ToolsRows(RowsOf[ToolSpec]):
    """Kind `tools`."""

    form = ToolSpec

    def _first(self, spec: ToolSpec) -> str:
        return next(label for label, own in self.specs.items() if own == spec)

    def accept(self, row: ExperimentRow, spec: ToolSpec) -> None:
        self._check(spec)
        # The first of those with the same load stands for all.
        if self._first(spec) == row.label:
            self.groups.setdefault(spec.group, []).append(row.label)

    def _check(self, spec: ToolSpec) -> None:
        self.possible(spec.implementation, spec.scenario, TOPOLOGY, self.placement, {})
        if spec.tool == wrk.NAME and spec.threads > spec.connections:
            raise UsageError(f"wrk needs a connection for each of its {spec.threads} threads")
        if spec.tool == drill.NAME:
            asked = self.catalog.scenarios[spec.scenario]
            urls = [f"http://app/{number}" for number in asked.expanded_ids] or None
            load = Load(
                "http://app/",
                self.seconds(spec),
                spec.connections,
                1,
                {},
                urls=urls,
                options=spec.options(self.plan),
            )
            try:
                drill.DRILL.inputs(load, "check")
            except TandemError as error:
                raise UsageError(str(error)) from None

    def seconds(self, spec: ToolSpec) -> int:
        """Of the plan's window; of drill about how long its requests take."""
        if spec.tool == drill.NAME:
            return max(1, math.ceil(asked_requests(spec, self.plan) / drill_rps(spec)))
        return self.plan.window_s or 10

    @property
    def variants(self) -> list[Variant]:
        return [self._variant(group, self.specs[labels[0]]) for group, labels in self.groups.items()]

    def _variant(self, group: str, spec: ToolSpec) -> Variant:
        return Variant(
            label=group,
            implementation=spec.implementation,
            scenario=spec.scenario,
            build="debug" if spec.build == "debug" else None,
        )

    def labels(self, group: str) -> list[str]:
        return [label for label, spec in self.specs.items() if spec.group == group]

    def window(self, variant: str, label: str) -> WindowSpec:
        spec = self.specs[label]
        if spec.tool == OHA:
            return loaded(file_name(label), variant, self.seconds(spec), spec.connections)
        options = spec.options(self.plan)
        return by_tool(file_name(label), variant, self.seconds(spec), spec.connections, spec.tool, options)

    def facts(self, label: str) -> Facts:
        return Facts(self.specs[label].settings(self.plan))

    def needs(self, label: str) -> tuple[int, int]:
        return self.specs[label].connections, 0

    def row_trial(self, label: str, trial: Trial) -> RowTrial:
        spec = self.specs[label]
        name = file_name(self._first(spec))
        made = begun(label, trial, name)
        record = next((one for one in trial.windows if one.spec.name == name and one.windows), None)
        if record is None:
            return made
        window = record.only
        if record.told is None:
            figures = oha_figures(window)
            found = not_connected(window, spec.connections, figures["connect_errors"])
            share = None
        else:
            told = ToolResult.model_validate(record.told)
            figures = tool_figures(told, window)
            # drill opens connections when it needs them; its concurrency says how many there are at most.
            timed = spec.tool == wrk.NAME
            found = overrun(told, record.spec.seconds) if timed else []
            found += not_connected(window, spec.connections) if timed else []
            share = in_flight_share(told, spec.connections)
        made = with_findings(made, found)
        if made.verdict is Verdict.OK:
            made.figures = figures
            thread = None if record.told is None else window.generator_thread_cores
            made.bottleneck, made.evidence = limit(window, thread, share)
        return made


def in_flight_share(told: ToolResult, connections: int) -> float | None:
    """How many of the connections had a request in flight in the mean, by the tool's own figures."""
    if told.latency_mean_ms is None:
        return None
    return told.requests_rps * told.latency_mean_ms / 1e3 / connections
