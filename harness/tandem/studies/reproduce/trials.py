"""A row in one trial: its figures, its limit, whether it counts. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tandem.analysis.histogram import recorded
from tandem.facts.estimate import AT_FULL_LOAD
from tandem.judge.bottleneck import SET_BUSY, THREAD_BUSY, tags
from tandem.judge.file_io import Counting
from tandem.judge.judge import refused_share, verdict
from tandem.load import drill
from tandem.load.generator import ToolResult
from tandem.load.rows import enough
from tandem.record.trial import Start, Trial, WindowRecord
from tandem.record.window import Finding, Verdict, Window
from tandem.studies.reproduce.rows import PlannedRow
from tandem.studies.reproduce.windows import SILENT, trips_ceiling, trips_implied

QUANTILES = {"p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}
OVERRUN = 1.3
"""wrk begins its time before its connections are open, and prints it late where that took long."""
GENERATOR, GENERATOR_THREAD, APP_CPU, LATENCY = "generator", "generator-thread", "app-cpu", "latency-bound"
BUSY_LEAST = 0.5
"""Share of a closed loop's connections with a request in flight, by Little's law: below, the generator itself keeps requests back."""
KIB, MIB = 1024, 1024**2

type Figures = dict[str, float | None]
"""Figure -> value; None: not measured."""


@dataclass
class RowTrial:
    """One row in one trial. Figures are empty unless the verdict is ok."""

    row: str
    block: int
    """The round: rows that were measured in the same one are compared."""
    attempt: int = 1
    verdict: Verdict = Verdict.OK
    reason: str | None = None
    """The reason of a verdict that is not ok."""
    figures: dict[str, float] = field(default_factory=dict)
    bottleneck: str | None = None
    ceilings: dict[str, float] = field(default_factory=dict)
    """Ceilings that are known only with the measurement, in requests per second."""
    warnings: list[str] = field(default_factory=list)

    def judge(self, findings: list[Finding]) -> None:
        """Take its verdict, its reason and its warnings from what was found."""
        self.verdict = verdict(findings)
        self.reason = next((one.text for one in findings if one.severity == self.verdict), None)
        self.warnings = [one.text for one in findings if one.severity == "warning"]


def row_trials(rows: Sequence[PlannedRow], trial: Trial, blocks_in_round: int) -> list[RowTrial]:
    """The rows that a trial measured. blocks_in_round: how many blocks have each row once, together."""
    number = (trial.spec.block - 1) // blocks_in_round + 1
    planned = {window.name for window in trial.spec.windows} or {*trial.spec.variants}
    out = []
    for row in rows:
        if (row.window.name if row.window else row.label) in planned:
            out.append(made := RowTrial(row.label, number, trial.spec.attempt))
            if row.window is None:
                _counted(made, trial)
            else:
                _loaded(made, row, trial)
    return out


def _counted(made: RowTrial, trial: Trial) -> None:
    """A wrong count is that row's alone; what a hypervisor did is that of all rows of the trial."""
    own = trial.starts[made.row].findings if made.row in trial.starts else []
    made.judge([*trial.findings, *own])
    if trial.verdict is Verdict.FAILED:
        made.verdict = Verdict.FAILED
    if made.verdict is Verdict.OK:
        counted = Counting.model_validate(trial.facts.get(made.row, {}))
        made.figures, made.bottleneck = dict(counted.figures), counted.bottleneck


def _loaded(made: RowTrial, row: PlannedRow, trial: Trial) -> None:
    """A window that was made counts, whatever became of the rest of its trial."""
    assert row.window is not None
    findings = [finding for start in trial.starts.values() for finding in start.findings]
    records = [record for record in trial.windows if record.spec.name == row.window.name]
    record = next((one for one in records if one.windows), None)
    if record is None:
        grave = [one.text for one in (*trial.findings, *findings) if one.severity != "warning"]
        texts = [*(one.refused for one in records), *grave]
        made.reason = next(filter(None, texts), "it was not measured")
        made.verdict = Verdict.FAILED if trial.verdict is Verdict.OK else trial.verdict
        return
    window, silent = record.only, row.own.generator == SILENT
    tool = None if silent or record.told is None else ToolResult.model_validate(record.told)
    made.judge([*findings, *window.findings, *connected(row, record, tool)])
    if made.verdict is not Verdict.OK:
        return
    figures = _figures(row, record, tool, trial)
    made.figures = {name: value for name, value in figures.items() if value is not None}
    made.bottleneck = None if silent else limit(window, tool, row.own.connections)
    if window.db_rtt_ms is not None:
        made.ceilings = trips_ceiling(row.row.round_trips, row.usable, window.db_rtt_ms.before_p50)


# ---- figures ----


def _figures(row: PlannedRow, record: WindowRecord, tool: ToolResult | None, trial: Trial) -> Figures:
    window = record.only
    if row.own.generator == SILENT:
        return idle_figures(record)
    if tool is not None:
        return tool_figures(tool, window)
    found = window_figures(window)
    if row.own.connections is not None:
        return found | connection_figures(window)
    found |= percentiles_ms(window) | peaks(trial.starts[trial.spec.variants[0]])
    if row.variant.scenario_changes.get("refused_most"):
        found["refused_percent"] = refused_share(window) * 100
    if window.db_rtt_ms is not None:
        found["round_trips"] = trips_implied(row.usable, window.db_rtt_ms.during_p50, window.goodput_rps)
    return found


def window_figures(window: Window) -> Figures:
    """Figures of every window whose requests have rows."""
    cpu_s = window.per_second.app_cpu_s if window.per_second else []
    peak = window.app_memory_peak_bytes
    return {
        **{metric: read(window) for metric, read in AT_FULL_LOAD.items()},
        "app_cpu_us_per_request": window.app_cpu_us_per_request,
        "mean_ms": window.service_time_ms.mean,
        "max_ms": window.service_time_ms.max,
        "cpu_percent": window.roles["app"].cpu_cores * 100,
        "peak_cpu_1s_percent": max(cpu_s) * 100 if cpu_s else None,
        "anonymous_memory_mib": None if peak is None else peak / MIB,
    }


def percentiles_ms(window: Window) -> Figures:
    """Service times of right answers that were seen (nearest rank), to three digits, of those with at least SAMPLES_BEYOND
    samples on either side."""
    if not window.service_time_hdr:
        return {}
    values, counts = recorded(window.service_time_hdr)
    n = int(counts.sum())
    told = {name: q for name, q in QUANTILES.items() if enough(n, max(q, 1 - q))}
    ranks = [max(1, int(np.ceil(n * q - 1e-9))) for q in told.values()]
    places = np.searchsorted(np.cumsum(counts), ranks)
    return {f"{name}_ms": float(values[place]) * 1e3 for name, place in zip(told, places, strict=True)}


def peaks(start: Start) -> Figures:
    """The published figures' peaks, by psrecord as they were; None where it saw nothing."""
    resident = start.resident_peak_bytes
    return {
        "peak_cpu_percent": start.cpu_peak_percent,
        "peak_memory_mib": None if resident is None else resident / MIB,
    }


def connection_figures(window: Window) -> Figures:
    """Further figures of a window with connections of its own, which are counted; its percentiles are those of all rows."""
    errors = {reason: n for reason, n in window.failed.items() if reason.startswith("error: ")}
    times = window.service_time_ms
    return {
        "requests": float(window.requests),
        "p50_ms": times.p50,
        "p90_ms": times.p90,
        "p99_ms": times.p99,
        "connect_errors": float(sum(n for reason, n in errors.items() if "onnect" in reason)),
        "errors": float(sum(window.failed.values())),
        "established": float(window.established) if window.established else None,
    }


def tool_figures(told: ToolResult, window: Window) -> Figures:
    """Figures that a tool tells of its own load. Wrong answers are no goodput; a probe of the harness is no error of the tool's."""
    errors = told.socket_errors
    return {
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
        "established": float(window.established) if window.established else None,
    }


def idle_figures(record: WindowRecord) -> Figures:
    """Figures of silent connections."""
    told: dict[str, Any] = record.told or {}
    grown = told["memory_after_bytes"] - told["memory_before_bytes"]
    opened = record.spec.scenario_changes["idle_connections"]
    return {
        "memory_per_idle_kib": grown / opened / KIB,
        "established": float(record.only.idle_connections or 0),
    }


# ---- what counts, and what limited it ----


def connected(row: PlannedRow, record: WindowRecord, tool: ToolResult | None) -> list[Finding]:
    """Findings that make a window with connections of its own invalid, besides those of every window."""
    asked, window, texts = row.own.connections, record.only, dict[str, str]()
    # drill opens connections when it needs them; its concurrency says how many there are at most.
    if asked is None or row.own.generator in (SILENT, drill.NAME):
        return []
    if tool is not None and tool.duration_s > OVERRUN * record.spec.seconds:
        times = f"{tool.duration_s:.1f} s for a load of {record.spec.seconds:.0f} s"
        texts["overrun"] = f"the tool took {times}: it was not ready to send"
    if (established := window.established or 0) < asked:
        texts["not-connected"] = f"only {established:,} of {asked:,} connections were established"
    if tool is None and (failed := connection_figures(window)["connect_errors"]):
        texts["connect-errors"] = f"{failed:,.0f} connections could not be opened (connect errors)"
    if row.own.thread_each and (threads := window.app_threads or 0) < asked:
        # The kernel keeps connections that nobody has accepted established as well.
        few = f"only {threads:,} threads for {asked:,} connections"
        texts["too-few-threads"] = f"{few}: the other connections waited to be accepted"
    return [Finding.of(code, "invalid", text) for code, text in texts.items()]


def limit(window: Window, tool: ToolResult | None, connections: int | None) -> str | None:
    """The bottleneck of a window. tool: figures of one without rows.

    As tandem.judge.bottleneck, with three exceptions. An application whose CPUs are exhausted, and more so than the
    generator's, is the limit even where the generator is busy too: in a closed loop of thousands of connections
    both always are. And a generator that has more cores than busy threads is the limit where one thread of it uses
    a core: wrk has as many threads as it is told, drill has one. And where nothing was exhausted and the connections
    mostly had nothing to wait for, the generator was the limit without being busy: a timer of its own, for example.
    """
    tag = window.bottleneck
    named = tags(tag) if tag else ()
    roles = window.roles["loadgen"], window.roles["app"]
    loadgen, app = (role.cpu_cores / role.cores_available for role in roles)
    if GENERATOR in named and SET_BUSY <= app > loadgen:
        return APP_CPU
    if tool is None:
        return tag
    thread = window.generator_thread_cores
    if not {GENERATOR, APP_CPU} & {*named} and thread is not None and thread >= THREAD_BUSY:
        return GENERATOR_THREAD
    # By Little's law: how many requests were in flight in the mean.
    if tag == LATENCY and tool.latency_mean_ms is not None and connections:
        in_flight = tool.requests_rps * tool.latency_mean_ms / 1e3
        return GENERATOR if in_flight / connections < BUSY_LEAST else tag
    return tag
