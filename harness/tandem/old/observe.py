"""Watches the stack while a load runs, and makes a judged window of what was seen."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tandem.hosts import HERE
from tandem.hosts.host import Cgroup
from tandem.judge import judge
from tandem.judge.bottleneck import bottleneck
from tandem.judge.judge import Expectation
from tandem.judge.measure import Conditions, Measured, window
from tandem.load.generator import Load, Report
from tandem.load.rows import Rows
from tandem.old.cell import Cell
from tandem.probes.app_pool import AppPool, PoolCounters, PoolUse
from tandem.probes.haproxy import HAProxy
from tandem.probes.pgbouncer import PgBouncer
from tandem.probes.postgres import Postgres
from tandem.probes.round_trip import RoundTrip
from tandem.probes.sampler import Prober, Sample, Sampler, Series
from tandem.probes.watch import Watch, Watched
from tandem.record.window import DbRtt, Statement, Window


@dataclass(frozen=True)
class Observed:
    """What was seen from just before a load to just after it."""

    series: Series
    statements: dict[str, Statement]
    watched: Watched | None
    db_rtt_ms: DbRtt | None
    stored_rows: int | None
    busiest_thread_s: dict[str, float | None]
    """Application (its key among the groups) -> CPU-seconds of its busiest thread."""
    app_pools: dict[str, PoolUse]
    """Those of the applications whose pool tells."""


@dataclass
class Observer:
    """The probes around one load. groups: role -> counters; apps: which of them are applications."""

    groups: dict[str, Cgroup]
    apps: Sequence[str]
    proxy: HAProxy | None
    pooler: PgBouncer | None
    postgres: Postgres
    probers: Sequence[Prober]
    watch: Watch
    trip: RoundTrip | None
    stored_in: str | None
    """The table that every answer has to add a row to."""
    seen: Callable[[Sample, Sample], None]
    lock_waits: Callable[[], int] | None = None
    app_pools: Mapping[str, AppPool] = field(default_factory=dict)
    """Of the applications, those whose bench.toml says that their pool tells."""

    def during[T](self, load: Callable[[], T]) -> tuple[T, Observed]:
        """Runs the load between the probes' beginnings and ends; returns what it returned. Raises what a probe met."""
        sampler = Sampler(HERE, self.groups, self.proxy, self.pooler, self.seen, self.lock_waits)
        try:
            before = self.postgres.count(self.stored_in) if self.stored_in else 0
            pools_before = self._pools()
            self.postgres.reset_statements()
            sampler.start()
            threads_before = self._threads()
            if self.trip:
                self.trip.start()
            for prober in self.probers:
                prober.start()
            try:
                self.watch.start()
                result = load()
            finally:
                for prober in self.probers:
                    prober.stop()
                try:
                    watched = self.watch.stop()
                finally:
                    series = sampler.stop()
                    met = self.trip.stop() if self.trip else None
            threads = self._threads()
            pools = self._pools()
            observed = Observed(
                series=series,
                statements=self.postgres.statements(),
                watched=watched,
                db_rtt_ms=met,
                stored_rows=self.postgres.count(self.stored_in) - before if self.stored_in else None,
                busiest_thread_s={app: _busiest(threads_before[app], threads[app]) for app in self.apps},
                app_pools={
                    app: PoolUse(pools_before[app], pools[app]) for app in pools_before.keys() & pools
                },
            )
        finally:
            if self.proxy:
                self.proxy.close()
            if self.pooler:
                self.pooler.close()
        return result, observed

    def _threads(self) -> dict[str, dict[int, float]]:
        return {app: self.groups[app].thread_cpu_s() for app in self.apps}

    def _pools(self) -> dict[str, PoolCounters]:
        """The counters of each pool that tells with the knobs of this start. Asked for while no load runs."""
        told = {app: pool.read() for app, pool in self.app_pools.items()}
        return {app: counters for app, counters in told.items() if counters is not None}


def _busiest(before: dict[int, float], after: dict[int, float]) -> float | None:
    return max((s - before.get(thread, 0.0) for thread, s in after.items()), default=None)


def judged(
    cell: Cell,
    cpusets: dict[str, str],
    left: tuple[Rows, Report],
    ran: tuple[Literal["closed", "open"], Load, float],
    seen: Observed,
    prober: Prober,
    idle_connections: int | None,
    expected: Expectation | None = None,
) -> Window:
    """The window of a load that has run.

    cpusets: role -> CPUs. left: the generator's rows and summary. ran: which load, what was asked, when it began
    (time.time()). expected: default the scenario's.
    """
    rows, report = left
    load, asked, began_s = ran
    measured = Measured(
        rows=rows,
        report=report,
        began_s=began_s,
        series=seen.series,
        busiest_thread_s=seen.busiest_thread_s["app"],
        app_pool=seen.app_pools.get("app"),
        statements=seen.statements,
        probes=prober.asked,
        probes_refused=[wrong.text for wrong in prober.wrong if not wrong.body],
        probe_failures=[wrong.text for wrong in prober.wrong if wrong.body],
        stored_rows=seen.stored_rows,
        idle_connections=idle_connections,
        watched=seen.watched,
        db_rtt_ms=seen.db_rtt_ms,
    )
    conditions = Conditions(
        load=load,
        duration_s=asked.duration_s,
        connections=asked.connections,
        rate_rps=asked.rate_rps,
        trim_start_s=cell.plan.trim_start_s,
        trim_end_s=cell.plan.trim_end_s,
        lengths=cell.answers.lengths(),
        status=cell.scenario.status,
        timeout_s=float(cell.scenario.timeout_s),
        cpusets=cpusets,
        host_cpus=HERE.cpus,
    )
    found = window(measured, conditions)
    found.findings = judge.gates(found, expected or cell.expected)
    found.verdict = judge.verdict(found.findings)
    found.bottleneck, found.evidence = bottleneck(
        found, cell.db_pool_usable, cell.handler_threads, cell.admitted
    )
    return found
