"""The figures of a closed window under the names of the experiments, and its text in the style of oha. Pure."""

import numpy as np

from tandem.load.rows import SAMPLES_BEYOND, Floats, Rows, right_answers, steady
from tandem.record.window import Window

QUANTILES = {"p10": 0.1, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}
BINS, BAR = 11, 32


def service_times(rows: Rows, window: Window, lengths: set[int], status: int, trim_start_s: float) -> Floats:
    """Seconds from sending to the last byte, of the right answers that ended in the measured part."""
    trim_end_s = window.duration_s - window.measured_s - trim_start_s
    inside = steady(rows, window.duration_s, trim_start_s, trim_end_s) & right_answers(rows, status, lengths)
    found: Floats = (rows.end_s - rows.start_s)[inside]
    return found


def percentiles_ms(service_s: Floats) -> dict[str, float]:
    """Those with at least SAMPLES_BEYOND samples on either side; the others are left out."""
    n = len(service_s)
    told = {name: q for name, q in QUANTILES.items() if n * min(q, 1 - q) >= SAMPLES_BEYOND * (1 - 1e-9)}
    if not told:
        return {}
    values = np.quantile(service_s, list(told.values())) * 1e3
    return {f"{name}_ms": float(value) for name, value in zip(told, values, strict=True)}


def figures(window: Window, service_s: Floats) -> dict[str, float]:
    """What was measured; a figure that was not is left out."""
    times, per_second = window.service_time_ms, window.per_second
    found: dict[str, float | None] = {
        "goodput_rps": window.goodput_rps,
        "mean_ms": times.mean,
        **percentiles_ms(service_s),
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


def peaks(psrecord_log: str) -> dict[str, float]:
    """The published figures' peaks, from a log of psrecord as they were: CPU in percent of a core within a second,
    resident memory in MiB, both summed over the processes (what they share counts once for each). Empty where the
    log has no line."""
    lines = [line.split() for line in psrecord_log.splitlines() if line and not line.startswith("#")]
    rows = [[float(value) for value in line[:3]] for line in lines if len(line) >= 3]
    if not rows:
        return {}
    return {"peak_cpu_percent": max(row[1] for row in rows), "peak_memory_mib": max(row[2] for row in rows)}


def oha_text(window: Window, service_s: Floats) -> str:
    """The window as the documents show theirs; times are service times of the closed loop."""
    n = len(service_s)
    answered, failed = window.good, sum(window.failed.values())
    lines = [
        "Summary (service times of the closed loop: a slow answer also delays the next request):",
        f"  Success rate:\t{answered / max(answered + failed, 1):.4f}",
        f"  Measured:\t{window.measured_s:.4f} secs of {window.duration_s:.0f}",
    ]
    if not n:
        return "\n".join([*lines, "  no answer ended in the measured part", ""])
    slow, fast = float(service_s.max()), float(service_s.min())
    lines += [
        f"  Slowest:\t{slow:.4f} secs",
        f"  Fastest:\t{fast:.4f} secs",
        f"  Average:\t{float(service_s.mean()):.4f} secs",
        f"  Requests/sec:\t{window.goodput_rps:.4f}",
        "",
        "Service time histogram:",
    ]
    counts, edges = np.histogram(service_s, bins=BINS, range=(fast, slow if slow > fast else fast + 1e-6))
    width = len(f"[{counts.max()}]")
    for count, edge in zip(counts.tolist(), edges[1:].tolist(), strict=True):
        bar = "■" * round(BAR * count / counts.max())
        lines.append(f"  {edge:.3f} {f'[{count}]':<{width}} |{bar}")
    told = percentiles_ms(service_s)
    lines += ["", "Service time distribution:"]
    lines += [
        f"  {q:.0%} in {told[f'{name}_ms'] / 1e3:.4f} secs"
        for name, q in QUANTILES.items()
        if f"{name}_ms" in told
    ]
    lines += ["", "Answers:", f"  right: {answered}", *(f"  {why}: {k}" for why, k in window.failed.items())]
    return "\n".join(lines) + "\n"
