"""What the counters say of a window: CPU and memory of each role, the host, the proxy, the pooler. Pure."""

from collections.abc import Callable, Collection
from itertools import pairwise

import numpy as np

from tandem.catalog.placement import cpus_in
from tandem.hosts.host import Usage
from tandem.judge import disturbance
from tandem.load.rows import Floats
from tandem.load.shares import FIRST, is_generator
from tandem.probes.disturbances import Disturbances
from tandem.probes.sampler import Sample, Series
from tandem.record.host import HostActivity, PerSecond
from tandem.record.window import GeneratorShare, Pooler, Proxy, Role

HARNESS = "harness"

type Spans = list[tuple[float, float]]
"""Seconds that figures come from: one span, or the measured part of each slice; time.time()."""


class RoleCounters:
    """The counters of a window, read by role. Several generators are one role.

    cpusets: role -> CPU set, "" for all. host_cpus: of all hosts together.
    """

    def __init__(self, series: Series, spans: Spans, cpusets: dict[str, str], host_cpus: int) -> None:
        self.series, self.spans, self._host_cpus = series, spans, host_cpus
        # Generators may run on several machines.
        self._generators = {name: cpuset for name, cpuset in cpusets.items() if is_generator(name)}
        sets = dict.fromkeys(self._generators.values())
        together = "" if "" in sets else ",".join(sets)
        self._cpusets = {
            role: together if role == FIRST else cpuset
            for role, cpuset in cpusets.items()
            if role == FIRST or not is_generator(role)
        }

    def roles(self, busiest_thread_cores: float | None) -> dict[str, Role]:
        """The use of each role. busiest_thread_cores: of the application."""
        found, samples = dict[str, Role](), self.series.samples
        for role, cpuset in self._cpusets.items():
            memory = usage(role, lambda used: used.memory_bytes)
            throttled = usage(role, lambda used: used.throttled_s)
            found[role] = Role(
                cpu_cores=rate(self.series, self.spans, cpu_s(role)),
                cpuset=cpuset,
                cores_available=self._cores(cpuset),
                memory_peak_bytes=round(max(memory(sample) for sample in samples)),
                throttled_s=throttled(samples[-1]) - throttled(samples[0]),
            )
        found["app"].busiest_thread_cores = busiest_thread_cores
        return found

    def with_cpu(self, one: GeneratorShare) -> GeneratorShare:
        """A generator's share of the load, with what that generator used."""
        used = one.model_copy()
        used.cpu_cores = rate(self.series, self.spans, _of_group(one.role))
        used.cpuset = self._generators[one.role]
        used.cores_available = self._cores(used.cpuset)
        return used

    def per_second(self, good_end_s: Floats, began_s: float, first: int, last: int) -> PerSecond:
        """The whole seconds from `first` to `last`. Counters are sampled twice a second and interpolated.
        good_end_s: of the right answers, since `began_s`."""
        seconds = list(range(first, last))
        good = np.bincount(good_end_s[good_end_s >= 0].astype(np.int64), minlength=max(last, 1))
        edges = [began_s + second for second in (*seconds, last)]

        def each(value: Callable[[Sample], float]) -> list[float]:
            return grown(self.series, list(pairwise(edges)), value) if seconds else []

        steal, total = each(lambda sample: sample.host.steal_s), each(lambda sample: sample.host.total_s)
        memory = usage("app", lambda used: used.memory_bytes)
        return PerSecond(
            second=seconds,
            good=good[first:last].tolist(),
            app_cpu_s=each(cpu_s("app")),
            steal_share=[s / t if t > 0 else 0.0 for s, t in zip(steal, total, strict=True)],
            role_cpu_s={role: each(cpu_s(role)) for role in self._cpusets},
            app_memory_bytes=[round(self.series.at(edge, memory)) for edge in edges[1:]],
        )

    def _cores(self, cpuset: str) -> int:
        return cpus_in(cpuset) or self._host_cpus or 1


# ---- a counter over spans of time ----


def usage(role: str, value: Callable[[Usage], float]) -> Callable[[Sample], float]:
    """A counter of a role: of all generators together."""
    if role == FIRST:
        return lambda sample: sum(value(used) for name, used in sample.usage.items() if is_generator(name))
    return lambda sample: value(sample.usage[role])


def cpu_s(role: str) -> Callable[[Sample], float]:
    """CPU-seconds of a role."""
    return usage(role, lambda used: used.cpu_s)


def _of_group(group: str) -> Callable[[Sample], float]:
    """CPU-seconds of one container."""
    return lambda sample: sample.usage[group].cpu_s


def grown(series: Series, spans: Spans, value: Callable[[Sample], float]) -> list[float]:
    """The growth of a counter in each span."""
    return [series.at(high, value) - series.at(low, value) for low, high in spans]


def rate(series: Series, spans: Spans, value: Callable[[Sample], float]) -> float:
    """The growth of a counter per second of the spans."""
    return sum(grown(series, spans, value)) / sum(high - low for low, high in spans)


def _within(series: Series, spans: Spans) -> list[Sample]:
    return [sample for low, high in spans for sample in series.between(low, high)]


# ---- the host ----


def foreign_cores(series: Series, spans: Spans, ours: Collection[str]) -> tuple[float, float]:
    """The use of processes beside the groups of these names, in cores: at least and at most.

    A group's time contains the interrupts that came while it ran, and user and system time do not: that difference is
    nobody's CPU. So what all groups used is taken where the host tells, and the kernel's ticks bound it from above.
    """
    used = sum(rate(series, spans, _of_group(group)) for group in ours)
    busy = rate(series, spans, lambda sample: sample.host.busy_s)
    ticks = busy + rate(series, spans, lambda sample: sample.host.softirq_s)
    known = all(sample.host.processes_s is not None for sample in series.samples)
    every = rate(series, spans, lambda sample: sample.host.processes_s or 0.0) if known else busy
    return max(0.0, every - used), max(0.0, every - used, ticks - used)


def host(series: Series, spans: Spans, watched: Disturbances | None) -> HostActivity:
    """The activity of the host beside the load. watched: what was read before and after the window rather than sampled."""
    total = rate(series, spans, lambda sample: sample.host.total_s)
    ours = series.samples[0].usage
    least, most = (cores / total for cores in foreign_cores(series, spans, ours))
    found = HostActivity(
        steal_share=rate(series, spans, lambda sample: sample.host.steal_s) / total,
        steal_told=series.samples[-1].host.steal_s > 0,
        foreign_cpu_share=least,
        foreign_cpu_interval=(least, most),
        softirq_share=rate(series, spans, lambda sample: sample.host.softirq_s) / total,
        harness_cpu_cores=rate(series, spans, cpu_s(HARNESS)) if HARNESS in ours else None,
    )
    if watched is not None:
        before, after = watched.clocks
        drift_s = (after.wall_s - before.wall_s) - (after.monotonic_s - before.monotonic_s)
        found.hiccup = disturbance.hiccup(watched.oversleep, spans[0][0], spans[-1][1])
        found.clock_drift_ms = drift_s * 1e3
        known = before.source is not None and after.source is not None
        found.clock_changed = before.source != after.source if known else None
        found.swapped_pages, found.listen_overflows = watched.swapped_pages, watched.listen_overflows
    return found


# ---- the services between generator and database ----


def proxy(series: Series, spans: Spans) -> Proxy | None:
    """HAProxy's counts; None where it is not in the path."""
    first, last = series.samples[0].proxy, series.samples[-1].proxy
    if first is None or last is None:
        return None
    inside = [sample.proxy for sample in _within(series, spans) if sample.proxy]
    in_flight = [proxy.in_flight_now for proxy in inside]
    return Proxy(
        responses_2xx=last.responses_2xx - first.responses_2xx,
        responses_other=last.responses_other - first.responses_other,
        connection_errors=last.connection_errors - first.connection_errors,
        response_errors=last.response_errors - first.response_errors,
        queue_max=max((proxy.queue_now for proxy in inside), default=0),
        queue_mean=sum(proxy.queue_now for proxy in inside) / len(inside) if inside else None,
        connections_opened=last.connections_opened - first.connections_opened,
        in_flight_mean=float(np.mean(in_flight)) if inside else None,
        in_flight_error=float(np.std(in_flight, ddof=1) / len(inside) ** 0.5) if len(inside) > 1 else None,
    )


def pooler(series: Series, spans: Spans) -> Pooler | None:
    """PgBouncer's counts; None where it is not in the path."""
    first, last = series.samples[0].pooler, series.samples[-1].pooler
    if first is None or last is None:
        return None
    inside = [sample.pooler for sample in _within(series, spans) if sample.pooler]
    queries = last.queries - first.queries
    return Pooler(
        queries=queries,
        wait_us_per_query=(last.wait_us - first.wait_us) / queries if queries else None,
        clients_waiting_max=max((pooler.clients_waiting for pooler in inside), default=0),
        servers_active_max=max((pooler.servers_active for pooler in inside), default=0),
        servers_active_mean=sum(pooler.servers_active for pooler in inside) / len(inside) if inside else None,
    )


def lock_waits(series: Series, spans: Spans) -> float | None:
    """Connections that waited for a lock, in the mean; None where that was not sampled."""
    waits = [one.lock_waits for one in _within(series, spans) if one.lock_waits is not None]
    return sum(waits) / len(waits) if waits else None
