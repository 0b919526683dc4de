"""Gates on what the host did besides steal and foreign CPU: hiccups, clocks, swapping, dropped connections. Pure."""

from typing import Literal

import numpy as np

from tandem.hosts.host import Oversleep
from tandem.record.host import Hiccup, HostActivity
from tandem.record.window import Finding

HICCUP_P999_WARN_MS = 5.0
HICCUP_MAX_VOID_MS = 100.0
"""The same as the generator's own lateness gap: a machine that stood still so long stopped everybody."""
HICCUP_LEAST = 1000
"""Below so many sleeps there is no p99.9 of them."""
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


def _hiccups(found: Hiccup | None) -> list[Finding]:
    """A meter without real-time priority waits in the load's own queue: its figures judge nothing."""
    if found is None or not found.realtime:
        return []
    if found.max_ms > HICCUP_MAX_VOID_MS:
        text = f"the machine stalled for {found.max_ms:.0f} ms (limit {HICCUP_MAX_VOID_MS:.0f} ms)"
        return [Finding.of("hiccup", "void", text)]
    if found.p999_ms is not None and found.p999_ms > HICCUP_P999_WARN_MS:
        text = f"one sleep in a thousand lasted {found.p999_ms:.1f} ms too long (aim {HICCUP_P999_WARN_MS:.0f} ms)"
        return [Finding.of("hiccup", "warning", text)]
    return []


def disturbances(host: HostActivity) -> list[Finding]:
    """What these gates notice about a window. A figure that was not measured is not judged."""
    found = _hiccups(host.hiccup)
    if host.clock_changed:
        found.append(Finding.of("clock", "void", "the kernel changed its clock source"))
    elif host.clock_drift_ms is not None and abs(host.clock_drift_ms) > CLOCK_DRIFT_VOID_MS:
        text = f"the wall clock moved by {host.clock_drift_ms:+.0f} ms relative to the monotonic clock (limit {CLOCK_DRIFT_VOID_MS:.0f} ms)"
        found.append(Finding.of("clock", "void", text))
    if host.swapped_pages is not None and host.swapped_pages > SWAPPED_WARN:
        severity: Literal["void", "warning"] = "void" if host.swapped_pages > SWAPPED_VOID else "warning"
        text = f"the host swapped {host.swapped_pages} pages (limit {SWAPPED_VOID})"
        found.append(Finding.of("swap", severity, text))
    if host.listen_overflows:
        text = f"the kernel dropped {host.listen_overflows} connections because the application's listen queue was full"
        found.append(Finding.of("listen-overflow", "warning", text))
    return found
