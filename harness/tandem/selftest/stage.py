"""The stage of the end-to-end checks: the engine's own laboratory and visits, with the calibrated server inside."""

import csv
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from tandem.catalog.catalog import Catalog
from tandem.catalog.scenario import Answer, Scenario
from tandem.errors import TandemError
from tandem.lab.application import Application
from tandem.lab.floor import ContainerFloor
from tandem.lab.laboratory import Laboratory, Work, refuse_or_clean_up
from tandem.lab.live import View
from tandem.lab.prepare import DEFAULT_TOPOLOGY
from tandem.lab.stack import Stack
from tandem.lab.visit import Visit
from tandem.load.generator import OHA, Report
from tandem.load.rows import Floats, Rows, open_loop
from tandem.load.vegeta import VEGETA
from tandem.record.request import Conditions, Request, Variant
from tandem.record.store import give
from tandem.record.trial import Arrivals, Slicing, Trial, TrialSpec, WarmUp, WindowRecord, WindowSpec
from tandem.record.window import Verdict, Window

CALIBRATED, BROKEN = "harness/calibrated", "contract/broken"
FAST = "rust-async"
"""An application that a busy database limits, and not itself."""
TELLING = "falcon-sync"
"""An application whose pool says how long requests waited for a connection."""
CONTROL_PORT = 8081
HONEST = "kind=constant"
SLICE_S = 1.0
TRIES = 3
"""Number of times that a window is made, at most, while the host disturbs it."""
OUTSIDE = "cpu-outside-slices"
TRIM_START_S, TRIM_END_S = 0.5, 0.5
"""The calibrated server needs no settling, and the checks know what their windows contain."""
WARM_UP = WarmUp(least_s=0, cap_s=0)
"""Warm-up of the starts: none. That one lasts until the rate is steady is a check of its own."""
SCENARIO = Scenario(
    name="calibrated",
    stresses="known times",
    path="/",
    connections=20,
    statements=[],
    answer=Answer(text="calibrated"),
)
"""The request that the calibrated server answers."""


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
        rows = sorted([int(row[name]) for name in names] for row in csv.DictReader(text.splitlines()))
        return cls(*(np.array(rows, dtype=np.float64).reshape(-1, 3).T / 1e6))

    def __len__(self) -> int:
        return len(self.arrival_s)

    @property
    def service_s(self) -> Floats:
        return self.finish_s - self.start_s

    @property
    def response_s(self) -> Floats:
        return self.finish_s - self.arrival_s


@dataclass(frozen=True)
class SeenFromBothEnds:
    """One window: the harness's figures, the rows that they come from, and the server's own log."""

    window: Window
    rows: Rows
    report: Report
    served: Served

    def codes(self) -> set[str]:
        return {finding.code for finding in self.window.findings}

    def response_s(self, low_s: float = 0.0, high_s: float | None = None) -> Floats:
        """Response times as the shipped code rebuilds them, of requests that were due from `low_s` to `high_s`."""
        assert self.window.offered_rps is not None
        load = open_loop(self.rows, self.window.offered_rps, self.window.duration_s, self.report.errors)
        high_s = self.window.duration_s if high_s is None else high_s
        return load.response_s[(load.intended_s >= low_s) & (load.intended_s < high_s)]


class CatalogWithCalibrated(Catalog):
    """The repository's catalog with the scenario of the calibrated server."""

    @cached_property
    def scenarios(self) -> dict[str, Scenario]:
        return {**super().scenarios, SCENARIO.name: SCENARIO}


class Untold:
    """A view that shows no phases of a visit: a self-test has thousands of windows."""

    def __init__(self, view: View) -> None:
        self.note = view.note

    def phase(self, name: str, expected_s: float | None) -> None:
        pass


def again[T](view: View, make: Callable[[], T], disturbed: Callable[[T], str | None]) -> T:
    """Makes something until the host does not disturb it, at most TRIES times; returns the last. disturbed: why it does not
    count, None where it does."""
    for number in range(1, TRIES + 1):
        made = make()
        if (why := disturbed(made)) is None:
            break
        view.note(f"  disturbed, try {number} of {TRIES}: {why}")
    return made


def control(app: Application, what: str, wait_s: float) -> str:
    """Asks a calibrated server on its second port. Raises TandemError."""
    try:
        answer = httpx.get(f"http://{app.app.address}:{CONTROL_PORT}/{what}", timeout=wait_s)
        return answer.raise_for_status().text
    except httpx.HTTPError as error:
        raise TandemError(f"the calibrated server did not execute {what}: {error}") from None


@dataclass
class Running:
    """Warm starts of one visit, for windows: of one application, or of calibrated servers that take turns in slices, as
    variants of a comparison do."""

    visit: Visit
    floor: ContainerFloor
    view: View
    behaviour: str | None = None
    """Behaviour that the server is armed with before its warm-up."""
    _windows: int = 0

    def __post_init__(self) -> None:
        if self.behaviour is not None:
            self._once({self.label: self.behaviour})

    def _once(self, behaviours: dict[str, str], meanwhile: Callable[[], None] = lambda: None) -> None:
        """Has these servers armed, and `meanwhile` called, as the next load begins; a warm-up in parts begins once."""

        def beginning() -> None:
            self.floor.beginning = None
            for label, behaviour in behaviours.items():
                self.arm(behaviour, label)
            meanwhile()

        self.floor.beginning = beginning

    @property
    def trial(self) -> Trial:
        """The visit's trial so far; all of it after the end of `with`."""
        return self.visit.trial

    @property
    def labels(self) -> list[str]:
        return self.trial.spec.variants

    @property
    def label(self) -> str:
        return self.labels[0]

    @property
    def app(self) -> Application:
        return self.floor.apps[self.label]

    def codes(self) -> set[str]:
        """Codes of the findings at its start and its end."""
        return {finding.code for finding in self.trial.starts[self.label].findings}

    def arm(self, behaviour: str, label: str | None = None) -> None:
        """Arms a calibrated server with a behaviour from now on. label: default the first."""
        control(self.floor.apps[label or self.label], f"arm?{behaviour}", wait_s=5)

    def _measured(self, kind: str, labels: list[str], **how: Any) -> WindowRecord:
        """One window of these. how: fields of its spec."""
        self._windows += 1
        spec = WindowSpec(name=f"{self._windows}-{kind}", variants=labels, **how)
        found = self.visit.measure(spec, labels)
        require(bool(found.windows), found.refused or "no window")
        return found

    def window(
        self,
        seconds: int,
        behaviour: str | None = None,
        *,
        rate_rps: int | None = None,
        connections: int = 20,
        meanwhile: Callable[[], None] = lambda: None,
        arrivals: Arrivals | None = None,
        **how: Any,
    ) -> SeenFromBothEnds:
        """One window, with the server armed at its beginning; with a rate an open loop, which has four times the connections
        (tandem.load.client). meanwhile: called once as the load begins; must not wait. arrivals: by vegeta. how: further fields
        of WindowSpec, such as `address` and `settled`."""
        load = "closed" if rate_rps is None else "open"
        generator, folder = VEGETA if arrivals else OHA, self.app.folder
        self._once({} if behaviour is None else {self.label: behaviour}, meanwhile)
        found = self._measured(
            load,
            [self.label],
            seconds=seconds,
            load=load,
            rates_rps={} if rate_rps is None else {self.label: rate_rps},
            scenario_changes={"connections": connections},
            trim_start_s=TRIM_START_S,
            trim_end_s=TRIM_END_S,
            generator=generator.name,
            arrivals=arrivals,
            **how,
        )
        log = "" if behaviour is None else control(self.app, "log", wait_s=30)
        read = generator.read(folder, found.spec.name)
        for file in folder.glob(f"{found.spec.name}.*"):
            file.unlink()  # what is returned has it all, and the weekly class would leave gigabytes
        return SeenFromBothEnds(found.only, *read, Served.parse(log))

    def steady_window(self, seconds: int, behaviour: str | None = None, **how: Any) -> SeenFromBothEnds:
        """A window that is made again while the host disturbs it. Returns the last try, whatever it is."""

        def disturbed(seen: SeenFromBothEnds) -> str | None:
            if seen.window.verdict is not Verdict.VOID and seen.window.bottleneck != "unknown":
                return None
            whys = [f.text for f in seen.window.findings if f.severity == "void"]
            return whys[0] if whys else seen.window.evidence[-1]

        return again(self.view, lambda: self.window(seconds, behaviour, **how), disturbed)

    def in_slices(
        self, slices: int, behaviours: dict[str, str], slice_s: float = SLICE_S
    ) -> dict[str, Window]:
        """One window of so many slices of each; made again while the host disturbs it. behaviours: label -> its server's."""
        seconds = round((slices + 1) * slice_s * len(behaviours))
        return self._undisturbed("slices", seconds, behaviours, slice_s)

    def alone(self, label: str, seconds: int, behaviour: str) -> Window:
        """One window of one of them, the others frozen; made again while the host disturbs it."""
        return self._undisturbed("alone", seconds, {label: behaviour})[label]

    def _undisturbed(
        self, kind: str, seconds: int, behaviours: dict[str, str], slice_s: float | None = None
    ) -> dict[str, Window]:
        def make() -> dict[str, Window]:
            self._once(behaviours)
            slices = Slicing(slice_s=slice_s, seed=self._windows + 1) if slice_s else None
            how = {"seconds": seconds, "trim_start_s": 0.0, "trim_end_s": 0.0, "settled": False}
            labels = [label for label in self.labels if label in behaviours]
            return self._measured(kind, labels, **how, slices=slices).windows

        def disturbed(windows: dict[str, Window]) -> str | None:
            # Work in the others' seconds is the server's own: it would be there the next time as well.
            every = [finding for window in windows.values() for finding in window.findings]
            return next((f.text for f in every if f.severity == "void" and f.code != OUTSIDE), None)

        return again(self.view, make, disturbed)


class Stage:
    """The stack, up once for all checks. Use it as `with Stage(...).up() as stage`."""

    def __init__(self, root: Path, results: Path, view: View, placement: str) -> None:
        self.root, self.results, self.view, self.folder = root, results, view, results / ".selftest"
        self.catalog = CatalogWithCalibrated(root)
        self._variants = list[Variant]()
        for implementation in (CALIBRATED, BROKEN, FAST, TELLING):  # these are built before anything starts
            self._variant(implementation)
        request = Request(
            study="selftest",
            variants=list(self._variants),
            scenario=SCENARIO.name,
            conditions=Conditions(topology=DEFAULT_TOPOLOGY, placement=placement),
            plan="selftest",
            seed=0,
            salt=secrets.token_hex(4),
        )
        work = Work(request, self._variants, self.folder, generators=(OHA.name, VEGETA.name))
        self.laboratory = Laboratory(self.catalog, results, view, work)

    @property
    def stack(self) -> Stack:
        """The stack of the first application; the shared services are the same for all."""
        return self.laboratory.prepared(self._variants[0].label).stack

    def _variant(self, implementation: str, **how: Any) -> Variant:
        """A further variant, known to the laboratory. how: fields of Variant."""
        label = f"{len(self._variants) + 1:02}-{implementation.replace('/', '-')}"
        self._variants.append(Variant(label=label, implementation=implementation, **how))
        return self._variants[-1]

    @contextmanager
    def up(self) -> Iterator["Stage"]:
        """Builds the images, starts the shared services, removes everything at the end."""
        refuse_or_clean_up(self.root, self.results, self.view.note)  # the folder may be one that is in use
        shutil.rmtree(self.folder, ignore_errors=True)
        try:
            with self.laboratory.up():
                yield self
        finally:
            with suppress(OSError):
                give(self.folder, self.root)

    @contextmanager
    def running(
        self,
        implementation: str = CALIBRATED,
        scenario: str | None = None,
        *,
        settings: dict[str, str] | None = None,
        variables: dict[str, str] | None = None,
        warm_up: WarmUp = WARM_UP,
        behaviour: str | None = None,
        number: int = 1,
    ) -> Iterator[Running]:
        """A visit of so many starts. scenario: a name, that of the calibrated server unless given. variables: of
        compose/stack.yaml, in place of those of the placement. behaviour: armed before the warm-up.

        Raises TandemError where the visit, from its start to its end, does not go as it should.
        """
        how = {"scenario": scenario, "settings": settings or {}, "variables": variables or {}}
        labels = [self._variant(implementation, **how).label for _ in range(number)]
        honest = implementation != CALIBRATED and not (variables or {}).get("FAULT")
        spec = TrialSpec(name=labels[0], block=1, variants=labels, warm_up=warm_up, verify=honest)
        floor = self.laboratory.floor(spec, self.folder / "raw" / spec.name)
        running = Running(Visit(floor, spec, Untold(self.view)), floor, self.view, behaviour)
        with whole(running.visit):
            yield running


@contextmanager
def whole(visit: Visit) -> Iterator[None]:
    """Inside, windows can be made; before and after it, the phases of the visit. Raises TandemError: that of what is
    inside, or else the first of the visit itself. A visit on its own keeps them as findings and goes on."""
    met: TandemError | OSError | None = None
    with visit.warm() as labels:
        if labels:
            try:
                yield
            except (TandemError, OSError) as error:
                met = error
    if met is not None:
        raise met
    for start in visit.trial.starts.values():
        if start.refused is not None:
            raise TandemError(start.refused)
    for finding in visit.trial.findings:
        raise TandemError(finding.text)


def require(condition: bool, text: str) -> None:
    """Raises TandemError with the text unless the condition holds: the check itself could not be made."""
    if not condition:
        raise TandemError(text)
