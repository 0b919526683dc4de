"""Judges the windows of loads that ran in the same seconds: gates, verdict, resources, bottleneck. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tandem.judge import judge
from tandem.judge.bottleneck import Concurrency, bottleneck, resources
from tandem.judge.disturbance import got_slower
from tandem.judge.evidence import impossible, in_flight, round_trips
from tandem.judge.judge import COMPLETE_LEAST, Expectation, host_findings
from tandem.judge.on_wire import on_wire
from tandem.load.generator import ToolResult
from tandem.record.window import Finding, Statement, Verdict, Window


@dataclass(frozen=True)
class Unjudged:
    """A window, and what it is judged by."""

    window: Window
    expected: Expectation
    concurrency: Concurrency
    told: ToolResult | None = None
    """The summary of a generator that left no rows."""


def judged(windows: Mapping[str, Unjudged]) -> dict[str, Window]:
    """The windows of one load each, by label, with their findings and verdicts.

    Several ask one database: their statements and rows are counted together, so each window is judged without them, then
    all with their sum: every statement once for each right answer, and a row stored. What one leaves out and another does
    twice cancels there, so whoever takes part has had windows alone in the same start, judged one by one.
    """
    if len(windows) == 1:
        return {label: _alone(one, one.expected, one.window.statements) for label, one in windows.items()}
    first, out = next(iter(windows.values())).window, dict[str, Window]()
    parts = [part for one in windows.values() for part in judge.AnsweredRequests.of(one.window, one.expected)]
    found = judge.statements(first.statements, parts, slack=judge.SLACK * len(windows))
    found += round_trips(first.pooler, first.statements, parts)
    answered = sum(part.answered for part in parts if part.expected.stores)
    if first.stored_rows is not None and first.stored_rows < answered:
        text = f"{answered} answers said that a row was stored, but the tables grew by {first.stored_rows}"
        found.append(Finding.of("not-stored", "invalid", text))
    for label, one in windows.items():
        made, own = one.window.model_copy(update={"statements": {}, "stored_rows": None}), one.expected
        beside = (Expectation([]),) * len(own.beside)
        less = Expectation([], idle_connections=own.idle_connections, beside=beside)
        out[label] = made = _alone(replace(one, window=made), less, one.window.statements)
        starved = made.verdict is Verdict.VOID
        made.findings = [
            *(judge.voided(found, {f.code for f in found}) if starved else found),
            *made.findings,
        ]
        made.verdict, made.statements = judge.verdict(made.findings), first.statements
    return out


def _alone(one: Unjudged, expected: Expectation, counted: dict[str, Statement]) -> Window:
    """expected: what the window by itself can be held to. counted: the statements of all that asked the database."""
    found, told = one.window, one.told
    noticed = judge.gates(found, expected) if told is None else second_opinion(told, found)
    if told is None:
        counted = judge.with_unseen(counted, judge.AnsweredRequests.of(found, one.expected))
        answered = judge.AnsweredRequests.of(found, expected)
        noticed = [*round_trips(found.pooler, found.statements, answered), *noticed]
    wires = [*on_wire(found), *in_flight(found, one.expected, counted)]
    found.findings = [*wires, *impossible(found, one.expected, one.concurrency), *noticed]
    found.verdict = judge.verdict(found.findings)
    found.resources = resources(found, one.concurrency)
    found.bottleneck, found.evidence = bottleneck(found, one.concurrency)
    return found


def since_closed(window: Window, closed: Window) -> list[Finding]:
    """The findings of an open window behind a closed one of the same start, which its rate was taken from: on a host that got
    slower since, `incomplete` says nothing about the program."""
    late = any(one.code == "incomplete" for one in window.findings)
    if not late or (why := got_slower(closed, window)) is None:
        return window.findings
    return [*judge.voided(window.findings, {"incomplete"}), Finding.of("host-speed", "void", why)]


NOTE = "a second opinion: the tool's own summary, without rows"


def second_opinion(told: ToolResult, window: Window) -> list[Finding]:
    """Findings of a window whose generator leaves a summary of its own and no rows. told: what it says.

    The checks that need rows (right lengths, Little's law, unsent requests) or an exact count of answers (statements, the
    proxy's count) do not apply. What still holds: the checks of the host, the probes' golden bodies, and the tool's own errors.
    """
    found = []
    if told.requests == 0:
        found.append(Finding.of("no-answers", "invalid", "not one request was answered"))
    errors = told.socket_errors
    if errors is not None and errors.connect:
        text = f"{errors.connect:,} connections could not be opened (connect errors)"
        found.append(Finding.of("connect-errors", "invalid", text))
    found += judge.wrong_bodies(window)
    refused = window.failed.get(judge.REFUSED, 0)
    bad = told.failed + refused + (errors.total if errors else 0)
    share = bad / (told.requests + bad) if bad else 0.0
    if bad:
        text = f"{share:.2%} failed: {told.failed} wrong answers, {errors.total if errors else 0} socket errors, {refused} probes"
        severe = share > 1 - COMPLETE_LEAST
        found.append(Finding.of("wrong-answers", "invalid" if severe else "warning", text))
    return [*found, *host_findings(window), Finding.of("second-opinion", "warning", NOTE)]
