"""Where the end-to-end checks happen: the ordinary stack and laboratory, with the calibrated server inside."""

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import httpx
import numpy as np

from tandem.catalog.catalog import Catalog, Plan
from tandem.catalog.scenario import Answer, Scenario
from tandem.errors import TandemError
from tandem.lab.live import View
from tandem.lab.readiness import await_services
from tandem.lab.stack import Stack
from tandem.load.generator import Report, read_report
from tandem.load.rows import Floats, Rows, open_loop, read_rows
from tandem.old.lab import BenchLab
from tandem.old.prepare import (
    DEFAULT_TOPOLOGY,
    SHARED,
    Conditions,
    Prepared,
    build,
    refuse_or_clean_up,
    start,
)
from tandem.record.window import Verdict, Window

CALIBRATED, BROKEN = "harness/calibrated", "contract/broken"
FAST = "rust-async"
"""An application that a busy database limits, and not itself."""
CONTROL_PORT = 8081
HONEST = "kind=constant"
READ_BY = {"APP_MAXCONN": "proxy", "PGBOUNCER_POOL_SIZE": "pgbouncer"}
"""Variables of the services that stay up."""
TRIES = 3
"""A window that the host disturbed is made again, so often in all."""
TRIM_START_S, TRIM_END_S = 0.5, 0.5
"""The calibrated server needs no settling, and the checks know what their windows contain."""

Load = Literal["closed", "open"]


@dataclass(frozen=True)
class Served:
    """The calibrated server's own log, in the order of arrival: seconds of its monotonic clock."""

    arrival_s: Floats
    start_s: Floats
    finish_s: Floats

    @classmethod
    def parse(cls, text: str) -> "Served":
        """Reads the server's CSV. Raises KeyError if it has other columns."""
        names = ("arrival_us", "start_us", "finish_us")
        rows = [[int(row[name]) for name in names] for row in csv.DictReader(io.StringIO(text))]
        table = np.array(sorted(rows), dtype=np.float64).reshape(-1, 3) / 1e6
        return cls(table[:, 0], table[:, 1], table[:, 2])

    def __len__(self) -> int:
        return len(self.arrival_s)

    @property
    def service_s(self) -> Floats:
        return self.finish_s - self.start_s

    @property
    def response_s(self) -> Floats:
        return self.finish_s - self.arrival_s


@dataclass(frozen=True)
class Seen:
    """One window: what the harness says, what it says it from, and what the server wrote down."""

    window: Window
    rows: Rows
    report: Report
    served: Served

    def codes(self) -> set[str]:
        return {finding.code for finding in self.window.findings}

    def response_s(self, low_s: float = 0.0, high_s: float | None = None) -> Floats:
        """Response times as the shipped code rebuilds them, of what was due from `low_s` to `high_s`."""
        assert self.window.offered_rps is not None
        errors = sum(self.report.errorDistribution.values())
        load = open_loop(self.rows, self.window.offered_rps, self.window.duration_s, errors)
        high_s = self.window.duration_s if high_s is None else high_s
        return load.response_s[(load.intended_s >= low_s) & (load.intended_s < high_s)]


@dataclass
class Running:
    """A fresh start of an implementation that windows can be made with."""

    lab: BenchLab
    prepared: Prepared
    view: View
    _begin: Callable[[], None] | None = None

    @property
    def control(self) -> str:
        return f"http://{self.prepared.stack.service('app').address}:{CONTROL_PORT}"

    def arm(self, behaviour: str) -> None:
        """Tells the calibrated server what to be from now on."""
        httpx.get(f"{self.control}/arm?{behaviour}", timeout=5).raise_for_status()

    def window(
        self,
        load: Load,
        seconds: int,
        behaviour: str | None = None,
        *,
        rate_rps: int | None = None,
        connections: int = 20,
        scenario: Scenario | None = None,
        address: str | None = None,
        meanwhile: Callable[[], None] | None = None,
        settled: bool = True,
    ) -> Seen:
        """One window, with the server armed at its beginning. address: whom to ask, HAProxy unless said.
        meanwhile: called once as the load begins; must not wait. settled=False: begins without waiting for a quiet host.

        An open loop has four times the connections (tandem.load.client).
        """
        wanted = (scenario or self.lab.cell.scenario).model_copy(update={"connections": connections})
        address = address or self.prepared.cell.load_address
        proxied = address.startswith("proxy")
        cell = replace(self.lab.cell, scenario=wanted, load_address=address, proxied=proxied)
        self.lab.ask_for(cell, address)
        folder = self.lab.folder

        def begin() -> None:
            if behaviour is not None:
                self.arm(behaviour)
            if meanwhile is not None:
                meanwhile()

        self._begin = begin
        window = self.lab.measure(load, seconds, rate_rps, settled)
        served = Served.parse("arrival_us,start_us,finish_us\n")
        if behaviour is not None:
            served = Served.parse(httpx.get(f"{self.control}/log", timeout=30).text)
        rows, report = read_rows(folder / f"{load}.sqlite"), read_report(folder / f"{load}.json")
        return Seen(window, rows, report, served)

    def steady_window(self, load: Load, seconds: int, behaviour: str | None, **how: object) -> Seen:
        """The same, made again while the host disturbs it. Returns the last try, whatever it is."""
        for number in range(1, TRIES + 1):
            seen = self.window(load, seconds, behaviour, **how)  # type: ignore[arg-type]
            if seen.window.verdict is not Verdict.VOID and seen.window.bottleneck != "unknown":
                break
            whys = [f.text for f in seen.window.findings if f.severity == "void"]
            why = whys[0] if whys else seen.window.evidence[-1]
            self.view.note(f"  disturbed, try {number} of {TRIES}: {why}")
        return seen

    def offered(self, rate_rps: float | None) -> None:
        """The laboratory's word that a window begins."""
        self.view.offered(rate_rps)
        if self._begin is not None:
            self._begin()


@dataclass
class Stage:
    """The stack, up once for all checks. Use it as `with Stage(...).up() as stage`."""

    catalog: Catalog
    results: Path
    view: View
    placement: str
    _base: Prepared | None = None
    _starts: int = 0
    _changed: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.results / ".selftest"

    def scenario(self) -> Scenario:
        """What is asked of the calibrated server."""
        return Scenario(
            name="calibrated",
            stresses="known times",
            path="/",
            connections=20,
            statements=[],
            answer=Answer(text="calibrated"),
        )

    def _prepare(self, implementation: str, scenario: Scenario, knobs: dict[str, str]) -> Prepared:
        plan = Plan(
            name="selftest", purpose="known windows", trials=1, warm_up_s=1, warm_up_requests_per_worker=0,
            warm_up_cap_s=1, closed_s=4, open_s=4, open_load_fraction=0.5,
            trim_start_s=TRIM_START_S, trim_end_s=TRIM_END_S,
        )  # fmt: skip
        under = Conditions(self.catalog, DEFAULT_TOPOLOGY, self.placement, plan, knobs)
        self._starts += 1
        folder = self.folder / f"{self._starts:02}-{implementation.replace('/', '-')}"
        return under.prepare(self.catalog.implementation(implementation), scenario, folder)

    @contextmanager
    def up(self) -> Iterator["Stage"]:
        """Builds what is needed, starts the shared services, removes everything at the end."""
        refuse_or_clean_up(self.catalog.root, self.results, self.view.note)
        base = self._prepare(CALIBRATED, self.scenario(), {})
        others = self._prepare(BROKEN, self.scenario(), {})
        try:
            build([base, others, self._prepare(FAST, self.scenario(), {})], self.view.note)
            start(base.stack, self.view.note)
            self._base = base
            yield self
        finally:
            base.stack.down()

    @contextmanager
    def running(
        self,
        implementation: str = CALIBRATED,
        scenario: Scenario | None = None,
        *,
        knobs: dict[str, str] | None = None,
        variables: dict[str, str] | None = None,
    ) -> Iterator[Running]:
        """A fresh start. variables: of compose/stack.yaml, in place of those of the placement."""
        prepared = self._prepare(implementation, scenario or self.scenario(), knobs or {})
        changed = variables or {}
        merged = {**prepared.stack.variables, **changed}
        env_file = self.folder / f"{self._starts:02}.env"
        prepared.stack = Stack(self.catalog.root, prepared.stack.project, merged, env_file)
        self._restart_shared(prepared.stack, {n: v for n, v in changed.items() if n in READ_BY})
        folder = self.folder / prepared.name
        lab = BenchLab(prepared.stack, prepared.cell, folder, self.view.sample, self.view.offered)
        running = Running(lab, prepared, self.view)
        lab.offered = running.offered
        try:
            lab.start()
            lab.wait_ready()
            yield running
        finally:
            lab.collect()
            lab.stop()

    def _restart_shared(self, stack: Stack, wanted: dict[str, str]) -> None:
        """Starts the shared services anew whose own variables differ from what they run with."""
        names = {name for name in READ_BY if wanted.get(name) != self._changed.get(name)}
        if names:
            stack.start(sorted({READ_BY[name] for name in names}))
            await_services(stack, SHARED)
            self._changed = wanted


def oha_version(stage: Stage) -> str:
    """What the generator says of itself."""
    assert stage._base is not None
    return stage._base.stack.execute("loadgen", ["oha", "--version"]).split()[-1]


def require(condition: bool, text: str) -> None:
    """Raises TandemError with the text unless the condition holds: the check itself could not be made."""
    if not condition:
        raise TandemError(text)
