"""Judges a load that a tool made and summed up itself. Pure.

wrk and drill leave no rows, so the gates that need them (right lengths, Little's law, unsent requests) do not apply:
their figures are second opinions, and marked so. What still holds: the host's gates, the probes' golden bodies, the
tool's own errors, and the connections that the kernel saw.
"""

from tandem.judge.judge import COMPLETE_LEAST, host_findings
from tandem.load.tool_result import ToolResult
from tandem.record.window import Finding, Window

OVERRUN = 1.3
"""wrk begins its time before its connections are open, and prints it late where that took long."""
NOTE = "a second opinion: the tool's own summary, without rows"


def findings(
    result: ToolResult, window: Window, connections: int, established: int, asked_s: float | None = None
) -> list[Finding]:
    """window: of the load, made without rows. connections: that were asked for; established: that the kernel saw.
    asked_s: how long the load was to take, where it was told."""
    found = []
    if asked_s is not None and result.duration_s > OVERRUN * asked_s:
        text = (
            f"the tool took {result.duration_s:.1f} s for a load of {asked_s:.0f} s: it was not ready to send"
        )
        found.append(_invalid("overrun", text))
    if result.requests == 0:
        found.append(_invalid("no-answers", "not one request was answered"))
    if established < connections:
        text = f"only {established:,} of {connections:,} connections were established"
        found.append(_invalid("not-connected", text))
    errors = result.socket_errors
    if errors is not None and errors.connect:
        text = f"{errors.connect:,} connections could not be opened (connect errors)"
        found.append(_invalid("connect-errors", text))
    if window.probe_failures:
        text = f"{len(window.probe_failures)} of {window.probes} probes differ from the golden body: {window.probe_failures[0]}"
        found.append(_invalid("wrong-body", text))
    refused = window.failed.get("probe not answered", 0)
    bad = result.failed + refused + (errors.total if errors else 0)
    share = bad / (result.requests + bad) if bad else 0.0
    if bad:
        text = f"{share:.2%} failed: {result.failed} wrong answers, {errors.total if errors else 0} socket errors, {refused} probes"
        severe = share > 1 - COMPLETE_LEAST
        found.append(Finding(code="wrong-answers", severity="invalid" if severe else "warning", text=text))
    return [*found, *host_findings(window)]


def figures(result: ToolResult, app_cpu_s: float, probes: int) -> dict[str, float]:
    """The figures of a row. app_cpu_s: of the whole load."""
    right = result.requests - result.failed
    told: dict[str, float | None] = {
        "goodput_rps": result.requests_rps * right / result.requests if result.requests else 0.0,
        "total_s": result.duration_s,
        "requests": float(result.requests),
        "mean_ms": result.latency_mean_ms,
        "p50_ms": result.latency_p50_ms,
        "p90_ms": result.latency_p90_ms,
        "p99_ms": result.latency_p99_ms,
        "max_ms": result.latency_max_ms,
        "app_cpu_us_per_request": app_cpu_s / (result.requests + probes) * 1e6 if result.requests else None,
        "connect_errors": None if result.socket_errors is None else float(result.socket_errors.connect),
        "errors": float(result.failed + (result.socket_errors.total if result.socket_errors else 0)),
    }
    return {name: value for name, value in told.items() if value is not None}


def _invalid(code: str, text: str) -> Finding:
    return Finding(code=code, severity="invalid", text=text)
