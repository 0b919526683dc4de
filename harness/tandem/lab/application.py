"""One running application: started, asked, loaded and ended, with containers and the generator."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tandem.catalog.placement import cpus_in
from tandem.errors import TandemError
from tandem.hosts.host import Psrecord
from tandem.judge import judge
from tandem.lab.case import VisitCase
from tandem.lab.generator_runs import Ran, collected, run_load, run_shares, send
from tandem.lab.prepare import Prepared
from tandem.lab.readiness import NotReadyError, await_health
from tandem.lab.sites import APP, FAULTS
from tandem.lab.stack import Service, Stack
from tandem.load.client import BEFORE_LOAD, Client, Look
from tandem.load.generator import OHA, Generator, Load
from tandem.load.idle import IdleConnections, second_answer
from tandem.load.rows import Rows, answers_per_second
from tandem.load.shares import deal, roles
from tandem.load.vegeta import VEGETA
from tandem.probes.haproxy import FRONTS, PLAIN, Front, admit, point, slot_port
from tandem.probes.postgres import ADMIN_PASSWORD, Postgres
from tandem.record.window import Finding

IDLE_S = 1.0
"""Length of the rest in which an application's idle rate is read."""
GRACE_S = 12
ROLES = (APP, "proxy", "pgbouncer", "db", "loadgen")


@dataclass
class Application:
    """A fresh start of one variant. folder: where its raw files go."""

    prepared: Prepared
    folder: Path
    case: VisitCase = field(init=False)
    """The case that it is asked for now; a window may lay changes over the scenario."""
    rest_bytes: int | None = field(init=False, default=None)
    """Memory after its first answer."""
    first_answer_s: float | None = field(init=False, default=None)
    """Seconds from the start of its container to its first answer, asked without HAProxy."""
    first_right_s: float | None = field(init=False, default=None)
    """Seconds from its container's start to its case's first right answer on the whole path; None: the first was wrong."""
    idle_cores: float | None = field(init=False, default=None)
    """Cores that it used before any load, while nobody asked for anything; None: not looked at."""
    warm_rps: float | None = field(init=False, default=None)
    """Answers per second in the last part of its warm-up."""
    services: dict[str, Service] = field(init=False, default_factory=dict)
    _clients: list[Client] = field(init=False, default_factory=list)
    """Clients, one for each class of requests."""
    _idle: IdleConnections | None = field(init=False, default=None)
    _postgres: Postgres | None = field(init=False, default=None)
    _psrecord: Psrecord | None = field(init=False, default=None)
    peaks: tuple[float, int] | None = field(init=False, default=None)
    """The most that psrecord saw, once this is stopped (tandem.hosts.host.Psrecord). None where it did not look."""

    def __post_init__(self) -> None:
        self.case = self.prepared.case

    @property
    def stack(self) -> Stack:
        return self.prepared.stack

    # ---- from its start to its first answer ----

    def launch(self) -> None:
        """A fresh container, the database left as it is."""
        self.folder.mkdir(parents=True, exist_ok=True)
        far = [] if self.case.db_rtt_ms is None else [FAULTS]
        others = [*ROLES[1:], *self.generators[1:], *far, *self.stack.beside]
        self.services = {role: self.stack.service(role) for role in others}
        self.stack.start([APP])

    def wait_ready(self) -> None:
        """Returns when it answers through the whole path. Raises TandemError, with its log, if it never does."""
        self.services = {APP: self.stack.service(APP), **self.services}
        self._answers(f"{self.app.address}:{self.stack.app_port}")
        self.first_answer_s = time.time() - self.app.started_s
        self.select()
        self.ask_for(self.case)
        self._answers(self._reach(self.case.load_address))
        self.rest_bytes = self.app.host.cgroup(self.app.pid).usage().memory_bytes
        if self.case.scenario.before is None and self.client.ask() is None:
            self.first_right_s = time.time() - self.app.started_s
        self._postgres = Postgres(self.services["db"].address, ADMIN_PASSWORD, self.case.queries)
        if self.stack.slot is None:
            self._psrecord = self.app.host.psrecord(self.app.pid, self.folder / "psrecord.log")

    @property
    def app(self) -> Service:
        """The application's container; there is one since `wait_ready`."""
        return self.services["app"]

    @property
    def postgres(self) -> Postgres:
        """The administrator's connection to the database; there is one since `wait_ready`."""
        assert self._postgres is not None
        return self._postgres

    @property
    def client(self) -> Client:
        """Asks for what the case asks for, of a mix for its own class; there is one since `wait_ready`."""
        return self._clients[0]

    @property
    def idle_established(self) -> int | None:
        """Silent connections that are open; None where the scenario has none."""
        return self._idle.established() if self._idle else None

    def silent_answers(self, number: int) -> list[bool] | None:
        """Whether silent connections that ask once more get the right answer, so many; closes all. None without any."""
        if self._idle is None:
            return None
        each = [second_answer(stream) for stream in self._idle.speak(number)]
        status, answers = self.case.scenario.status, self.case.answers
        return [code == status and answers.difference(body) is None for code, body in each]

    def select(self) -> None:
        """Make HAProxy ask this application, where several are up, and let in what the case says."""
        if self.case.proxied:
            proxy, slot = self.services["proxy"].address, self.stack.slot
            if slot:
                point(proxy, slot, *self.stack.app_seen_by("proxy", self.app))
            admit(proxy, slot, self.case.admitted)

    def ask_for(self, case: VisitCase) -> None:
        """Makes `case` what is asked from now on."""
        self.case = case
        for one in self._clients:
            one.close()
        reached = self._reach(case.load_address), self._target()
        self._clients = [Client(one.scenario, one.answers, *reached) for one in case.classes]

    # ---- before the load ----

    def verify(self, look: Look = BEFORE_LOAD) -> list[Finding]:
        """Sends what the scenario wants sent before, then some requests: bodies and statements must be right."""
        self.client.prepare()
        parts, found = list[judge.AnsweredRequests](), list[Finding]()
        if self.case.scenario.idle_connections and self._idle is None:
            self._idle = self.idle_connections()
        self.postgres.reset_statements()
        for client, case in zip(self._clients, self.case.classes, strict=True):
            seen = client.look(look)
            wrong, asked = [answer for answer in seen if answer is not None], len(seen)
            if wrong:
                text = f"{len(wrong)} of {asked} answers before the load were wrong: {wrong[0].text}"
                found.append(Finding.of("wrong-body", "invalid", text))
            parts.append(judge.AnsweredRequests(case.expected, asked))
        return found or judge.statements(self.postgres.statements(), parts, slack=BEFORE_LOAD.most // 2)

    def idle(self) -> float:
        """Rests for IDLE_S; returns what it uses meanwhile, in cores."""
        group = self.app.host.cgroup(self.app.pid)
        before_s, began_s = group.usage().cpu_s, time.monotonic()
        time.sleep(IDLE_S)
        used_s = group.usage().cpu_s - before_s
        self.idle_cores = used_s / (time.monotonic() - began_s)
        return self.idle_cores

    def warm_up(self, duration_s: int) -> list[int]:
        """Runs the closed load for so long; returns the answers of each second, late ones behind them."""
        seconds = answers_per_second(self.unrecorded("warm-up", duration_s)[0])
        self.warm_rps = sum(seconds) / duration_s
        return seconds

    def unrecorded(self, name: str, duration_s: int) -> tuple[Rows, float]:
        """Runs the closed load, and keeps no file of it. Returns its rows, and when it began (time.time())."""
        by: Generator = VEGETA if self.case.scenario.scheduled else OHA
        self.send(name, load := self.load(duration_s, None), by)
        ran = self.run(name, load, by)
        several = collected(self.folder, by, ran, lambda part, left: None) if ran.shares else None
        rows = by.read(self.folder, name)[0] if several is None else several
        for own in self.names(name):
            for suffix in (*by.suffixes, *by.inputs(load, own)):
                (self.folder / f"{own}.{suffix}").unlink(missing_ok=True)
        return rows, ran.began_s

    @property
    def generators(self) -> list[str]:
        """The services that share its loads."""
        return roles(self.case.generators)

    # ---- the load ----

    def load(self, duration_s: int, rate_rps: int | None) -> Load:
        """The load that the generator gets."""
        threads = cpus_in(self.services["loadgen"].cpuset) or 1
        url = f"{'https' if self.encrypted else 'http'}://{self._target()}"
        own, *beside = [one.load(url, threads, duration_s, rate_rps) for one in self._clients]
        return replace(own, beside=tuple(beside), http2=bool(self.front and self.front.http2))

    @property
    def front(self) -> Front | None:
        """The way into HAProxy that the generator takes; None: it asks something else."""
        return FRONTS.get(self.case.load_address)

    def names(self, name: str) -> list[str]:
        """Names of the files of each generator."""
        own = [f"{name}-g{number}" for number in range(1, self.case.generators + 1)]
        return own if len(own) > 1 else [name]

    def send(self, name: str, load: Load, by: Generator) -> None:
        """Gives the generators what they read; name: of the load's files. Raises TandemError."""
        for own, share in zip(self.names(name), deal(load, by, len(self.generators)), strict=True):
            send(self.stack, self.services[share.role].id, self.folder, own, share.load, by, share.role)

    def run(self, name: str, load: Load, by: Generator, before: Sequence[str] = ()) -> Ran:
        """Runs a load whose files were sent, to its end. before: of the generators' commands. Raises TandemError."""
        if len(self.generators) == 1:
            return run_load(self.stack, self.folder, name, load, by, before)
        shares = dict(zip(self.names(name), deal(load, by, len(self.generators)), strict=True))
        return run_shares(self.stack, self.folder, shares, by, before)

    def log_end(self) -> str:
        """The end of its log, for an error."""
        return f"end of the application's log:\n{self.stack.log('app')}"

    # ---- its end ----

    def release_idle(self) -> None:
        """Closes the silent connections, if the scenario has any."""
        if self._idle is not None:
            self._idle.release()
            self._idle = None

    def collect(self) -> None:
        """Lets go of what it was asked through."""
        self.release_idle()
        for one in self._clients:
            one.close()
        if self._postgres is not None:
            self._postgres.forget()

    def stop(self) -> list[Finding]:
        """Ends it the way production does, brings its log home, and removes it."""
        try:
            status = self.stack.stop("app", grace_s=GRACE_S, log=self.folder / "app.log")
        finally:
            if self._psrecord is not None:
                self.peaks = self._psrecord.stop()
        if status not in (0, None):
            text = f"the application ended with status {status} on SIGTERM (137: it had to be killed after {GRACE_S} s)"
            return [Finding.of("unclean-stop", "warning", text)]
        return []

    # ---- parts ----

    @property
    def encrypted(self) -> bool:
        """Whether nobody can read what the generator is sent."""
        return self.front is not None and self.front.encrypted

    @property
    def asked_at(self) -> str:
        """address:port that answers the generator, as it is on the wire where that can be read: at the generator, and with TLS at
        HAProxy, which asks in plain text."""
        if self.encrypted:
            return "{}:{}".format(*self.stack.app_seen_by("proxy", self.app))
        service, port = self.case.load_address.partition(":")[0], self._target().partition(":")[2]
        if service == APP:
            return "{}:{}".format(*self.stack.app_seen_by("loadgen", self.app))
        return f"{self.stack.seen_by('loadgen', self.services[service], service)}:{port}"

    @property
    def seen_by_the_database(self) -> set[str]:
        """The application's addresses there and at the pooler; none where nobody knows whether they are its own: what
        leaves a host has the host's address, whichever container it comes from."""
        known = {other: self.stack.seen_by(other, self.app, APP) for other in ("db", "pgbouncer")}
        elsewhere = {address for address in known.values() if address not in self.app.networks.values()}
        pooler = self.services["pgbouncer"]
        shared = self.stack.seen_by("db", pooler, "pgbouncer") in elsewhere
        several = bool(self.stack.slot and elsewhere)
        return set() if shared or several else set(known.values())

    def _reach(self, address: str) -> str:
        """service:port as the harness, which is outside the stack's network, can reach it."""
        if address in FRONTS:
            address = f"proxy:{slot_port(self.stack.slot)}" if self.stack.slot else PLAIN
        service, _, port = address.partition(":")
        return f"{self.services[service].address}:{self.stack.app_port if service == APP else port}"

    def _target(self) -> str:
        """service:port as the generator reaches it. Where several are up: its own port of HAProxy, its own
        container's name, or its own port of another host."""
        address, slot = self.case.load_address, self.stack.slot
        if address.startswith(f"{APP}:"):
            host, port = self.stack.app_seen_by("loadgen", self.app)
            if host not in self.app.networks.values():
                return f"{host}:{port}"
            return f"{self.stack.project}-{slot}:{port}" if slot else f"{APP}:{port}"
        return f"proxy:{slot_port(slot, address)}" if slot and address in FRONTS else address

    def idle_connections(self) -> IdleConnections:
        """Opens the silent connections of the scenario that it is asked for."""
        loadgen, scenario = self.services["loadgen"], self.case.scenario
        return IdleConnections(
            *(loadgen.host, loadgen.id, loadgen.pid, self._target()),
            *(scenario.idle_connections, scenario.path, self.stack.command("loadgen")),
        )

    def _answers(self, address: str) -> None:
        alive: Callable[[], object] = lambda: self.stack.service("app")  # noqa: E731
        try:
            await_health(address, alive, *self.case.ready)
        except NotReadyError as error:
            raise TandemError(f"{error}\n{self.log_end()}") from None
