"""The real laboratory: what a visit needs, done with containers, the generator and the probes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import httpx
import psycopg

from tandem.catalog.placement import cpus_in
from tandem.errors import TandemError
from tandem.hosts import HERE
from tandem.hosts.host import Psrecord
from tandem.judge import judge
from tandem.lab.stack import Service, Stack
from tandem.lab.waiting import NotReadyError, await_health, settle
from tandem.load import generator
from tandem.load.client import BEFORE_LOAD, Client, Look
from tandem.load.idle import IdleConnections
from tandem.load.rows import answers_per_second, read_rows
from tandem.old.cell import Cell
from tandem.old.drive import run_load, send
from tandem.old.observe import Observed, Observer, judged
from tandem.probes.app_pool import AppPool
from tandem.probes.haproxy import HAProxy, point
from tandem.probes.pgbouncer import PgBouncer
from tandem.probes.postgres import Postgres
from tandem.probes.round_trip import RoundTrip
from tandem.probes.sampler import Prober, Sample
from tandem.probes.toxiproxy import Toxiproxy
from tandem.probes.watch import Watch
from tandem.record.window import Finding, Window

ADMIN_PASSWORD = "tandem"
READY_S = 60
GRACE_S = 12
ROLES = ("app", "proxy", "pgbouncer", "db", "loadgen")


@dataclass
class BenchLab:
    """One trial's laboratory.

    stack: up, but for the application. folder: where the trial's raw files go. seen: told about every sample
    while a window runs.
    """

    stack: Stack
    cell: Cell
    folder: Path
    seen: Callable[[Sample, Sample], None]
    offered: Callable[[float | None], None]
    began_s: float | None = None
    """time.time() when the last window's load began."""
    warm_up_took_s: float = 0.0
    """How long the last warm-up lasted, its last answers included."""
    load_generator: generator.Generator = generator.OHA
    """What makes the load of the windows; the warm-up is always oha's."""
    _app: Service | None = None
    _services: dict[str, Service] = field(default_factory=dict)
    _client: Client | None = None
    _idle: IdleConnections | None = None
    _postgres: Postgres | None = None
    _psrecord: Psrecord | None = None

    # ---- phases, in their order ----

    def start(self) -> None:
        self.stack.stop("app", grace_s=1)
        self.stack.execute("db", ["reset"])
        self.delay_database()
        self.launch()

    def delay_database(self) -> None:
        """Where a distance to the database is asked for: sets the latency proxy to it, which closes what goes through it."""
        if self.cell.db_rtt_ms is not None:
            proxy = Toxiproxy(self.stack.service("faults").address)
            proxy.delay(self.cell.database_address, self.cell.db_rtt_ms)

    def launch(self) -> None:
        """A fresh container of the application, the database left as it is."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.stack.start(["app"])

    def wait_ready(self) -> None:
        self._app = self.stack.service("app")
        self._answers(f"{self._app.address}:8080")
        roles = ROLES if self.cell.db_rtt_ms is None else (*ROLES, "faults")
        self._services = {role: self.stack.service(role) for role in roles}
        self.select()
        self.ask_for(self.cell, self.cell.load_address)
        self._answers(self._reach(self.cell.load_address))
        self._postgres = Postgres(self._services["db"].address, ADMIN_PASSWORD, self.cell.queries)
        if self.stack.slot is None:
            self._psrecord = HERE.psrecord(self._app.pid, self.folder / "psrecord.log")

    def select(self) -> None:
        """Where several applications are up: makes HAProxy ask this one."""
        if self.stack.slot and self.cell.proxied:
            assert self._app is not None
            point(self._services["proxy"].address, self._app.address)

    def ask_for(self, cell: Cell, load_address: str) -> None:
        """Makes `cell` what is asked from now on, at service:port."""
        self.cell = cell
        if self._client is not None:
            self._client.close()
        self._client = Client(cell.scenario, cell.answers, self._reach(load_address))

    def bare_status(self) -> int:
        """What one request of the scenario is answered with, right or wrong."""
        assert self._client is not None
        return self._client.status()

    def verify(self, look: Look = BEFORE_LOAD) -> list[Finding]:
        """Sends what the scenario wants sent before, then some requests: bodies and statements must be right."""
        assert self._client is not None
        assert self._postgres is not None
        self._client.prepare()
        self._hold_idle()
        self._postgres.reset_statements()
        seen = self._client.look(look)
        wrong, asked = [answer for answer in seen if answer is not None], len(seen)
        if wrong:
            text = f"{len(wrong)} of {asked} answers before the load were not right: {wrong[0].text}"
            return [Finding(code="wrong-body", severity="invalid", text=text)]
        return judge.statements(
            self._postgres.statements(), self.cell.expected, asked, slack=BEFORE_LOAD.most // 2
        )

    def warm_up(self, duration_s: int) -> list[int]:
        self._send_and_run("warm-up", self._load(duration_s, None), generator.OHA)
        rows = read_rows(self.folder / "warm-up.sqlite")
        self.warm_up_took_s = max(float(duration_s), float(rows.end_s.max()) if len(rows) else 0.0)
        for suffix in generator.OHA.suffixes:
            (self.folder / f"warm-up.{suffix}").unlink(missing_ok=True)
        return answers_per_second(rows)

    def measure(
        self, load: Literal["closed", "open"], duration_s: int, rate_rps: int | None, settled: bool = True
    ) -> Window:
        """settled=False: begins at once, without waiting for a quiet host."""
        if settled:
            settle(HERE)
        asked = self.load(duration_s, rate_rps)
        (prober,) = probers = [self.prober()]
        try:
            began_s, seen = self.observer(probers).during(
                lambda: self._send_and_run(load, asked, self.load_generator)
            )
        except (OSError, KeyError, httpx.HTTPError, psycopg.Error) as error:
            raise TandemError(f"the {load} window broke: {error}\n{self._app_log()}") from None
        self.began_s = began_s
        return self.judged(load, asked, began_s, seen, prober)

    def load(self, duration_s: int, rate_rps: int | None) -> generator.Load:
        """What the generator will be told."""
        self.offered(rate_rps)
        return self._load(duration_s, rate_rps)

    def prober(self) -> Prober:
        assert self._client is not None
        return Prober(self._client.ask)

    def observer(self, probers: Sequence[Prober], beside: dict[str, "BenchLab"] | None = None) -> Observer:
        """What watches a window. beside: further applications that are loaded at the same time, by the name of their role."""
        assert self._postgres is not None
        labs: dict[str, BenchLab] = {"app": self, **(beside or {})}
        services = {**self._services, **{role: lab.app for role, lab in labs.items()}}
        groups = {role: HERE.cgroup(service.pid) for role, service in services.items()}
        groups["harness"] = HERE.harness_cgroup()
        return Observer(
            groups=groups,
            apps=list(labs),
            proxy=HAProxy(self._services["proxy"].address) if self.cell.proxied else None,
            pooler=PgBouncer(self._services["pgbouncer"].address, ADMIN_PASSWORD) if self._pooled else None,
            postgres=self._postgres,
            probers=probers,
            watch=Watch(HERE, self.app.pid, *(self._services[r].cpuset for r in ("app", "loadgen"))),
            trip=self._round_trip(),
            stored_in=self.cell.scenario.answer.created,
            seen=self.seen,
            lock_waits=self._postgres.lock_waits if self.cell.scenario.statements else None,
            app_pools={role: AppPool(lab.app.address) for role, lab in labs.items() if lab.cell.pool_tells},
        )

    def judged(
        self,
        load: Literal["closed", "open"],
        asked: generator.Load,
        began_s: float,
        seen: Observed,
        prober: Prober,
        name: str | None = None,
        expected: judge.Expectation | None = None,
    ) -> Window:
        """The window of a load that has run. name: of its files, default `load`; expected: default the scenario's."""
        return judged(
            self.cell,
            {role: service.cpuset for role, service in self._services.items()},
            self.load_generator.read(self.folder, name or load),
            (load, asked, began_s),
            seen,
            prober,
            self._idle.established() if self._idle else None,
            expected,
        )

    def drain(self) -> None:
        """The generator waits for what is in flight (-w), so nothing is left; the application rests a moment."""
        settle(HERE)

    def collect(self) -> None:
        self.release_idle()
        if self._client is not None:
            self._client.close()
        if self._postgres is not None:
            self._postgres.forget()
        if self._app is not None:
            (self.folder / "app.log").write_text(self.stack.log("app", lines=10_000) + "\n")

    def stop(self) -> list[Finding]:
        status = self.stack.stop("app", grace_s=GRACE_S)
        if self._psrecord is not None:
            self._psrecord.stop()
        if status not in (0, None):
            text = f"the application ended with status {status} on SIGTERM (137: it had to be killed after {GRACE_S} s)"
            return [Finding(code="unclean-stop", severity="warning", text=text)]
        return []

    # ---- parts of phases ----

    @property
    def app(self) -> Service:
        """The application's container; there is one since `wait_ready`."""
        assert self._app is not None
        return self._app

    @property
    def _pooled(self) -> bool:
        return self.cell.database_address.startswith("pgbouncer")

    def _round_trip(self) -> RoundTrip | None:
        if self.cell.db_rtt_ms is None:
            return None
        return RoundTrip(self._services["faults"].address, ADMIN_PASSWORD, self.cell.db_rtt_ms)

    def _reach(self, address: str) -> str:
        """service:port as the harness, which is outside the stack's network, can reach it."""
        service, _, port = address.partition(":")
        return f"{self._services[service].address}:{port}"

    def _target(self) -> str:
        """service:port as the generator reaches it."""
        address = self.cell.load_address
        if self.stack.slot and address.startswith("app:"):
            return address.replace("app:", f"{self.stack.project}-{self.stack.slot}:", 1)
        return address

    def _app_log(self) -> str:
        return f"end of the application's log:\n{self.stack.log('app')}"

    def _hold_idle(self) -> None:
        wanted = self.cell.scenario.idle_connections
        if wanted and self._idle is None:
            loadgen, (host, _, _) = self._services["loadgen"], self.cell.load_address.partition(":")
            self._idle = IdleConnections(HERE, loadgen.id, loadgen.pid, host, wanted, self.cell.scenario.path)

    def release_idle(self) -> None:
        """Closes the silent connections, if the scenario has any."""
        if self._idle is not None:
            self._idle.release()
            self._idle = None

    def _answers(self, address: str) -> None:
        try:
            await_health(address, READY_S, lambda: self.stack.service("app"))
        except NotReadyError as error:
            raise TandemError(f"{error}\n{self._app_log()}") from None

    def _load(self, duration_s: int, rate_rps: int | None) -> generator.Load:
        assert self._client is not None
        threads = cpus_in(self._services["loadgen"].cpuset) or 1
        return self._client.load(self._target(), threads, duration_s, rate_rps)

    def send(self, name: str, load: generator.Load, by: generator.Generator) -> None:
        """Gives the generator what it reads; name: of the load's files."""
        body = self.cell.scenario.body
        send(self.stack, self.folder, name, load, by, body.bytes() if body else None)

    def run(self, name: str, load: generator.Load, by: generator.Generator) -> float:
        """Runs a load whose files were sent; returns when it began (time.time())."""
        return run_load(self.stack, self.folder, name, load, by)

    def _send_and_run(self, name: str, load: generator.Load, by: generator.Generator) -> float:
        self.send(name, load, by)
        return self.run(name, load, by)
