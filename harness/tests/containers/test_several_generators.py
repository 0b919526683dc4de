"""Several generators on one host, with real containers, against the calibrated server: what they measure, and what is said
where one of them dies."""

import signal
import statistics
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from harness_commands import ONE_TRIAL, bench_containers, run
from harness_places import ROOT
from rich.console import Console

from tandem.hosts import HERE
from tandem.lab.floor import ContainerFloor
from tandem.lab.laboratory import Laboratory, Work
from tandem.lab.live import View
from tandem.lab.prepare import DEFAULT_TOPOLOGY
from tandem.record.request import Conditions, Request, Variant
from tandem.record.trial import Slicing, TrialSpec, WarmUp, WindowSpec
from tandem.record.window import Verdict, Window
from tandem.selftest.stage import CALIBRATED, SCENARIO, CatalogWithCalibrated, control

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]

GENERATORS = 2
RATE = 700
"""No whole number of milliseconds apart: oha's pacer has a timer of one, whose phase would be in the median."""
ANSWERS_AFTER_MS = 10
TRIES = 3
"""A window that the host disturbed is made again."""
AGREE = 0.02
HOSTS = {"foreign-cpu", "steal", "hiccup", "harness-cpu"}
"""What a busy host does to a window; it says nothing about the generators."""
LABELS = ("one", "other")


@dataclass
class Warm:
    """A fresh start of one server, or of two side by side."""

    floor: ContainerFloor
    labels: list[str]
    began: int = 0
    windows: list[Window] = field(default_factory=list)

    def window(self, load: str, seconds: int, generators: int = GENERATORS) -> Window:
        """Of the first server."""
        [label] = self.labels
        app = self.floor.apps[label]
        app.ask_for(replace(app.case, generators=generators))
        self.began += 1
        spec = WindowSpec(
            name=f"{self.began}-{load}",
            variants=[label],
            seconds=seconds,
            load="open" if load == "open" else "closed",
            rates_rps={label: RATE} if load == "open" else {},
            trim_start_s=1.0,
            trim_end_s=0.5,
            settled=False,
        )
        return self.floor.measure(spec).only

    def steady(self, load: str, seconds: int, generators: int = GENERATORS) -> Window:
        """The same, again while the host disturbs it."""
        for _ in range(TRIES):
            window = self.window(load, seconds, generators)
            if window.verdict is not Verdict.VOID:
                break
        return window


@dataclass
class OneStack:
    """The shared services with two generators, up."""

    lab: Laboratory
    folder: Path
    visits: int = 0

    @contextmanager
    def warm(self, *labels: str) -> Iterator[Warm]:
        self.visits += 1
        only = TrialSpec(
            name=f"{self.visits}", block=1, variants=list(labels), warm_up=WarmUp(least_s=1, cap_s=1)
        )
        floor = self.lab.floor(only, self.folder / "raw" / only.name)
        try:
            floor.reset()
            for label in labels:
                floor.launch(label)
                floor.wait_ready(label)
                control(floor.apps[label], f"arm?kind=constant&us={ANSWERS_AFTER_MS * 1000}", wait_s=5)
                floor.warm_up(label, 1)
                floor.rest([label])
            yield Warm(floor, list(labels))
        finally:
            for label in labels:
                floor.collect(label)
                floor.stop(label)


@pytest.fixture(scope="module")
def one(kept: Path) -> Iterator[OneStack]:
    catalog = CatalogWithCalibrated(ROOT)
    variants = [Variant(label=label, implementation=CALIBRATED) for label in LABELS]
    request = Request(
        study="bench",
        variants=variants,
        scenario=SCENARIO.name,
        conditions=Conditions(
            topology=DEFAULT_TOPOLOGY,
            placement=catalog.default_placement(HERE.topology().places).name,
            generators=GENERATORS,
        ),
        plan=ONE_TRIAL,
        seed=1,
        salt="1",
    )
    lab = Laboratory(catalog, kept, View(Console(stderr=True)), Work(request, variants, kept))
    with lab.up():
        yield OneStack(lab, kept)
    assert not bench_containers(), "the second generator is removed with the rest"


def codes(window: Window) -> set[str]:
    return {finding.code for finding in window.findings}


def texts(window: Window) -> list[str]:
    return [finding.text for finding in window.findings]


def response_p50_ms(window: Window) -> float | None:
    return window.response_time_ms.p50 if window.response_time_ms else None


def unhurt(window: Window) -> bool:
    """Whether nothing but the host had a part in its verdict."""
    return not {finding.code for finding in window.findings if finding.severity != "warning"} - HOSTS


@contextmanager
def meanwhile(warm: Warm, after_s: float, what: Callable[[], object]) -> Iterator[None]:
    """Does it so long after the next load was called for."""
    timer = threading.Timer(after_s, what)
    warm.floor.beginning = timer.start
    yield
    timer.join()
    warm.floor.beginning = None


def test_two_generators_agree_with_one(one: OneStack) -> None:
    """One after the other in the order that a drift of the host is the same for: one, two, two, one."""
    with one.warm("one") as warm:
        made = [warm.steady("open", 5, number) for number in (1, 2, 2, 1)]
    alone, shared = [made[0], made[3]], [made[1], made[2]]

    def means(figure: Callable[[Window], float | None]) -> tuple[float, float]:
        one, two = (statistics.fmean(figure(window) or 0.0 for window in own) for own in (alone, shared))
        return one, two

    told = {
        "goodput_rps": means(lambda window: window.goodput_rps),
        "service_p50_ms": means(lambda window: window.service_time_ms.p50),
        "response_p50_ms": means(response_p50_ms),
    }
    print("one and two generators:", told, [window.verdict for window in made])
    for window in made:
        assert window.verdict is Verdict.OK, texts(window)
    for one_, two in told.values():
        assert two == pytest.approx(one_, rel=AGREE), told
    assert told["service_p50_ms"][1] >= ANSWERS_AFTER_MS
    assert [len(window.generators) for window in made] == [0, 2, 2, 0]
    for window in shared:
        assert [each.role for each in window.generators] == ["loadgen", "loadgen-2"]
        assert [each.offered_rps for each in window.generators] == [RATE / 2] * 2
        assert sum(each.requests for each in window.generators) == window.requests
        assert sum(each.connections for each in window.generators) == window.connections
        for each in window.generators:
            assert each.lateness_ms is not None
            assert each.late_ms is not None
            assert abs(each.late_ms) < 100
            assert each.cpu_cores > 0
        parts = sum(each.cpu_cores for each in window.generators)
        assert window.roles["loadgen"].cpu_cores == pytest.approx(parts, rel=1e-5)  # six digits each
        assert window.tap is not None
        assert window.tap.compared > 0


def test_their_rows_stay_apart(one: OneStack) -> None:
    with one.warm("one") as warm:
        window = warm.steady("closed", 3)
        folder = warm.floor.apps["one"].folder
    assert unhurt(window), texts(window)
    assert window.little is not None, "Little's law holds for all of them together"
    names = {file.name for file in folder.glob(f"{warm.began}-closed*")}
    assert names == {
        f"{warm.began}-closed-g{number}.{suffix}" for number in (1, 2) for suffix in ("sqlite", "json")
    }


def test_one_that_is_killed_in_a_window_makes_it_void(one: OneStack) -> None:
    with one.warm("one") as warm:
        second = HERE.cgroup(warm.floor.apps["one"].services["loadgen-2"].pid)

        def kill() -> None:
            for pid in second.processes("oha"):
                HERE.signal(pid, signal.SIGKILL)

        for load in ("closed", "open"):
            with meanwhile(warm, 3.0, kill):
                window = warm.window(load, 5)
            assert window.verdict is Verdict.VOID, texts(window)
            assert "generator-lost" in codes(window)
            [told] = [text for text in texts(window) if "left no rows" in text]
            assert told.startswith("generator 2 of 2 (loadgen-2) left no rows")
            assert window.requests == window.generators[0].requests > 0
            after = warm.steady(load, 3)
            assert "generator-lost" not in codes(after), "the control: the next window has both"
            assert unhurt(after), texts(after)


def test_one_whose_container_dies_is_there_again_in_the_next_visit(one: OneStack) -> None:
    with one.warm("one") as warm:
        killed = warm.floor.apps["one"].services["loadgen-2"].id
        with meanwhile(warm, 3.0, lambda: run("docker", "kill", killed)):
            window = warm.window("closed", 5)
    assert window.verdict is Verdict.VOID, texts(window)
    assert "generator-lost" in codes(window)
    with one.warm("one") as warm:
        assert warm.floor.apps["one"].services["loadgen-2"].id != killed
        again = warm.steady("closed", 3)
    assert unhurt(again), texts(again)


def test_both_take_turns_in_slices(one: OneStack) -> None:
    with one.warm(*LABELS) as warm:
        spec = WindowSpec(
            name="slices",
            variants=list(LABELS),
            seconds=8,
            trim_start_s=0.0,
            trim_end_s=0.0,
            settled=False,
            slices=Slicing(slice_s=1.0, seed=1),
        )
        warm.floor.wake(LABELS)
        for _ in range(TRIES):
            found = warm.floor.measure(spec).windows
            if all(window.verdict is not Verdict.VOID for window in found.values()):
                break
        warm.floor.rest(LABELS)
    for window in found.values():
        assert unhurt(window), texts(window)
        assert len(window.generators) == 2
        assert window.slices is not None
        assert window.slices.clock_error_ms is not None
        assert window.slices.clock_error_ms < 20
        assert min(window.slices.good) > 100
        assert window.failed == {}
