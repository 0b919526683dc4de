"""The tables of a bench. Pure: a result in, renderables out."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.report.parts import STYLES, conditions_line, host_line, settings
from tandem.studies.bench.conclusions import Benched, Row
from tandem.wording import bound, ceilings, limited_by, number, time_spent, with_interval

NOTE = (
    "goodput: right answers per second, closed loop, mean of fresh starts with the half-width of its 95 % interval."
    " p50 p90 p99: response time in an open loop at a share of each start's own goodput (mean rate: column «at»)."
)


def goodput(row: Row, ceilings_rps: dict[str, float | None]) -> str:
    """The goodput with its interval."""
    told = with_interval(row.summary.goodput_rps, row.summary.goodput_rps_interval)
    return bound(told, row.summary.goodput_rps, ceilings_rps)


def _verdict(row: Row) -> str:
    """With `void` beside `invalid` where the host disturbed a start as well."""
    both = row.verdict is Verdict.INVALID and row.disturbed
    return f"{row.verdict}, {Verdict.VOID}" if both else str(row.verdict)


def _memory_mib(row: Row) -> float | None:
    memory = row.summary.app_memory_peak_bytes
    return None if memory is None else memory / 2**20


def table(result: Result[Benched]) -> Table:
    """One row per variant."""
    out = Table(title=conditions_line(result.request), title_justify="left")
    out.add_column("implementation", no_wrap=True)
    out.add_column("verdict")
    out.add_column("goodput\n1/s", justify="right")
    for name in ("p50", "p90", "p99"):
        out.add_column(f"{name}\nms", justify="right")
    out.add_column("at\n1/s", justify="right")
    out.add_column("app CPU\nµs/request", justify="right")
    out.add_column("app memory\npeak MiB", justify="right")
    out.add_column("limited by")
    for row in result.conclusions.rows:
        s, times = row.summary, row.summary.response_time_ms
        out.add_row(
            row.label,
            Text(_verdict(row), style=STYLES[row.verdict]),
            goodput(row, result.baselines.ceilings_rps),
            number(times.p50, 1),
            number(times.p90, 1),
            number(times.p99, 1),
            number(s.offered_rps),
            with_interval(s.app_cpu_us_per_request, s.app_cpu_us_per_request_interval),
            number(_memory_mib(row), 1),
            limited_by(row.bottleneck),
        )
    return out


def words(row: Row) -> list[Text]:
    """The bottleneck, the reasons and the warnings of a variant, in sentences."""
    out = []
    if row.bottleneck:
        evidence = "; ".join(row.bottleneck_evidence)
        out.append(Text(f"{row.label}: limited by {limited_by(row.bottleneck)}: {evidence}"))
    out += [Text(f"{row.label}: {_verdict(row)}: {reason}", style="red") for reason in row.reasons]
    if row.disturbed or row.retried:
        told = f"the host disturbed {row.disturbed} of its starts, and {row.retried} were made once more"
        out.append(Text(f"{row.label}: {told}"))
    out += [Text(f"{row.label}: {finding.text} [{finding.code}]", style="yellow") for finding in row.findings]
    return out


def markdown(result: Result[Benched]) -> str:
    """The table for a page, with where and when it was made."""
    lines = [
        "| implementation | verdict | goodput, 1/s | p50 / p90 / p99, ms | at, 1/s | app CPU, µs/request | app memory, MiB | limited by |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in result.conclusions.rows:
        s, times = row.summary, row.summary.response_time_ms
        cells = [
            row.label,
            _verdict(row),
            goodput(row, result.baselines.ceilings_rps),
            " / ".join(number(value, 1) for value in (times.p50, times.p90, times.p99)),
            number(s.offered_rps),
            with_interval(s.app_cpu_us_per_request, s.app_cpu_us_per_request_interval),
            number(_memory_mib(row), 0),
            limited_by(row.bottleneck),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    starts = result.conclusions.rows[0].summary.trials_ok
    lines += [
        "",
        f"{host_line(result)}; {conditions_line(result.request)}, {starts} fresh starts each, seed {result.request.seed}.",
    ]
    lines += [f"{row.label}: {row.db_rtt}." for row in result.conclusions.rows if row.db_rtt]
    return "\n".join(lines)


def report(result: Result[Benched]) -> RenderableType:
    """All that a bench says at its end."""
    rows = result.conclusions.rows
    reached = max((row.summary.goodput_rps or 0.0 for row in rows), default=0.0)
    return Group(
        table(result),
        Text(NOTE, style="dim"),
        *ceilings(result.baselines.ceilings_rps, reached_rps=reached),
        settings(result),
        *(Text(f"{row.label}: {row.db_rtt}", style="dim") for row in rows if row.db_rtt),
        *(line for row in rows for line in words(row)),
        *(Text(f"{finding.text} [{finding.code}]", style="yellow") for finding in result.findings),
        Text(time_spent(result.phases_s), style="dim"),
    )
