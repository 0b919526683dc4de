"""The table of the three questions. Pure."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tandem.record.result import Result
from tandem.record.window import Verdict
from tandem.report import parts
from tandem.report.parts import conditions_line, findings, settings, spent
from tandem.studies.bench.conclusions import CPU, GOODPUT, TOTAL, Row, limit_of
from tandem.studies.bench.report import by_cost, kib, mib, ratio_told
from tandem.studies.questions.conclusions import Answered, Waited
from tandem.studies.questions.conditions import APP_BOUND, CONNECTIONS, COST, WAITING
from tandem.wording import with_interval

NOTE = (
    "1, cost: core-seconds per million requests of application, PgBouncer, database and HAProxy together, and the application's own"
    " part; memory at rest, under load, and what each connection adds. 2, rate: directly against PostgreSQL with a pool of 4, to make the"
    " application the limit; not ranked where its windows do not show that. 3, waiting: the share of connections / (round"
    f" trips × idle round trip) reached with {CONNECTIONS} clients, and the memory per waiting request. Ratios are"
    " geometric means over the blocks with their 95 % interval."
)


def share_told(found: Waited | None) -> str:
    """Of what waiting allows."""
    if found is None or found.share is None:
        return "–"
    low_high = found.interval
    percent = None if low_high is None else (low_high[0] * 100, low_high[1] * 100)
    return f"{with_interval(found.share * 100, percent)} %"


def _memory(found: list[Waited]) -> str:
    known = [one.bytes_per_request for one in found if one.bytes_per_request is not None]
    return kib(max(known, default=None))


def table(result: Result[Answered]) -> Table:
    """A row for each implementation, the cheapest first."""
    found = result.conclusions
    costs = found.conditions[COST].rows
    bound = dict(zip((row.label for row in costs), found.conditions[APP_BOUND.name].rows, strict=True))
    by = f"ratio to {result.request.variants[0].label}"
    columns = (
        "implementation",
        "1: all roles\ncore-s/million",
        by,
        "application\ncore-s/million",
        f"{by} ",
        "MiB rest/load,\nKiB/connection",
        "2: goodput\n1/s",
        f"{by}  ",
        "limit",
        *(f"3: {one.distance_ms} ms,\npool of {one.pool}" for one in WAITING),
        "KiB per\nwaiting request",
    )
    out = parts.table(
        f"three questions: {conditions_line(result.request)}", *columns, left=("implementation", "limit")
    )
    for row in by_cost(costs):
        label = row.label.partition(" @ ")[0]
        second = bound[row.label]
        far = [found.waited.get(f"{label} @ {one.name}") for one in WAITING]
        s = row.summary
        out.add_row(
            label,
            with_interval(s.total_cpu_us_per_request, s.total_cpu_us_per_request_interval),
            _told(row, TOTAL, costs),
            with_interval(s.app_cpu_us_per_request, s.app_cpu_us_per_request_interval),
            ratio_told(row, CPU, costs)[0],
            f"{mib(s.app_memory_rest_bytes)}/{mib(s.app_memory_peak_bytes)}, {kib(s.app_memory_per_connection_bytes)}",
            with_interval(second.summary.goodput_rps, second.summary.goodput_rps_interval),
            _told(second, GOODPUT, found.conditions[APP_BOUND.name].rows),
            limit_of(second) or "–",
            *map(share_told, far),
            _memory([one for one in far if one is not None]),
        )
    return out


def _told(row: Row, metric: str, rows: list[Row]) -> str:
    ratio, word = ratio_told(row, metric, rows)
    return f"{ratio} {word}".strip()


def words(result: Result[Answered]) -> list[Text]:
    """Where the second question has no answer, what was the limit under each condition, and what was not ok."""
    found, lines = result.conclusions, []
    for row in found.conditions[APP_BOUND.name].rows:
        if row.verdict is Verdict.OK and not found.application_bound.get(row.label):
            text = f"{row.label}: the application was not the limit ({limit_of(row)}), so its rate does not answer question 2"
            lines.append(Text(text, style="yellow"))
    for under in found.conditions.values():
        for row in under.rows:
            if row.bottleneck:
                lines.append(Text(f"{row.label}: limited by {limit_of(row)}", style="dim"))
            lines += [Text(f"{row.label}: {row.verdict}: {reason}", style="red") for reason in row.reasons]
            lines += [Text(f"{row.label}: {one.text} [{one.code}]", style="yellow") for one in row.findings]
    return lines


def report(result: Result[Answered]) -> RenderableType:
    """All that a person reads."""
    return Group(
        table(result),
        Text(NOTE, style="dim"),
        settings(result),
        *words(result),
        *findings(result),
        spent(result),
    )
