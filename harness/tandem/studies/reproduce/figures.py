"""The figures that a row of an experiment can have: name, unit, whether more or less is better. Pure."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Figure:
    """digits: after the point, for people."""

    title: str
    unit: str
    better: Literal["more", "less"]
    digits: int = 1

    def text(self, value: float) -> str:
        """With its unit: 1,234/s, 5.0 ms."""
        unit = self.unit.removeprefix("1") if self.unit.startswith("1/") else f" {self.unit}"
        return f"{value:,.{self.digits}f}{unit}"


FIGURES = {
    "goodput_rps": Figure("requests", "1/s", "more", 0),
    "total_s": Figure("total time", "s", "less", 1),
    "time_ms": Figure("time", "ms", "less", 1),
    "loop_ratio": Figure("relative to the tight loop", "×", "less", 2),
    "cpu_ms": Figure("CPU", "ms", "less", 1),
    "mean_ms": Figure("mean", "ms", "less", 1),
    "p10_ms": Figure("p10", "ms", "less", 1),
    "p25_ms": Figure("p25", "ms", "less", 1),
    "p50_ms": Figure("p50", "ms", "less", 1),
    "p75_ms": Figure("p75", "ms", "less", 1),
    "p90_ms": Figure("p90", "ms", "less", 1),
    "p95_ms": Figure("p95", "ms", "less", 1),
    "p99_ms": Figure("p99", "ms", "less", 1),
    "max_ms": Figure("slowest", "ms", "less", 1),
    "peak_cpu_percent": Figure("peak CPU", "%", "less", 0),
    "peak_memory_mib": Figure("peak memory", "MiB", "less", 0),
    "cpu_percent": Figure("mean CPU", "%", "less", 0),
    "peak_cpu_1s_percent": Figure("peak CPU by its control group", "%", "less", 0),
    "anonymous_memory_mib": Figure("peak memory by its control group", "MiB", "less", 0),
    "refused_percent": Figure("refused (503)", "%", "less", 2),
    "round_trips": Figure("round trips implied", "per request", "less", 1),
    "app_cpu_us_per_request": Figure("app CPU", "µs/request", "less", 0),
    "memory_per_idle_kib": Figure("per idle connection", "KiB", "less", 1),
    "requests": Figure("answered", "requests", "more", 0),
    "connect_errors": Figure("connect errors", "", "less", 0),
    "established": Figure("connections held", "", "more", 0),
    "errors": Figure("errors", "", "less", 0),
}
"""All that are known. The same name means the same in what was published and in what we measure."""
