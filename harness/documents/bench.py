"""Figures of the reference bench. Pure."""

from collections.abc import Callable
from typing import Any

from rich.table import Table

from documents.records import Records
from documents.tables import percent, span, times
from tandem.record.result import Result
from tandem.record.window import Window
from tandem.report.markdown import of_terminal
from tandem.report.parts import made_line
from tandem.studies.bench.conclusions import CLOSED, GOODPUT, OPEN, Row
from tandem.studies.bench.report import cost, rates
from tandem.studies.questions.conditions import APP_BOUND
from tandem.studies.questions.report import table as answered
from tandem.wording import limited_by, number, with_interval


def _row(records: Records, implementation: str) -> Row:
    return next(row for row in records.bench().conclusions.rows if row.label == implementation)


def _closed(records: Records, implementation: str) -> list[Window]:
    return [window for name, window in records.windows(CLOSED) if name == implementation]


def on_page(result: Result[Any], *tables: Callable[[Result[Any]], Table]) -> str:
    """Tables of a result, then when, where and how it was made."""
    return "\n\n".join([*(of_terminal(table(result)) for table in tables), made_line(result)])


def reference_table(records: Records) -> str:
    """The tables of `just report results/reference`."""
    return on_page(records.bench(), cost, rates)


def questions_table(records: Records) -> str:
    """The table of `just report results/questions`."""
    return on_page(records.questions(), answered)


def application_bound(records: Records, implementation: str) -> str:
    """The rate where the application is the limit, against the first implementation. Raises ValueError where it was not."""
    found = records.questions().conclusions
    rows = found.conditions[APP_BOUND.name].rows
    row = next(row for row in rows if row.label.partition(" @ ")[0] == implementation)
    if not found.application_bound.get(row.label):
        raise ValueError(f"{implementation} was limited by {limited_by(row.bottleneck)}")
    return _times(row, GOODPUT)


def _times(row: Row, metric: str) -> str:
    against = row.against_first.get(metric)
    return "1" if against is None else times(against.ratio)


def length(records: Records) -> str:
    found = records.bench()
    lasted = found.finished_at - found.started_at
    return f"{lasted.total_seconds() / 60:.0f} minutes"


def goodput(records: Records, implementation: str) -> str:
    """Least and greatest of its fresh starts."""
    return f"{span([window.goodput_rps for window in _closed(records, implementation)])}/s"


def cpu(records: Records, implementation: str, role: str) -> str:
    """Least and greatest CPU time of a role per request, over the fresh starts."""
    windows = _closed(records, implementation)
    if role == "app":
        return f"{span([window.app_cpu_us_per_request or 0 for window in windows])} µs"
    return f"{span([window.roles[role].cpu_cores / window.goodput_rps * 1e6 for window in windows])} µs"


def cpu_mean(records: Records, implementation: str) -> str:
    """The application's, with its interval."""
    found = _row(records, implementation).summary
    return f"{with_interval(found.app_cpu_us_per_request, found.app_cpu_us_per_request_interval)} µs"


def steal(records: Records) -> str:
    """The most in any closed window."""
    return percent(max(window.host.steal_share or 0 for _, window in records.windows(CLOSED)), 1)


def shared_cpus(records: Records) -> str:
    """How busy the CPU set was that all but the application share, least and greatest of the implementations."""
    busy = [
        100 * one.utilisation
        for row in records.bench().conclusions.rows
        for one in row.resources
        if len(one.parts) > 1
    ]
    return f"{span(busy)} %"


def app_share(records: Records, implementation: str) -> str:
    """How much an application used of its own CPUs."""
    [share] = [one.parts["app"] for one in _row(records, implementation).resources if "app" in one.parts]
    return percent(share)


def ceiling(records: Records, name: str) -> str:
    """What a part around the applications reached in the session's one look."""
    return f"{number(records.bench().baselines.ceilings_rps[name])}/s"


def hiccup_cost(records: Records) -> str:
    """What the meters of hiccups used of a core together, over all windows."""
    windows = [window for load in (CLOSED, OPEN) for _, window in records.windows(load)]
    shares = [100 * window.host.hiccup.cpu_cores for window in windows if window.host.hiccup]
    return f"{span(shares, 1)} % of a core ({len(shares)} windows)"


def in_flight(records: Records, what: str) -> str:
    """Open windows, requests in flight: `rows` by the rows, `excess` by HAProxy's samples beyond that."""
    pairs = [
        (window.in_flight_mean, window.proxy.in_flight_mean)
        for _, window in records.windows(OPEN)
        if window.in_flight_mean is not None and window.proxy and window.proxy.in_flight_mean is not None
    ]
    values = {"rows": [rows for rows, _ in pairs], "excess": [proxy - rows for rows, proxy in pairs]}
    return span(values[what], 1)
