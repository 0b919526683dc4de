"""The tables of a bench. Pure: a result in, renderables out."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.report import parts
from tandem.report.parts import STYLES, conditions_line, settings
from tandem.studies.bench.conclusions import (
    BLOCKS_LEAST,
    CPU,
    GOODPUT,
    TOTAL,
    Benched,
    Row,
    Summary,
    limit_of,
)
from tandem.wording import limited_by, number, with_interval

COST_NOTE = (
    "core-s/million: core-seconds of CPU per million requests (the same number in µs per request), mean of fresh starts with the"
    " half-width of its 95 % interval. All roles: application, PgBouncer, database and HAProxy; beside it the application's own"
    " part. Ratio: geometric mean over the blocks, with its 95 % interval. Memory at rest: after the first answer; per"
    " connection: what the load adds to it."
)
RATE_NOTE = (
    "goodput: right answers per second, closed loop, mean of fresh starts. p50 p90 p99: response time in an open loop at a"
    " share of each start's own goodput (mean rate: column “at”), median over the starts (lowest–highest)."
)
FEW = f"fewer than {BLOCKS_LEAST} blocks can show that two variants are equivalent, but not that they differ"


def _verdict(row: Row) -> str:
    """With `void` beside `invalid` where the host disturbed a start as well."""
    both = row.verdict is Verdict.INVALID and row.disturbed
    return f"{row.verdict}, {Verdict.VOID}" if both else str(row.verdict)


def mib(value: float | None, digits: int = 0) -> str:
    """Bytes as MiB."""
    return number(None if value is None else value / 2**20, digits)


def kib(value: float | None) -> str:
    """Bytes as KiB."""
    return number(None if value is None else value / 2**10)


def whole_or_own(rows: Sequence[Row]) -> str:
    """The metric of cost: over all roles, or the application's own where a record does not tell the whole."""
    return TOTAL if any(row.summary.total_cpu_us_per_request is not None for row in rows) else CPU


def by_cost(rows: Sequence[Row], metric: str | None = None) -> list[Row]:
    """The cheapest first; behind them those without a cost, in their order. metric: TOTAL or CPU; None: `whole_or_own`."""
    of = metric or whole_or_own(rows)

    def mean(summary: Summary) -> float | None:
        return summary.total_cpu_us_per_request if of == TOTAL else summary.app_cpu_us_per_request

    def key(row: Row) -> float:
        against = row.against_first.get(of)
        if against is not None and against.ratio.ratio is not None:
            return against.ratio.ratio
        cost, first = mean(row.summary), mean(rows[0].summary)
        if cost is None:
            return float("inf")
        return cost / first if first else 1.0

    return sorted(rows, key=key)


def ratio_told(row: Row, metric: str, rows: Sequence[Row]) -> tuple[str, str]:
    """The ratio with its interval, and the word."""
    if row is rows[0]:
        return ("1", "") if len(rows) > 1 else ("–", "")
    found = row.against_first.get(metric)
    if found is None or found.ratio.ratio is None:
        return "–", ""
    told = f"{found.ratio.ratio:.3f}"
    if found.ratio.interval is not None:
        low, high = found.ratio.interval
        told += f" ({low:.3f}–{high:.3f})"
    return told, found.word


def cost(result: Result[Benched]) -> Table:
    """What a request costs: the cheapest first."""
    rows = result.conclusions.rows
    title = f"what a request costs: {conditions_line(result.request)}"
    by = f"ratio to {rows[0].label}" if rows else "ratio"
    columns = (
        "implementation",
        "verdict",
        "all roles\ncore-s/million",
        by,
        "",
        "application\ncore-s/million",
        f"{by} ",
        "memory MiB\nrest / load",
        "KiB per\nconnection",
    )
    out = parts.table(title, *columns, left=("implementation", "verdict", ""))
    out.columns[0].no_wrap = True
    for row in by_cost(rows):
        s = row.summary
        ratio, word = ratio_told(row, TOTAL, rows)
        out.add_row(
            row.label,
            Text(_verdict(row), style=STYLES[row.verdict]),
            with_interval(s.total_cpu_us_per_request, s.total_cpu_us_per_request_interval),
            ratio,
            word,
            with_interval(s.app_cpu_us_per_request, s.app_cpu_us_per_request_interval),
            ratio_told(row, CPU, rows)[0],
            f"{mib(s.app_memory_rest_bytes)} / {mib(s.app_memory_peak_bytes)}",
            kib(s.app_memory_per_connection_bytes),
        )
    return out


def _times(row: Row, name: str) -> str:
    """The median over the starts, with their range."""
    told = number(getattr(row.summary.response_time_ms, name), 1)
    low, high = row.summary.response_time_range_ms.get(name, (None, None))
    return told if low is None or high is None or low == high else f"{told} ({low:,.1f}–{high:,.1f})"


def rates(result: Result[Benched]) -> Table:
    """Rates, what they are limited by, and response times. Those that are not the implementation's have no rank."""
    rows = result.conclusions.rows
    by = f"ratio to {rows[0].label}" if rows else "ratio"
    columns = (
        "implementation",
        "goodput\n1/s",
        by,
        "",
        "limited by",
        "p50\nms",
        "p90\nms",
        "p99\nms",
        "at\n1/s",
    )
    out = parts.table("rates and response times", *columns, left=("implementation", "", "limited by"))
    out.columns[0].no_wrap = True
    for row in rows:
        s = row.summary
        ratio, word = ratio_told(row, GOODPUT, rows)
        near = row.unranked if row.unranked and row.unranked != limit_of(row) else None
        out.add_row(
            row.label,
            with_interval(s.goodput_rps, s.goodput_rps_interval),
            ratio,
            "not ranked" if row is rows[0] and row.unranked and len(rows) > 1 else word,
            "; ".join(filter(None, (limit_of(row), near))),
            *(_times(row, name) for name in ("p50", "p90", "p99")),
            number(s.offered_rps),
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
        told = f"the host disturbed {row.disturbed} of its starts, and {row.retried} were repeated"
        out.append(Text(f"{row.label}: {told}"))
    out += [Text(f"{row.label}: {finding.text} [{finding.code}]", style="yellow") for finding in row.findings]
    return out


def decided(result: Result[Benched]) -> list[Text]:
    """What the blocks can tell apart."""
    rows = result.conclusions.rows
    metric = whole_or_own(rows)
    found = [row.against_first[metric].ratio for row in rows if metric in row.against_first]
    if not found:
        return []
    lines = [FEW] if found[0].n < BLOCKS_LEAST else []
    known = [one.detectable_ratio for one in found if one.detectable_ratio is not None]
    if known:
        n = found[0].n
        lines.append(
            f"{n} blocks can detect a cost difference of {(max(known) - 1) * 100:.1f} % (t test, 80 % power)"
        )
    return [Text("; ".join(lines), style="dim")] if lines else []


def ceilings(result: Result[Benched]) -> list[Text]:
    """What the parts around the applications reached."""
    rows = result.conclusions.rows
    reached = max((row.summary.goodput_rps or 0.0 for row in rows), default=0.0)
    return parts.ceilings(result.baselines, [row.ceiling_shares for row in rows], reached)


def report(result: Result[Benched]) -> RenderableType:
    """All that a bench says at its end."""
    rows = result.conclusions.rows
    return Group(
        cost(result),
        Text(COST_NOTE, style="dim"),
        *decided(result),
        rates(result),
        Text(RATE_NOTE, style="dim"),
        *ceilings(result),
        settings(result),
        *(Text(f"{row.label}: {row.db_rtt}", style="dim") for row in rows if row.db_rtt),
        *(line for row in rows for line in words(row)),
        *parts.findings(result),
        parts.spent(result),
    )
