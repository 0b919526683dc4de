"""Whether the host itself was faster in one fresh start of a run than in another, which steal does not show. Pure."""

from collections.abc import Sequence

from tandem.record.window import Finding, Window

SAME_WORK = ("proxy", "pgbouncer", "loadgen")
"""Programs of the laboratory: in each start of a run they do the same for a request."""
SPREAD_WARN = 0.1
"""Chosen. In the six runs of results/reference, whose starts differ by a fifth and more in goodput, it is 12 to 33 %."""
WAKE_UPS_WARN = 0.05
"""By so much the wake-ups of the harness's meter have to be dearer too: an application could make the others' work dearer.
These it hardly reaches: 2 % between two applications."""


def cost_us_per_request(window: Window) -> float | None:
    """CPU time of the laboratory's own programs by right answers."""
    used = [window.roles[role].cpu_cores for role in SAME_WORK if role in window.roles]
    return sum(used) / window.goodput_rps * 1e6 if used and window.goodput_rps > 0 else None


def host_speed(closed: Sequence[Window]) -> Finding | None:
    """closed: the closed windows of one run's good starts, of one length and one load."""
    costs = [(cost, window) for window in closed if (cost := cost_us_per_request(window)) is not None]
    if len(costs) < 2 or len({frozenset(window.roles) for window in closed}) != 1:
        return None
    (low, cheap), (high, dear) = (pick(costs, key=lambda pair: pair[0]) for pick in (min, max))
    if high <= low * (1 + SPREAD_WARN):
        return None
    meters = [window.host.hiccup.cpu_cores for window in (cheap, dear) if window.host.hiccup]
    if len(meters) == 2 and meters[1] <= meters[0] * (1 + WAKE_UPS_WARN):
        return None  # then it was something that the application did
    text = (
        f"the host's speed changed between the starts: {' + '.join(role for role in SAME_WORK if role in cheap.roles)} did the"
        f" same work per request in each, but it cost {low:.0f} to {high:.0f} µs of CPU (goodput {cheap.goodput_rps:,.0f} and"
        f" {dear.goodput_rps:,.0f}/s). More starts narrow the interval; 'just compare' measures both sides in turn on the"
        " same host"
    )
    return Finding.of("host-speed", "warning", text)
