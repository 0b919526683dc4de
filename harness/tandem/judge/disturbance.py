"""Gates on what the host did besides steal and foreign CPU: hiccups, clocks, swapping, dropped connections, its speed; and
which of all of them cannot judge a host. Pure."""

from collections.abc import Iterator, Sequence

import numpy as np

from tandem.hosts.host import Oversleep
from tandem.record.host import Hiccup, HostActivity
from tandem.record.window import Finding, Window

HICCUP_P999_WARN_MS = 5.0
HICCUP_MAX_VOID_MS = 100.0
"""The limit of the generator's lateness gap, too: a machine that stood still so long stopped everybody."""
HICCUP_LEAST = 1000
"""The fewest sleeps that have a p99.9."""
CLOCK_DRIFT_VOID_MS = 20.0
SWAPPED_WARN, SWAPPED_VOID = 0, 1000
"""Pages. A few come back on their own long after memory was short; a thousand are four megabytes in one window."""


def hiccup(oversleep: Oversleep | None, low_s: float, high_s: float) -> Hiccup | None:
    """The meter's figures between two moments (time.time()); None if it broke or slept elsewhere."""
    if oversleep is None:
        return None
    at_s = np.frombuffer(oversleep.at_s, dtype=np.float64)
    inside = np.frombuffer(oversleep.longer_s, dtype=np.float64)[(at_s >= low_s) & (at_s <= high_s)] * 1e3
    if not len(inside):
        return None
    return Hiccup(
        realtime=oversleep.realtime,
        cpu_cores=oversleep.cpu_cores,
        samples=len(inside),
        p999_ms=float(np.quantile(inside, 0.999)) if len(inside) >= HICCUP_LEAST else None,
        max_ms=max(0.0, float(inside.max())),
    )


def disturbances(host: HostActivity) -> Iterator[Finding]:
    """Findings about what disturbed a window. A figure that was not measured is not judged. A meter without real-time priority
    waits in the load's own queue: its figures judge nothing."""
    meter = host.hiccup if host.hiccup and host.hiccup.realtime else None
    if meter and meter.max_ms > HICCUP_MAX_VOID_MS:
        text = f"the machine stalled for {meter.max_ms:.0f} ms (limit {HICCUP_MAX_VOID_MS:.0f} ms)"
        yield Finding.of("hiccup", "void", text)
    elif meter and meter.p999_ms is not None and meter.p999_ms > HICCUP_P999_WARN_MS:
        text = f"one sleep in a thousand lasted {meter.p999_ms:.1f} ms too long (aim {HICCUP_P999_WARN_MS:.0f} ms)"
        yield Finding.of("hiccup", "warning", text)
    if host.clock_changed:
        yield Finding.of("clock", "void", "the kernel changed its clock source")
    elif host.clock_drift_ms is not None and abs(host.clock_drift_ms) > CLOCK_DRIFT_VOID_MS:
        text = f"the wall clock moved by {host.clock_drift_ms:+.0f} ms relative to the monotonic clock (limit {CLOCK_DRIFT_VOID_MS:.0f} ms)"
        yield Finding.of("clock", "void", text)
    if host.swapped_pages is not None and host.swapped_pages > SWAPPED_WARN:
        text = f"the host swapped {host.swapped_pages} pages (limit {SWAPPED_VOID})"
        yield Finding.of("swap", "void" if host.swapped_pages > SWAPPED_VOID else "warning", text)
    if host.listen_overflows:
        text = f"the kernel dropped {host.listen_overflows} connections because the application's listen queue was full"
        yield Finding.of("listen-overflow", "warning", text)


# ---- which gates cannot judge ----

GATES = ("steal", "foreign CPU", "hiccups", "clock", "swap", "listen queue")
"""The gates that watch the host, for people."""


def cannot_judge(windows: Sequence[HostActivity]) -> dict[str, str]:
    """The gates that had nothing to go by in any of these windows -> why. A gate that is silent then says nothing."""
    found, steal = dict[str, str](), [True if one.steal_share else one.steal_told for one in windows]
    if True not in steal and False in steal:
        found["steal"] = (
            "the kernel has counted none since it started: the hypervisor takes none or does not tell"
        )
    foreign = [one.foreign_cpu_share for one in windows if one.foreign_cpu_share is not None]
    if not any(foreign):
        unfit = "it reads 0 in every window: the clocks of the two sides do not fit"
        found["foreign CPU"] = unfit if foreign else "it was not counted"
    meters = [one.hiccup for one in windows if one.hiccup is not None]
    if not any(one.realtime for one in meters):
        found["hiccups"] = "the meter is not real-time" if meters else "no meter ran"
    told: dict[str, list[float | None]] = {
        "clock": [one.clock_drift_ms for one in windows],
        "swap": [one.swapped_pages for one in windows],
        "listen queue": [one.listen_overflows for one in windows],
    }
    return found | {gate: "the host does not tell" for gate, own in told.items() if {*own} <= {None}}


SAME_WORK = ("proxy", "pgbouncer", "loadgen")
"""Programs of the laboratory: in each start of a run they do the same for a request."""
SPREAD_WARN = 0.1
"""Chosen. In the six runs of results/reference, whose starts differ by a fifth and more in goodput, it is 12 to 33 %."""
WAKE_UPS_WARN = 0.05
"""Share by which the harness meter's wake-ups have to be dearer too: an application could make the others' work dearer.
These it hardly reaches: 2 % between two applications."""


def cost_us_per_request(window: Window) -> float | None:
    """CPU time of the laboratory's own programs by right answers."""
    used = [window.roles[role].cpu_cores for role in SAME_WORK if role in window.roles]
    return sum(used) / window.goodput_rps * 1e6 if used and window.goodput_rps > 0 else None


def got_slower(closed: Window, later: Window) -> str | None:
    """Why a host was slower in a window than in one before it of the same start; None: it was not, or nobody can tell."""
    low, high = cost_us_per_request(closed), cost_us_per_request(later)
    if low is None or high is None or high <= low * (1 + SPREAD_WARN) or not _dearer(closed, later):
        return None
    return f"the host got slower after the closed window: the laboratory's own programs needed {high:.0f} µs of CPU per request, not {low:.0f}"


SLOWED = 1.5
"""Cost of the laboratory's programs in the last third of a window by that in the first: an application that is overloaded makes
none of them so much dearer, let alone each."""


def slowed(window: Window) -> str | None:
    """Why a host got slower within a window: each of the laboratory's own programs needed more CPU time for an answer towards
    its end. None: it did not, or nobody can tell."""
    seen = window.per_second
    of = [role for role in SAME_WORK if role in window.roles and seen and role in seen.role_cpu_s]
    third = len(seen.good) // 3 if seen else 0
    if seen is None or not of or not third or min(sum(seen.good[:third]), sum(seen.good[-third:])) == 0:
        return None
    good = sum(seen.good[:third]) / sum(seen.good[-third:])
    factors = [sum(seen.role_cpu_s[role][-third:]) / sum(seen.role_cpu_s[role][:third]) * good for role in of]
    if min(factors) < SLOWED:
        return None
    return f"the host got slower within the window: at its end {' + '.join(of)} needed {min(factors):.1f} times as much CPU for an answer"


def _dearer(cheap: Window, dear: Window) -> bool | None:
    """Did one window's wake-ups cost the harness more than another's? None: not known of both."""
    meters = [window.host.hiccup.cpu_cores for window in (cheap, dear) if window.host.hiccup]
    return meters[1] > meters[0] * (1 + WAKE_UPS_WARN) if len(meters) == 2 else None


def host_speed(closed: Sequence[Window]) -> Finding | None:
    """closed: the closed windows of one run's good starts, of one length and one load."""
    costs = [(cost, window) for window in closed if (cost := cost_us_per_request(window)) is not None]
    if len(costs) < 2 or len({frozenset(window.roles) for window in closed}) != 1:
        return None
    (low, cheap), (high, dear) = (pick(costs, key=lambda pair: pair[0]) for pick in (min, max))
    # Where the harness's own wake-ups cost as before, it was something that the application did.
    if high <= low * (1 + SPREAD_WARN) or _dearer(cheap, dear) is False:
        return None
    text = (
        f"the host's speed changed between the starts: {' + '.join(role for role in SAME_WORK if role in cheap.roles)} did the"
        f" same work per request in each, but it cost {low:.0f} to {high:.0f} µs of CPU (goodput {cheap.goodput_rps:,.0f} and"
        f" {dear.goodput_rps:,.0f}/s). More starts narrow the interval; 'just compare' measures both sides in turn on the"
        " same host"
    )
    return Finding.of("host-speed", "warning", text)
