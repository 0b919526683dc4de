"""The real laboratory: what a visit needs, done with containers, the generator and the probes."""

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import httpx
import psycopg

from tandem import generator, judge
from tandem.catalog import Implementation, Plan, Scenario
from tandem.errors import TandemError
from tandem.golden import Golden
from tandem.measure import Conditions, Measured, window
from tandem.placement import cpus_in
from tandem.probes.cgroup import Cgroup
from tandem.probes.haproxy import HAProxy
from tandem.probes.host import TICKS_PER_S, read_cpu
from tandem.probes.pgbouncer import PgBouncer
from tandem.probes.postgres import Postgres
from tandem.probes.psrecord import Psrecord
from tandem.record import Finding, Window
from tandem.rows import read_rows
from tandem.sampler import Prober, Sample, Sampler, Wrong
from tandem.stack import Service, Stack

ADMIN_PASSWORD = "tandem"
READY_S = 60
VERIFY_RANDOM = 10
GRACE_S = 12
SETTLE_S, SETTLE_CAP_S, SETTLE_BUSY = 0.5, 5.0, 0.10
ROLES = ("app", "proxy", "pgbouncer", "db", "loadgen")
OPEN_CONNECTIONS_FACTOR = 4
"""An open loop has this many times the connections, so that waiting answers do not hold sends back."""


@dataclass
class Cell:
    """What a visit is about."""

    implementation: Implementation
    scenario: Scenario
    plan: Plan
    workers: int
    db_pool_usable: int | None
    load_address: str
    proxied: bool
    golden: Golden
    queries: dict[str, str]


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
    _app: Service | None = None
    _services: dict[str, Service] = field(default_factory=dict)
    _client: httpx.Client | None = None
    _postgres: Postgres | None = None
    _psrecord: Psrecord | None = None

    # ---- phases, in their order ----

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.stack.stop("app", grace_s=1)
        self.stack.execute("db", ["reset"])
        self.stack.start(["app"])

    def wait_ready(self) -> None:
        self._app = self.stack.service("app")
        self._await(f"http://{self._app.address}:8080/healthz")
        self._services = {role: self.stack.service(role) for role in ROLES}
        front = self._services["proxy" if self.cell.proxied else "app"].address
        self._await(f"http://{front}:8080/healthz")
        headers = {} if self.cell.scenario.session_user is None else {"Cookie": self._cookie()}
        self._client = httpx.Client(
            base_url=f"http://{front}:8080", headers=headers, timeout=generator.TIMEOUT_S
        )
        self._postgres = Postgres(self._services["db"].address, ADMIN_PASSWORD, self.cell.queries)
        self._psrecord = Psrecord(self._app.pid, self.folder / "psrecord.log")

    def verify(self) -> list[Finding]:
        ids = self.cell.scenario.expanded_ids
        paths = [self._path(i) for i in ids[:: max(1, len(ids) // VERIFY_RANDOM)]] or [
            self._path()
        ] * VERIFY_RANDOM
        wrong = [answer for answer in map(self._ask, paths) if answer is not None]
        if not wrong:
            return []
        text = f"{len(wrong)} of {len(paths)} answers before the load were not right: {wrong[0].text}"
        return [Finding(code="wrong-body", severity="invalid", text=text)]

    def warm_up(self, duration_s: int) -> int:
        self._run("warm-up", self._load(duration_s, None))
        report = generator.read_report(self.folder / "warm-up.json")
        for suffix in ("json", "sqlite"):
            (self.folder / f"warm-up.{suffix}").unlink(missing_ok=True)
        return report.answered

    def measure(self, load: Literal["closed", "open"], duration_s: int, rate_rps: int | None) -> Window:
        self._settle()
        self.offered(rate_rps)
        assert self._app is not None
        assert self._postgres is not None
        groups = {role: Cgroup(service.pid) for role, service in self._services.items()}
        groups["harness"] = Cgroup(os.getpid())  # the host's PID namespace: its own PID is the host's
        proxy = HAProxy(self._services["proxy"].address) if self.cell.proxied else None
        pooler = PgBouncer(self._services["pgbouncer"].address, ADMIN_PASSWORD) if self._pooled else None
        sampler = Sampler(groups, proxy, pooler, self.seen)
        numbers = iter(range(10**9))
        ids = self.cell.scenario.expanded_ids
        prober = Prober(lambda: self._ask(self._path(ids[next(numbers) % len(ids)] if ids else None)))
        try:
            self._postgres.reset_statements()
            sampler.start()
            threads_before = groups["app"].thread_cpu_s(TICKS_PER_S)
            prober.start()
            try:
                asked = self._load(duration_s, rate_rps)
                began_s = self._run(load, asked)
            finally:
                prober.stop()
                series = sampler.stop()
            threads_after = groups["app"].thread_cpu_s(TICKS_PER_S)
            statements = self._postgres.statements()
        except (OSError, KeyError, httpx.HTTPError, psycopg.Error) as error:
            raise TandemError(f"the {load} window broke: {error}\n{self._app_log()}") from None
        finally:
            if proxy:
                proxy.close()
            if pooler:
                pooler.close()
        measured = Measured(
            rows=read_rows(self.folder / f"{load}.sqlite"),
            report=generator.read_report(self.folder / f"{load}.json"),
            began_s=began_s,
            series=series,
            busiest_thread_s=max(
                (s - threads_before.get(t, 0.0) for t, s in threads_after.items()), default=None
            ),
            statements=statements,
            probes=prober.asked,
            probes_refused=[wrong.text for wrong in prober.wrong if not wrong.body],
            probe_failures=[wrong.text for wrong in prober.wrong if wrong.body],
        )
        conditions = Conditions(
            load=load,
            duration_s=duration_s,
            connections=asked.connections,
            rate_rps=rate_rps,
            trim_start_s=self.cell.plan.trim_start_s,
            trim_end_s=self.cell.plan.trim_end_s,
            lengths=self.cell.golden.lengths(ids or None),
            cpusets={role: service.cpuset for role, service in self._services.items()},
            host_cpus=os.cpu_count() or 1,
        )
        result = window(measured, conditions)
        expected = judge.Expectation(self.cell.scenario.statements, self.cell.proxied)
        result.findings = judge.gates(result, expected)
        result.verdict = judge.verdict(result.findings)
        result.bottleneck, result.evidence = judge.bottleneck(result, self.cell.db_pool_usable)
        return result

    def drain(self) -> None:
        """The generator waits for what is in flight (-w), so nothing is left; the application rests a moment."""
        self._settle()

    def collect(self) -> None:
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
    def _pooled(self) -> bool:
        return self.stack.variables["DATABASE_ADDRESS"].startswith("pgbouncer")

    def _cookie(self) -> str:
        key = hashlib.md5(
            f"session {self.cell.scenario.session_user}".encode(), usedforsecurity=False
        ).hexdigest()
        return f"sessionid={key}"

    def _path(self, recipe: int | None = None) -> str:
        return self.cell.scenario.path.replace("{id}", str(recipe))

    def _app_log(self) -> str:
        return f"end of the application's log:\n{self.stack.log('app')}"

    def _ask(self, path: str) -> Wrong | None:
        """Sends one request; returns what is wrong with the answer, or None."""
        assert self._client is not None
        try:
            answer = self._client.get(path)
        except httpx.HTTPError as error:
            return Wrong(f"{path}: {error!r}", body=False)
        if answer.status_code != 200:
            return Wrong(f"{path}: status {answer.status_code}: {answer.text[:80]}", body=False)
        different = self.cell.golden.difference(answer.content)
        return Wrong(f"{path}: {different}", body=True) if different else None

    def _await(self, url: str) -> None:
        deadline = time.monotonic() + READY_S
        last = "no answer"
        while time.monotonic() < deadline:
            try:
                status = httpx.get(url, timeout=2).status_code
                if status == 200:
                    return
                last = f"status {status}"
            except httpx.HTTPError as error:
                last = repr(error)
            self.stack.service("app")  # raises, with the log, if it has died
            time.sleep(0.05)
        raise TandemError(f"not ready after {READY_S} s: {url}: {last}\n{self._app_log()}")

    def _load(self, duration_s: int, rate_rps: int | None) -> generator.Load:
        scenario = self.cell.scenario
        base = f"http://{self.cell.load_address}"
        cpus = cpus_in(self._services["loadgen"].cpuset) or 1
        return generator.Load(
            url=base + self._path(),
            duration_s=duration_s,
            connections=scenario.connections * (OPEN_CONNECTIONS_FACTOR if rate_rps else 1),
            threads=cpus,
            headers={} if scenario.session_user is None else {"Cookie": self._cookie()},
            rate_rps=rate_rps,
            urls=[base + self._path(i) for i in scenario.expanded_ids] or None,
        )

    def _run(self, name: str, load: generator.Load) -> float:
        """Runs a load to its end and brings its files home; returns when it began (time.time())."""
        if load.urls is not None:
            urls = self.folder / f"{name}.urls"
            urls.write_text("\n".join(load.urls) + "\n")
            self.stack.copy_in("loadgen", urls, f"{generator.FOLDER}/{name}.urls")
        script = (
            f'rm -f {generator.FOLDER}/{name}.json {generator.FOLDER}/{name}.sqlite; date +%s.%N; exec "$@"'
        )
        said = self.stack.execute("loadgen", ["sh", "-c", script, "sh", *generator.arguments(load, name)])
        for suffix in ("json", "sqlite"):
            self.stack.copy_out(
                "loadgen", f"{generator.FOLDER}/{name}.{suffix}", self.folder / f"{name}.{suffix}"
            )
        return float(said.split()[0])

    def _settle(self) -> None:
        """Waits until the host is quiet, a few seconds at the most."""
        deadline = time.monotonic() + SETTLE_CAP_S
        while time.monotonic() < deadline:
            before = read_cpu()
            time.sleep(SETTLE_S)
            now = read_cpu().since(before)
            if now.busy_s / SETTLE_S < SETTLE_BUSY:
                return
