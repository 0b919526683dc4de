"""Figures of the reference bench. Pure."""

from documents.records import Records
from documents.tables import percent, span
from tandem.record.window import Window
from tandem.studies.bench.conclusions import CLOSED, OPEN


def _closed(records: Records, implementation: str) -> list[Window]:
    return [window for name, window in records.windows(CLOSED) if name == implementation]


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


def steal(records: Records) -> str:
    """The most in any closed window."""
    return percent(max(window.host.steal_share or 0 for _, window in records.windows(CLOSED)), 1)


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
