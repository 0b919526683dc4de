"""The metrics that studies conclude: key, name, unit, whether more or less is better. Pure."""

from dataclasses import dataclass, replace
from typing import Literal

from tandem.analysis.cost import APP, AT, TOTAL
from tandem.analysis.ratios import Better
from tandem.record.conclusion import Coordinates


@dataclass(frozen=True)
class Metric:
    """A metric. digits: after the point, for people."""

    title: str
    unit: str
    better: Literal["more", "less"]
    digits: int = 1

    @property
    def heading(self) -> str:
        """Name and unit: total CPU, µs/request."""
        return f"{self.title}, {self.unit}" if self.unit else self.title

    @property
    def kind(self) -> Better:
        """Which words a ratio of it gets (tandem.analysis.ratios.WORDS)."""
        return "higher" if self.better == "more" else "quicker" if self.unit in ("ms", "s") else "lower"

    def text(self, value: float) -> str:
        """A value with its unit: 1,234/s, 5.0 ms."""
        unit = self.unit.removeprefix("1") if self.unit.startswith("1/") else f" {self.unit}"
        return f"{value:,.{self.digits}f}{unit}"


UNITS = {"ms": " ms", "s": " s", "rps": "/s", "bytes": " bytes"}
GOODPUT, OFFERED, P99 = "goodput_rps", "offered_rps", "response_time_p99_ms"
MEMORY, MEMORY_REST = "anonymous_memory_mib", "memory_rest_mib"
MEMORY_PER_CONNECTION = "memory_per_connection_kib"
STATEMENTS = "statements_per_request"
LATENCY_BOUND, CEILING_SHARE = "latency_bound_percent", "ceiling_percent"
METRICS = {
    GOODPUT: Metric("goodput", "1/s", "more", 0),
    OFFERED: Metric("offered rate", "1/s", "more", 0),
    TOTAL: Metric("total CPU", "µs/request", "less", 0),
    APP: Metric("app CPU", "µs/request", "less", 0),
    "duet_cpu_us_per_request": Metric("app CPU, all at once and at one rate", "µs/request", "less", 0),
    "saturated_cpu_us_per_request": Metric(
        "app CPU, all at once near their joint limit", "µs/request", "less", 0
    ),
    "db_cpu_us_per_request": Metric("database CPU", "µs/request", "less", 0),
    "pgbouncer_cpu_us_per_request": Metric("PgBouncer CPU", "µs/request", "less", 0),
    "proxy_cpu_us_per_request": Metric("HAProxy CPU", "µs/request", "less", 0),
    STATEMENTS: Metric("statements", "1/request", "less"),
    "capacity_rps": Metric("capacity", "1/s", "more", 0),
    "response_time_p50_ms": Metric("response time p50", "ms", "less"),
    "response_time_p90_ms": Metric("response time p90", "ms", "less"),
    P99: Metric("response time p99", "ms", "less"),
    "response_time_p999_ms": Metric("response time p99.9", "ms", "less"),
    **{f"service_time_{p}_ms": Metric(f"service time {p}", "ms", "less") for p in ("p50", "p90", "p99")},
    "right_percent": Metric("right answers", "% of the scheduled", "more", 2),
    "service_time_mean_ms": Metric("service time, mean", "ms", "less"),
    MEMORY_REST: Metric("memory at rest", "MiB", "less", 0),
    MEMORY_PER_CONNECTION: Metric("memory per connection", "KiB", "less", 0),
    LATENCY_BOUND: Metric("share of the latency-bound maximum", "%", "more", 0),
    "latency_bound_rps": Metric("latency-bound maximum", "1/s", "more", 0),
    CEILING_SHARE: Metric("share of the nearest ceiling", "%", "more", 0),
    MEMORY: Metric("peak memory by its control group", "MiB", "less", 0),
    "memory_growth_mib_per_minute": Metric("growth of memory", "MiB/minute", "less", 2),
    "memory_burst_mib": Metric("memory at full load", "MiB", "less", 0),
    "memory_after_mib": Metric("memory a minute after full load", "MiB", "less", 0),
    "first_answer_s": Metric("first answer", "s", "less", 2),
    "first_right_s": Metric("first right answer", "s", "less", 2),
    "full_rate_s": Metric("until 95 % of the final rate", "s", "less", 0),
    "warm_up_lost_s": Metric("lost while it warmed up", "s of full rate", "less", 1),
    "total_s": Metric("total time", "s", "less"),
    "time_ms": Metric("time", "ms", "less"),
    "loop_ratio": Metric("relative to the tight loop", "×", "less", 2),
    "cpu_ms": Metric("CPU", "ms", "less"),
    "mean_ms": Metric("mean", "ms", "less"),
    **{
        f"{name}_ms": Metric(name, "ms", "less") for name in ("p10", "p25", "p50", "p75", "p90", "p95", "p99")
    },
    "max_ms": Metric("slowest", "ms", "less"),
    "peak_cpu_percent": Metric("peak CPU", "%", "less", 0),
    "peak_memory_mib": Metric("peak memory", "MiB", "less", 0),
    "cpu_percent": Metric("mean CPU", "%", "less", 0),
    "peak_cpu_1s_percent": Metric("peak CPU by its control group", "%", "less", 0),
    "refused_percent": Metric("refused (503)", "%", "less", 2),
    "round_trips": Metric("round trips implied", "per request", "less"),
    "memory_per_idle_kib": Metric("per idle connection", "KiB", "less"),
    "requests": Metric("answered", "requests", "more", 0),
    "connect_errors": Metric("connect errors", "", "less", 0),
    "established": Metric("connections held", "", "more", 0),
    "errors": Metric("errors", "", "less", 0),
}
"""All metrics that are known. The same key means the same in what was published and in what we measure."""


def metric(key: str) -> Metric:
    """The metric of a key; that of a key at an equal rate says so. Raises KeyError for one that is not known."""
    name, at, share = key.partition(AT)
    found = METRICS[name]
    return replace(found, title=f"{found.title} at {share} % of what the slowest reaches") if at else found


def told_coordinates(coordinates: Coordinates) -> str:
    """Coordinates for people: `wait 5 ms, pool 20`."""
    return ", ".join(_told_coordinate(name, value) for name, value in coordinates.items())


def _told_coordinate(name: str, value: float | str) -> str:
    *words, unit = name.split("_")
    if words and unit in UNITS:
        return f"{' '.join(words).replace('db rtt', 'database')} {value:,}{UNITS[unit]}"
    shown = f"{value:,}" if isinstance(value, int) else value
    return f"{name.replace('_', ' ')} {shown}"
