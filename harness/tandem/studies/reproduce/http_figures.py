"""The figures of a closed window under the names of the experiments, and its text in the style of oha. Pure."""

import numpy as np
from numpy.typing import NDArray

from tandem.analysis.histogram import recorded
from tandem.load.rows import SAMPLES_BEYOND, Floats
from tandem.record.trial import Start
from tandem.record.window import Window

QUANTILES = {"p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}
BINS, BAR = 11, 32

type Counted = tuple[Floats, NDArray[np.int64]]
"""Distinct service times in seconds, ascending, and how often each occurs."""


def service_times(window: Window) -> Counted:
    """From sending to the last byte, of the right answers that ended in the measured part; to three digits."""
    return (
        recorded(window.service_time_hdr) if window.service_time_hdr else (np.empty(0), np.empty(0, np.int64))
    )


def percentiles_ms(times: Counted) -> dict[str, float]:
    """Times that were seen (nearest rank), of those with at least SAMPLES_BEYOND samples on either side; the others are
    left out."""
    values, counts = times
    n = int(counts.sum())
    told = {name: q for name, q in QUANTILES.items() if n * min(q, 1 - q) >= SAMPLES_BEYOND * (1 - 1e-9)}
    ranks = [max(1, int(np.ceil(n * q - 1e-9))) for q in told.values()]
    places = np.searchsorted(np.cumsum(counts), ranks)
    return {f"{name}_ms": float(values[place]) * 1e3 for name, place in zip(told, places, strict=True)}


def figures(window: Window) -> dict[str, float]:
    """What was measured; a figure that was not is left out."""
    times, per_second = window.service_time_ms, window.per_second
    found: dict[str, float | None] = {
        "goodput_rps": window.goodput_rps,
        "mean_ms": times.mean,
        **percentiles_ms(service_times(window)),
        "max_ms": times.max,
        "app_cpu_us_per_request": window.app_cpu_us_per_request,
        "cpu_percent": window.roles["app"].cpu_cores * 100,
        "peak_cpu_1s_percent": max(per_second.app_cpu_s) * 100
        if per_second and per_second.app_cpu_s
        else None,
        "anonymous_memory_mib": None
        if window.app_memory_peak_bytes is None
        else window.app_memory_peak_bytes / 2**20,
    }
    return {name: value for name, value in found.items() if value is not None}


def peaks(start: Start) -> dict[str, float]:
    """The published figures' peaks, by psrecord as they were. Empty where it saw nothing."""
    found = {
        "peak_cpu_percent": start.cpu_peak_percent,
        "peak_memory_mib": None if start.resident_peak_bytes is None else start.resident_peak_bytes / 2**20,
    }
    return {name: value for name, value in found.items() if value is not None}


def oha_text(window: Window) -> str:
    """The window as the documents show theirs; times are service times of the closed loop."""
    values, counts = times = service_times(window)
    n = int(counts.sum())
    answered, failed = window.good, sum(window.failed.values())
    lines = [
        "Summary (service times of the closed loop: a slow answer also delays the next request):",
        f"  Success rate:\t{answered / max(answered + failed, 1):.4f}",
        f"  Measured:\t{window.measured_s:.4f} secs of {window.duration_s:.0f}",
    ]
    if not n:
        return "\n".join([*lines, "  no answer ended in the measured part", ""])
    slow, fast = float(values.max()), float(values.min())
    mean_ms = window.service_time_ms.mean
    lines += [
        f"  Slowest:\t{slow:.4f} secs",
        f"  Fastest:\t{fast:.4f} secs",
        *([f"  Average:\t{mean_ms / 1e3:.4f} secs"] if mean_ms is not None else []),
        f"  Requests/sec:\t{window.goodput_rps:.4f}",
        "",
        "Service time histogram:",
    ]
    limits = (fast, slow if slow > fast else fast + 1e-6)
    binned, edges = np.histogram(values, bins=BINS, range=limits, weights=counts)
    width = len(f"[{int(binned.max())}]")
    for count, edge in zip(binned.astype(int).tolist(), edges[1:].tolist(), strict=True):
        bar = "■" * round(BAR * count / binned.max())
        lines.append(f"  {edge:.3f} {f'[{count}]':<{width}} |{bar}")
    told = percentiles_ms(times)
    lines += ["", "Service time distribution:"]
    lines += [
        f"  {q:.0%} in {told[f'{name}_ms'] / 1e3:.4f} secs"
        for name, q in QUANTILES.items()
        if f"{name}_ms" in told
    ]
    lines += ["", "Answers:", f"  right: {answered}", *(f"  {why}: {k}" for why, k in window.failed.items())]
    return "\n".join(lines) + "\n"
