"""Figures of the reference campaign. Pure."""

import re

from tandem.campaign.report import markdown
from tandem.docs.records import Records
from tandem.docs.tables import percent, span
from tandem.record.run import Run, Window
from tandem.wording import number, with_interval


def _run(records: Records, implementation: str) -> Run:
    return next(run for run in records.campaign() if run.implementation == implementation)


def _closed(records: Records, implementation: str) -> list[Window]:
    return [window for name, window in records.windows("closed") if name == implementation]


def reference_table(records: Records) -> str:
    """The table that `just report results/reference --markdown` prints."""
    return markdown(records.campaign())


def length(records: Records) -> str:
    runs = records.campaign()
    lasted = max(run.finished_at for run in runs) - min(run.started_at for run in runs)
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
    found = _run(records, implementation).summary
    return f"{with_interval(found.app_cpu_us_per_request, found.app_cpu_us_per_request_interval)} µs"


def steal(records: Records) -> str:
    """The most in any closed window."""
    return percent(max(window.host.steal_share or 0 for _, window in records.windows("closed")), 1)


def shared_cpus(records: Records) -> str:
    """How busy the CPU set was that all but the application share, least and greatest of the implementations."""
    evidence = [" ".join(run.bottleneck_evidence) for run in records.campaign()]
    busy = [int(share) for text in evidence for share in re.findall(r"CPU set 0 (\d+)% busy", text)]
    if len(busy) != len(evidence):
        raise ValueError("a run does not tell how busy CPU set 0 was")
    return f"{min(busy)} to {max(busy)} %"


def app_share(records: Records, implementation: str) -> str:
    """How much an application used of its own CPUs."""
    evidence = " ".join(_run(records, implementation).bottleneck_evidence)
    [share] = re.findall(r"app [\d.]+ of \d+ cores \((\d+)%\)", evidence)
    return f"{share} %"


def ceiling(records: Records, name: str) -> str:
    """What a part around the applications reached in the session's one look."""
    return f"{number(records.campaign()[0].ceilings_rps[name])}/s"


def hiccup_cost(records: Records) -> str:
    """What the meters of hiccups used of a core together, over all windows."""
    windows = [window for load in ("closed", "open") for _, window in records.windows(load)]
    shares = [100 * window.host.hiccup.cpu_cores for window in windows if window.host.hiccup]
    return f"{span(shares, 1)} % of a core ({len(shares)} windows)"


def in_flight(records: Records, what: str) -> str:
    """Open windows, requests in flight: `rows` by the rows, `excess` by HAProxy's samples beyond that."""
    pairs = [
        (window.in_flight_mean, window.proxy.in_flight_mean)
        for _, window in records.windows("open")
        if window.in_flight_mean is not None and window.proxy and window.proxy.in_flight_mean is not None
    ]
    values = {"rows": [rows for rows, _ in pairs], "excess": [proxy - rows for rows, proxy in pairs]}
    return span(values[what], 1)
