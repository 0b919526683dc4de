"""Watches a load, whatever makes it and however many applications it asks, and makes judged windows of what was seen."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import count

from tandem.catalog.golden import Answers
from tandem.errors import TandemError
from tandem.hosts.host import TELL_ROUTES, other_end
from tandem.judge import generators, judge
from tandem.judge.counters import HARNESS
from tandem.judge.measure import ClassConditions, Measured, Seen, WindowConditions, window
from tandem.judge.slices import OwnSlices, Slice, row_zero
from tandem.judge.windows import Unjudged, judged
from tandem.lab.application import Application
from tandem.lab.case import VisitCase
from tandem.lab.generator_runs import Ran, RanShare, collected
from tandem.lab.sites import APP, FAULTS
from tandem.lab.stack import Stack
from tandem.load.generator import Generator, Load, Report, ToolResult
from tandem.load.rows import Rows
from tandem.load.shares import summed
from tandem.probes import haproxy
from tandem.probes.comparing import Comparison
from tandem.probes.database_wire import DatabaseTap
from tandem.probes.disturbances import DisturbanceProbe
from tandem.probes.pools import PgBouncer, PoolCounters, PoolUse, read_pool
from tandem.probes.postgres import ADMIN_PASSWORD, HARNESS_ROLES, StatementCounts
from tandem.probes.probe import BeforeAndAfter, EachApplication, Probe
from tandem.probes.sampler import Counted, Probed, Prober, Sample, Sampler, Series
from tandem.probes.tap import Tapped, WireTap, bodies_bytes, bursts_of
from tandem.probes.threads import EndsOfConnections, SwitchCounts, between
from tandem.probes.toxiproxy import PROXIED_PORT, RoundTrip
from tandem.record.trial import WindowSpec
from tandem.record.window import (
    BothEnds,
    DatabaseWork,
    GeneratorShare,
    IdleEstablished,
    OpenDescriptors,
    StoredRows,
    Window,
)

RANDOM = "recipe_random"
"""The statement that chooses what an answer is about."""


@dataclass(frozen=True)
class Scene:
    """A load that is watched: the applications that are loaded, by label, and who is told about every sample."""

    apps: dict[str, Application]
    seen: Callable[[Sample, Sample], None]
    seconds: float = 0.0
    """Length of the load; 0: nobody reads it on the wire."""
    in_slices: bool = False
    """Whether the applications are loaded in turn."""

    @property
    def first(self) -> Application:
        """The application by which all that they share is watched: the database, the pooler, the proxy."""
        return next(iter(self.apps.values()))


# ---- the probes, one class each, in the order in which they start ----


def _table_growth(scene: Scene) -> Probe[Seen] | None:
    """The growth of the table that every answer has to add a row to."""
    postgres = scene.first.postgres
    created = [one.scenario.answer.created for one in scene.first.case.classes]
    table = next(filter(None, created), None)
    if table is None:
        return None
    return BeforeAndAfter(
        lambda: dict.fromkeys(scene.apps, postgres.count(table)),
        lambda before, after: StoredRows(stored_rows=after - before),
    )


def _pools(scene: Scene) -> Probe[Seen] | None:
    """The counters of each pool that tells with the settings of this start, asked for while no load runs."""
    telling = {label: app.app.address for label, app in scene.apps.items() if app.case.pool_tells}

    def told() -> dict[str, PoolCounters]:
        found = {label: read_pool(address) for label, address in telling.items()}
        return {label: counters for label, counters in found.items() if counters is not None}

    return BeforeAndAfter(told, PoolUse) if telling else None


@dataclass
class StatementProbe:
    """The work of the database for the applications, by pg_stat_statements, its settings, and the flushes of its log."""

    scene: Scene
    _work: DatabaseWork = field(default_factory=lambda: DatabaseWork(statements={}))
    _rows_of: dict[str, dict[str, dict[int, int]]] = field(default_factory=dict)
    _syncs: int = 0

    def start(self) -> None:
        self._rows_of = {label: self._rows_each(app.case) for label, app in self.scene.apps.items()}
        self.scene.first.postgres.reset_statements()
        self._syncs = self.scene.first.postgres.wal_syncs()

    def _rows_each(self, case: VisitCase) -> dict[str, dict[int, int]]:
        """Statement -> key -> rows, by the database itself, for those that are asked with what the answer is about."""
        keys = case.answers.keys()
        texts = {name: case.texts[name] for name in case.scenario.statements if name in case.texts}
        asked = [name for name, text in texts.items() if name not in judge.ONE_ROW and "$2" not in text]
        return {name: self.scene.first.postgres.rows_of(texts[name], keys) for name in asked if keys}

    def stop(self) -> None:
        postgres = self.scene.first.postgres
        self._work = DatabaseWork(
            statements=postgres.statements(app.case.queries for app in self.scene.apps.values()),
            wal_syncs=postgres.wal_syncs() - self._syncs,
            foreign_settings=postgres.foreign_settings(),
        )

    def part(self, app: str) -> StatementCounts:
        return StatementCounts(self._work, self._rows_of[app])


class Counters:
    """The sampler over the cgroups of all roles, HAProxy and PgBouncer, and each application's threads."""

    def __init__(self, scene: Scene) -> None:
        first = scene.first
        self._apps = {label: f"{APP} {label}" for label in scene.apps}
        services = {role: service for role, service in first.services.items() if role != APP}
        machines = first.stack.sites.machines
        groups = {role: service.host.cgroup(service.pid) for role, service in services.items()}
        groups |= {self._apps[label]: app.app.host.cgroup(app.app.pid) for label, app in scene.apps.items()}
        groups[HARNESS] = machines.harness_cgroup()
        pooled = first.case.database_address.startswith("pgbouncer")
        self._groups = groups
        self._pooler = PgBouncer(services["pgbouncer"].address, ADMIN_PASSWORD) if pooled else None
        self._postgres = first.postgres
        self._number, self._clients = count(), Counter[tuple[str, str]]()
        sessions = self._sessions if first.case.scenario.statements else None
        slots = {label: app.stack.slot for label, app in scene.apps.items()}
        servers = {label: haproxy.slot(name) if name else haproxy.APP for label, name in slots.items()}
        proxies = partial(haproxy.read, services["proxy"].address, servers) if first.case.proxied else None
        # One of several generators may die, and the window goes on.
        mortal = first.generators if first.case.generators > 1 else []
        self._sampler = Sampler(machines, groups, proxies, self._pooler, scene.seen, sessions, mortal)
        self.mark = self._sampler.mark
        # Through the latency proxy all come from its address: of several applications it is not known whose they are.
        there = "pgbouncer" if pooled else "db"
        far = {first.stack.seen_by(there, services[FAULTS], FAULTS)} if FAULTS in services else set()
        # Address -> the roles that are the harness's there: whatever comes from its own container is the application's.
        self._addresses: dict[str, dict[str, set[str]]] = {
            label: {
                address: set() if address in app.app.networks.values() else HARNESS_ROLES
                for address in (*app.seen_by_the_database, *far)
            }
            for label, app in scene.apps.items()
            if not (far and app.stack.slot)
        }
        self._threads: dict[str, dict[int, float]] = {}
        self._busiest: dict[str, float | None] = {}
        self._series = Series()

    def _sessions(self) -> tuple[dict[tuple[str, str], int], int]:
        """Connections by address and role, to PgBouncer and past it, summed; and how many wait for a lock."""
        connected, waits = self._postgres.sessions()
        # PgBouncer's answer has a long row for each connection: of many applications it is asked for more seldom.
        if self._pooler and next(self._number) % len(self._apps) == 0:
            self._clients = self._pooler.connected()
        return connected + self._clients, waits

    def _thread_cpu_s(self) -> dict[str, dict[int, float]]:
        return {label: self._groups[key].thread_cpu_s() for label, key in self._apps.items()}

    def start(self) -> None:
        self._sampler.start()
        self._threads = self._thread_cpu_s()

    def stop(self) -> None:
        try:
            self._series = self._sampler.stop()
            now = self._thread_cpu_s()
            self._busiest = {label: _busiest(self._threads[label], now[label]) for label in self._apps}
        finally:
            if self._pooler:
                self._pooler.close()

    def part(self, app: str) -> Counted:
        """The application's counters under the role `app`; those of others that were loaded at the same time keep
        the name of their own."""
        key = self._apps[app]

        def view(sample: Sample) -> Sample:
            return replace(
                sample,
                usage={APP if role == key else role: u for role, u in sample.usage.items()},
                proxy=sample.proxies[app] if sample.proxies else sample.proxy,
            )

        series = Series([view(sample) for sample in self._series.samples])
        counted = [sample.connected for sample in series.samples if sample.connected is not None]
        own = self._addresses.get(app, {})
        sums = [
            sum(n for (address, role), n in one.items() if address in own and role not in own[address])
            for one in counted
        ]
        return Counted(series, self._busiest[app], max(sums, default=None) if own else None)


def _busiest(before: dict[int, float], after: dict[int, float]) -> float | None:
    return max((s - before.get(thread, 0.0) for thread, s in after.items()), default=None)


def _bodies(scene: Scene) -> Probe[Probed]:
    """Whole bodies that the harness itself asks for in between, compared with the golden ones."""
    # Of those that take turns each is asked more seldom, so that it gets as many per answer of the load.
    of = len(scene.apps) if scene.in_slices else 1
    probers = {label: Prober(app.client.ask, of) for label, app in scene.apps.items()}
    return EachApplication(probers, lambda prober: prober.probed)


def _idle(scene: Scene) -> Probe[Seen] | None:
    """Silent connections that were open from the beginning to the end."""
    if not scene.first.case.scenario.idle_connections:
        return None
    return BeforeAndAfter(
        lambda: {label: app.idle_established for label, app in scene.apps.items()},
        lambda _, after: IdleEstablished(idle_connections=after),
    )


@cache
def _routes(stack: Stack, role: str, container: str) -> str:
    """What a service says of its network interfaces. container: its id. One stays up for a whole study."""
    return stack.execute(role, [*TELL_ROUTES])


def _comparisons(case: VisitCase) -> list[Comparison]:
    return [Comparison(one.scenario, one.answers) for one in case.classes]


def _tap(scene: Scene) -> Probe[Seen] | None:
    """The probe that reads the generator's answers on the wire."""
    if not scene.seconds:
        return None
    first = scene.first
    apps = {label: Tapped(app.asked_at, partial(_comparisons, app.case)) for label, app in scene.apps.items()}
    most = max(
        bodies_bytes(of.scenario, of.answers) for app in scene.apps.values() for of in app.case.classes
    )
    asked = apps[next(iter(apps))].target[0]  # all are asked on the same network
    ends = [
        (first.services[role].host, other_end(asked, _routes(first.stack, role, first.services[role].id)))
        for role in (["proxy"] if first.encrypted else first.generators)
    ]
    return WireTap(ends, apps, bursts_of(scene.seconds, most))


def _database_tap(scene: Scene) -> Probe[Seen] | None:
    """The probe that reads the applications' statements on the wire; None where nobody knows whose they are."""
    first = scene.first
    if not scene.seconds or not any(of.scenario.statements for of in first.case.classes):
        return None
    role, _, port = first.case.database_address.partition(":")
    if first.case.db_rtt_ms is not None:
        role, port = FAULTS, str(PROXIED_PORT)
    apps = {label: app.stack.seen_by(role, app.app, APP) for label, app in scene.apps.items()}
    if len(set(apps.values())) < len(apps):
        return None
    service = first.services[role]
    end = other_end(next(iter(apps.values())), _routes(first.stack, role, service.id))
    return DatabaseTap((service.host, end), int(port), apps, scene.seconds)


def _both_ends(scene: Scene) -> Probe[BothEnds] | None:
    """The connections of each application, where the generator asks it itself, and who is busy at their ends."""
    if not scene.first.case.load_address.startswith(f"{APP}:"):
        return None
    ends = {
        label: EndsOfConnections(
            app.app.host,
            app.app.pid,
            app.stack.app_port,
            [app.services[role].host.cgroup(app.services[role].pid) for role in app.generators],
            app.case.scenario.connections,
        )
        for label, app in scene.apps.items()
    }
    # A generator that stands still most of the time has a busiest thread that says nothing.
    idle = {"generator_thread_cores": None} if scene.in_slices else {}
    return EachApplication(ends, lambda one: one.seen.model_copy(update=idle))


def _distance(scene: Scene) -> Probe[Seen] | None:
    """The round trip to the database, where a distance was asked for."""
    setting_ms, services = scene.first.case.db_rtt_ms, scene.first.services
    if setting_ms is None:
        return None
    at = scene.first.stack.seen_by(APP, services[FAULTS], FAULTS)
    return RoundTrip(scene.first.app.host, at, ADMIN_PASSWORD, setting_ms)


def _switches(scene: Scene) -> Probe[Seen]:
    groups = {label: app.app.host.cgroup(app.app.pid) for label, app in scene.apps.items()}
    return BeforeAndAfter(lambda: {label: SwitchCounts.at(group) for label, group in groups.items()}, between)


def _descriptors(scene: Scene) -> Probe[Seen]:
    groups = {label: app.app.host.cgroup(app.app.pid) for label, app in scene.apps.items()}
    return BeforeAndAfter(
        lambda: {label: group.descriptors() for label, group in groups.items()},
        lambda _, after: OpenDescriptors(app_descriptors=after),
    )


def _disturbances(scene: Scene) -> Probe[Seen]:
    first = scene.first
    host, apart = first.app.host, first.services["loadgen"].host is not first.app.host
    roles = (APP,) if apart else (APP, "loadgen")
    return DisturbanceProbe(host, first.app.pid, *(first.services[role].own_cpuset for role in roles))


PROBES: tuple[Callable[[Scene], Probe[Seen] | None], ...] = (
    _table_growth,
    _pools,
    StatementProbe,
    Counters,
    _switches,
    _descriptors,
    _distance,
    _bodies,
    _idle,
    _disturbances,
    _both_ends,
    _database_tap,
    _tap,
)
"""The probes. They start in this order and stop in the other. One that returns None has nothing to watch."""


@contextmanager
def watched(scene: Scene) -> Iterator[list[Probe[Seen]]]:
    """Runs what is inside between the probes' beginnings and ends. Raises what a probe met."""
    probes: list[Probe[Seen]] = []
    with ExitStack() as ends:
        for make in PROBES:  # one after the other: what a probe holds is let go of where a later one fails
            if (probe := make(scene)) is not None:
                probe.start()
                ends.callback(probe.stop)
                probes.append(probe)
        yield probes


# ---- from what was seen to windows ----


@dataclass(frozen=True)
class Loaded:
    """The load of one application, as it ran. name: of the generator's files in the application's folder."""

    app: Application
    asked: Load
    by: Generator
    name: str
    ran: Ran
    slices: list[Slice] | None = None
    """The slices of all variants, where they took turns."""

    @cached_property
    def left(self) -> tuple[Rows, Report]:
        """Rows and report of the generator. Raises TandemError where they cannot be read."""
        return self.by.read(self.app.folder, self.name)

    @property
    def told(self) -> ToolResult | None:
        """The summary of a generator that leaves no rows."""
        return None if self.ran.shares else self.left[1].told

    def together(
        self, label: str, trim_start_s: float, trim_end_s: float
    ) -> tuple[Rows, Report, list[GeneratorShare]]:
        """The outcome of several generators: their rows merged, their counts summed, and the figures of each.
        Raises TandemError where nothing of any can be read."""
        each, reports = list[GeneratorShare](), list[Report]()

        def seen(part: RanShare, left: tuple[Rows, Report] | str) -> None:
            each.append(generators.share(part.share, part.late_s, left, trim_start_s, trim_end_s))
            if not isinstance(left, str):
                reports.append(left[1])

        own = [one for one in self.slices or [] if one.label == label]

        def woken(rows: Rows) -> float:
            return row_zero(rows.end_s, own)[0]

        rows = collected(self.app.folder, self.by, self.ran, seen, woken if own else None)
        if not reports:
            raise TandemError(f"no load generator left rows: {each[0].problem}")
        return rows, summed(reports), each

    @property
    def seconds(self) -> float:
        """Length of the load. A load without rows is as long as it ran: not every generator is told a time."""
        return self.asked.duration_s if self.told is None else self.ran.ended_s - self.ran.began_s


def windows(spec: WindowSpec, loads: dict[str, Loaded], probes: Sequence[Probe[Seen]]) -> dict[str, Window]:
    """The judged windows of loads that ran in the same seconds, by label. Raises TandemError where a generator's files
    cannot be read."""
    return judged(
        {
            label: Unjudged(
                _window(spec, label, loaded, [probe.part(label) for probe in probes]),
                loaded.app.case.expected,
                loaded.app.case.concurrency,
                loaded.told,
            )
            for label, loaded in loads.items()
        }
    )


def _lengths(answers: Answers) -> set[int] | None:
    """Lengths of right answers in bytes; None: any."""
    return None if answers.ignored else answers.lengths()


def _window(spec: WindowSpec, label: str, loaded: Loaded, seen: Sequence[Seen]) -> Window:
    app, case = loaded.app, loaded.app.case
    scale = loaded.seconds / loaded.asked.duration_s
    trims = spec.trim_start_s * scale, spec.trim_end_s * scale
    rows, report, each = loaded.together(label, *trims) if loaded.ran.shares else (*loaded.left, [])
    own = OwnSlices.of(label, loaded.slices, rows.end_s) if loaded.slices else None
    began_s = own.zero_s if own else loaded.ran.began_s
    conditions = WindowConditions(
        load=spec.load,
        duration_s=own.ran_s if own else loaded.seconds,
        connections=loaded.asked.connections,
        rate_rps=loaded.asked.rate_rps,
        trim_start_s=trims[0],
        trim_end_s=trims[1],
        keys=case.answers.keys(),
        chosen=RANDOM in case.scenario.statements,
        timeout_s=float(case.scenario.patience_s),
        cpusets={role: service.cpuset for role, service in app.services.items()},
        arrivals=spec.arrivals.process if spec.arrivals and spec.load == "open" else None,
        classes=[
            ClassConditions(
                one.scenario.name, one.scenario.weight, one.scenario.status, _lengths(one.answers)
            )
            for one in case.classes
        ],
        host_cpus=app.stack.sites.machines.cpus,
    )
    return window(
        Measured(rows, report, began_s, seen, own, app.idle_cores if own else None, each), conditions
    )
