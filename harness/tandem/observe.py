"""Watches the stack while a load runs: counters are sampled, bodies compared, statements and rows counted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tandem.probes.cgroup import Cgroup
from tandem.probes.haproxy import HAProxy
from tandem.probes.host import TICKS_PER_S
from tandem.probes.pgbouncer import PgBouncer
from tandem.probes.postgres import Postgres
from tandem.probes.round_trip import RoundTrip
from tandem.probes.watch import Watch, Watched
from tandem.record import DbRtt, Statement
from tandem.sampler import Prober, Sample, Sampler, Series


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

    def during[T](self, load: Callable[[], T]) -> tuple[T, Observed]:
        """Runs the load between the probes' beginnings and ends; returns what it returned. Raises what a probe met."""
        sampler = Sampler(self.groups, self.proxy, self.pooler, self.seen, self.lock_waits)
        try:
            before = self.postgres.count(self.stored_in) if self.stored_in else 0
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
            observed = Observed(
                series=series,
                statements=self.postgres.statements(),
                watched=watched,
                db_rtt_ms=met,
                stored_rows=self.postgres.count(self.stored_in) - before if self.stored_in else None,
                busiest_thread_s={app: _busiest(threads_before[app], threads[app]) for app in self.apps},
            )
        finally:
            if self.proxy:
                self.proxy.close()
            if self.pooler:
                self.pooler.close()
        return result, observed

    def _threads(self) -> dict[str, dict[int, float]]:
        return {app: self.groups[app].thread_cpu_s(TICKS_PER_S) for app in self.apps}


def _busiest(before: dict[int, float], after: dict[int, float]) -> float | None:
    return max((s - before.get(thread, 0.0) for thread, s in after.items()), default=None)
