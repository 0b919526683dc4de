"""Judges a window whose generator leaves a summary of its own and no rows. Pure.

The checks that need rows (right lengths, Little's law, unsent requests) or an exact count of answers (statements, the
proxy's count) do not apply: the figures are a second opinion, and marked so. What still holds: the checks of the host,
the probes' golden bodies, and the tool's own errors.
"""

from tandem.judge.judge import COMPLETE_LEAST, host_findings
from tandem.load.tool_result import ToolResult
from tandem.record.window import Finding, Window

NOTE = "a second opinion: the tool's own summary, without rows"


def findings(told: ToolResult, window: Window) -> list[Finding]:
    """told: what the tool says. window: of the load, made of that and of the counters."""
    found = []
    if told.requests == 0:
        found.append(Finding.of("no-answers", "invalid", "not one request was answered"))
    errors = told.socket_errors
    if errors is not None and errors.connect:
        text = f"{errors.connect:,} connections could not be opened (connect errors)"
        found.append(Finding.of("connect-errors", "invalid", text))
    if window.probe_failures:
        text = f"{len(window.probe_failures)} of {window.probes} probes differ from the golden body: {window.probe_failures[0]}"
        found.append(Finding.of("wrong-body", "invalid", text))
    refused = window.failed.get("probe not answered", 0)
    bad = told.failed + refused + (errors.total if errors else 0)
    share = bad / (told.requests + bad) if bad else 0.0
    if bad:
        text = f"{share:.2%} failed: {told.failed} wrong answers, {errors.total if errors else 0} socket errors, {refused} probes"
        severe = share > 1 - COMPLETE_LEAST
        found.append(Finding.of("wrong-answers", "invalid" if severe else "warning", text))
    return [*found, *host_findings(window), Finding.of("second-opinion", "warning", NOTE)]
