"""What a visit needs done, on real containers: a floor for applications, and one for pgbench in an application's place."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from threading import Event

import httpx
import psycopg

from tandem.errors import TandemError
from tandem.judge.judge import host_findings, verdict
from tandem.judge.measure import unloaded
from tandem.lab.application import Application
from tandem.lab.challenge import challenge
from tandem.lab.generator_runs import Ran
from tandem.lab.live import View
from tandem.lab.observe import Counters, Loaded, Scene, watched, windows
from tandem.lab.pgbench import transactions, window_of
from tandem.lab.prepare import changed
from tandem.lab.readiness import settle
from tandem.lab.sites import FAULTS
from tandem.lab.slices import in_slices, turns_of, until_the_end
from tandem.lab.stack import Stack
from tandem.load.generator import Generator, Load
from tandem.load.generators import GENERATORS
from tandem.probes.toxiproxy import Toxiproxy
from tandem.record.trial import Arrivals, Challenge, WindowRecord, WindowSpec
from tandem.record.window import Finding

SILENT = "silent"
"""Name in WindowSpec.generator of what opens the scenario's `idle_connections` and sends nothing."""
AWAKE_S = 0.2
"""A thawed application gets so long to read what came in while it was frozen."""


@dataclass
class ContainerFloor:
    """The floor of a visit of applications. apps: by label; more than one are up side by side."""

    apps: dict[str, Application]
    view: View
    services_as: Callable[[Stack], None] | None = None
    """Makes the shared services run with the variables of this stack. Side by side, that is the first's."""
    beginning: Callable[[], None] | None = None
    """Called right before each load, those of a warm-up among them; must not wait. The self-test arms its servers so."""

    @property
    def _first(self) -> Application:
        return next(iter(self.apps.values()))

    @property
    def _several(self) -> bool:
        return len(self.apps) > 1

    def reset(self) -> None:
        self._first.stack.sites.look_at_clocks()
        self._first.stack.stop("app", grace_s=1)
        if self.services_as is not None:
            self.services_as(self._first.stack)
        self._first.stack.execute("db", ["reset"])
        case = self._first.case
        if case.db_rtt_ms is not None:
            proxy = Toxiproxy(self._first.stack.service(FAULTS).address)
            proxy.delay(case.database_address, case.db_rtt_ms)

    def workers(self, label: str) -> int:
        return self.apps[label].case.workers

    def launch(self, label: str) -> None:
        self.apps[label].launch()

    def wait_ready(self, label: str) -> None:
        self.apps[label].wait_ready()

    def verify(self, label: str) -> list[Finding]:
        return self.apps[label].verify()

    def idle(self, label: str) -> float | None:
        return self.apps[label].idle()

    def warm_up(self, label: str, duration_s: int) -> list[int]:
        if self.beginning is not None:
            self.beginning()
        return self.apps[label].warm_up(duration_s)

    def rest(self, labels: Sequence[str]) -> None:
        if self._several:
            for label in labels:
                self.apps[label].stack.pause()

    def wake(self, labels: Sequence[str]) -> None:
        if self._several:
            for label in labels:
                self.apps[label].stack.unpause()
            time.sleep(AWAKE_S)

    def measure(self, spec: WindowSpec) -> WindowRecord:
        """Runs one window and judges it. Raises TandemError if it breaks."""
        if spec.settled:
            settle(self._first.stack.sites.machines)
        apps = {label: self.apps[label] for label in spec.variants}
        cases = {label: app.case for label, app in apps.items()}
        try:
            for app in apps.values():
                self._point(app, spec)
            if spec.generator == SILENT:
                return silent_window(apps[spec.variants[0]], spec)
            return self._measured(spec, apps)
        except (OSError, KeyError, httpx.HTTPError, psycopg.Error) as error:
            logs = "\n".join(app.log_end() for app in apps.values())
            raise TandemError(f"the window {spec.name} failed: {error}\n{logs}") from None
        finally:
            for label, app in apps.items():
                app.ask_for(cases[label])

    def _point(self, app: Application, spec: WindowSpec) -> None:
        """Makes the application be asked for what the window says."""
        if not spec.scenario_changes and spec.address is None:
            return
        address = spec.address or app.case.load_address
        case = replace(
            app.case,
            scenario=changed(app.case.scenario, spec.scenario_changes),
            load_address=address,
            proxied=address.startswith("proxy") and app.case.proxied,
        )
        app.ask_for(case)

    def _measured(self, spec: WindowSpec, apps: dict[str, Application]) -> WindowRecord:
        by = GENERATORS[spec.generator]
        names = {
            label: spec.name if len(apps) == 1 else f"{spec.name}-{number}"
            for number, label in enumerate(apps, start=1)
        }
        arrivals = spec.arrivals or Arrivals()
        loads = {
            label: replace(
                app.load(spec.seconds, spec.rates_rps.get(label)),
                options=spec.generator_options,
                arrivals=arrivals,
            )
            for label, app in apps.items()
        }
        self.view.offered(sum(spec.rates_rps.values()) or None)
        for label, app in apps.items():
            app.send(names[label], loads[label], by)
        turns, slices = turns_of(spec), None
        if turns:
            loads = {label: until_the_end(load, spec, turns.index(label)) for label, load in loads.items()}
        scene = Scene(apps, self.view.sample, spec.seconds, in_slices=bool(turns))
        with watched(scene) as probes, self._freezing(spec) as frozen_s:
            if self.beginning is not None:
                self.beginning()
            each = {label: (app, names[label], loads[label]) for label, app in apps.items()}
            if spec.slices is None:
                ran = _all_at_once(each, by)
            else:
                [counters] = [probe for probe in probes if isinstance(probe, Counters)]
                ran, slices = in_slices(each, by, turns, spec.slices, counters.mark)
        ended = {
            label: Loaded(app, loads[label], by, names[label], ran[label], slices)
            for label, app in apps.items()
        }
        told = [one.told for one in ended.values() if one.told is not None]
        return WindowRecord(
            spec=spec,
            windows=windows(spec, ended, probes),
            began_s={label: one.began_s for label, one in ran.items()},
            frozen_s=frozen_s,
            told=told[0].model_dump() if told else None,
        )

    @contextmanager
    def _freezing(self, spec: WindowSpec) -> Iterator[list[float]]:
        """Freezes the database during a window that asks for it. Yields when: from and to, once the window is over."""
        stack, over, frozen_s = self._first.stack, Event(), list[float]()

        def freeze() -> None:
            if not over.wait(spec.seconds / 4):
                try:
                    stack.pause("db")
                    frozen_s.append(time.time())
                    over.wait(spec.freeze_s)
                finally:
                    stack.unpause("db")
                    frozen_s.append(time.time())

        if not spec.freeze_s:
            yield frozen_s
            return
        with ThreadPoolExecutor(1) as thread:
            freezing = thread.submit(freeze)
            try:
                yield frozen_s
            finally:
                over.set()
            freezing.result()

    def challenge(self, label: str) -> tuple[Challenge | None, list[Finding]]:
        self.wake([label])
        try:
            return challenge(self.apps[label])
        except (OSError, psycopg.Error) as error:
            raise TandemError(f"the data could not be changed while requests were running: {error}") from None
        finally:
            self.rest([label])

    def drain(self) -> None:
        """The generator waits for what is in flight (-w), so nothing is left; the applications rest a moment."""
        settle(self._first.stack.sites.machines)

    def collect(self, label: str) -> None:
        self.apps[label].collect()

    def stop(self, label: str) -> list[Finding]:
        if self._several:  # who is frozen cannot end by itself
            with suppress(TandemError):
                self.apps[label].stack.unpause()
        return self.apps[label].stop()


@dataclass
class PgbenchFloor(ContainerFloor):
    """The floor of a visit of pgbench in an application's place: it has no container of its own, and is not judged."""

    def launch(self, label: str) -> None:
        """Nothing: each load starts pgbench."""

    def wait_ready(self, label: str) -> None:
        """Nothing: the services are up."""

    def verify(self, label: str) -> list[Finding]:
        return []

    def idle(self, label: str) -> float | None:
        return None

    def warm_up(self, label: str, duration_s: int) -> list[int]:
        app = self.apps[label]
        done = transactions(app.prepared, duration_s, app.folder)
        return [round(done.transactions_per_s)] * duration_s

    def measure(self, spec: WindowSpec) -> WindowRecord:
        app = self.apps[spec.variants[0]]
        return window_of(app.prepared, spec, app.folder)

    def challenge(self, label: str) -> tuple[Challenge | None, list[Finding]]:
        return None, []

    def collect(self, label: str) -> None:
        """Nothing: pgbench leaves no files."""

    def stop(self, label: str) -> list[Finding]:
        return []


def silent_window(app: Application, spec: WindowSpec) -> WindowRecord:
    """A window without load: opens silent connections to an application that has answered some requests, and looks at what its
    memory grows by.

    `told` of the record: `memory_before_bytes`, `memory_after_bytes`. Raises TandemError, OSError.
    """
    wanted = app.case.scenario.idle_connections
    group, machines = app.app.host.cgroup(app.app.pid), app.stack.sites.machines
    settle(machines)
    cpu, began, began_s = machines.read_cpu(), time.monotonic(), time.time()
    before = group.usage().memory_bytes
    held = app.idle_connections()
    try:
        settle(machines)
        after = group.usage().memory_bytes
        established = held.established()
    finally:
        held.release()
    made = unloaded(wanted, time.monotonic() - began, machines.read_cpu().since(cpu))
    made.idle_connections = established
    made.app_memory_peak_bytes, made.app_memory_counts = after, "all"
    made.findings = host_findings(made)
    if established < wanted:
        text = f"only {established:,} of {wanted:,} silent connections stayed open"
        made.findings.insert(0, Finding.of("idle-lost", "invalid", text))
    made.verdict = verdict(made.findings)
    return WindowRecord(
        spec=spec,
        windows={spec.variants[0]: made},
        began_s={spec.variants[0]: began_s},
        told={"memory_before_bytes": before, "memory_after_bytes": after},
    )


def _all_at_once(loads: dict[str, tuple[Application, str, Load]], by: Generator) -> dict[str, Ran]:
    """Runs each load to its end, in the same seconds."""
    if len(loads) == 1:  # on this thread, which alone is interrupted by Ctrl-C
        return {label: app.run(name, load, by) for label, (app, name, load) in loads.items()}
    with ThreadPoolExecutor(len(loads)) as threads:
        running = {
            label: threads.submit(app.run, name, load, by) for label, (app, name, load) in loads.items()
        }
        return {label: run.result() for label, run in running.items()}
