"""tandem.selftest.stage: the engine's visit, seen from a check, with a floor that only takes notes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from harness_engine import FakeFloor
from harness_samples import finding
from rich.console import Console

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.judge.judge import verdict
from tandem.lab.live import View
from tandem.lab.visit import Visit
from tandem.load.rows import read_rows
from tandem.record.trial import TrialSpec, WarmUp, WindowRecord, WindowSpec
from tandem.record.window import Finding, Verdict
from tandem.selftest import stage as stage_
from tandem.selftest.stage import (
    BROKEN,
    CALIBRATED,
    HONEST,
    OUTSIDE,
    SCENARIO,
    TRIES,
    Running,
    Stage,
    Untold,
    whole,
)

VIEW = View(Console(quiet=True))


@dataclass
class StagedFloor(FakeFloor):
    """With two applications, whose files are those of a real generator. findings: of each window, one after the other."""

    fixtures: Path = Path()
    folder: Path = Path()
    findings: list[list[Finding]] = field(default_factory=list)
    beginning: Callable[[], None] | None = None
    apps: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        app = SimpleNamespace(folder=self.folder, app=SimpleNamespace(address="10.0.0.7"))
        self.apps = dict.fromkeys("ab", app)
        self.stopped = [finding("warning", "unclean-stop", "status 137")]

    def warm_up(self, label: str, duration_s: int) -> list[int]:
        if self.beginning is not None:
            self.beginning()
        return super().warm_up(label, duration_s)

    def measure(self, spec: WindowSpec) -> WindowRecord:
        assert self.beginning is not None
        self.beginning()
        for suffix, source in (("sqlite", "db"), ("json", "json")):
            made = (self.fixtures / f"oha-{spec.load}.{source}").read_bytes()
            (self.folder / f"{spec.name}.{suffix}").write_bytes(made)
        self.judged[spec.name] = self.findings.pop(0) if self.findings else []
        record = super().measure(spec)
        record.only.bottleneck, record.only.verdict = "app-cpu", verdict(record.only.findings)
        return record


@pytest.fixture
def floor(fixtures: Path, tmp_path: Path) -> StagedFloor:
    return StagedFloor(fixtures=fixtures, folder=tmp_path)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the calibrated server was asked for on its control port."""
    asked: list[str] = []

    def get(url: str, timeout: float) -> httpx.Response:
        asked.append(url.partition(":8081/")[2])
        text = "arrival_us,start_us,finish_us\n1000000,1000000,1005000\n"
        return httpx.Response(200, text=text, request=httpx.Request("GET", url))

    monkeypatch.setattr(httpx, "get", get)
    return asked


@contextmanager
def running(
    floor: StagedFloor, variants: str = "a", behaviour: str | None = None, verify: bool = False
) -> Iterator[Running]:
    """A visit of these variants, as a check has it."""
    warm_up = WarmUp(least_s=2, cap_s=2)
    spec = TrialSpec(name="a", block=1, variants=[*variants], warm_up=warm_up, verify=verify)
    one = Running(Visit(floor, spec, Untold(VIEW)), floor, VIEW, behaviour)  # type: ignore[arg-type]
    with whole(one.visit):
        yield one


# ---- a visit, seen from a check ----


def test_the_phases_are_those_of_every_visit(floor: StagedFloor) -> None:
    with running(floor, verify=True) as one:
        floor.calls.append("checks")
    before = ["reset", *(f"{phase} a" for phase in ("launch", "ready", "verify", "warm up"))]
    after = ["challenge a", "drain", "collect a", "stop a"]
    assert floor.calls == [*before, "checks", *after]
    assert one.codes() == {"unclean-stop"}
    with running(other := StagedFloor()):
        pass
    assert "verify a" not in other.calls, "a server that no contract describes"


@pytest.mark.parametrize("phase", ["reset", "launch", "ready", "warm up"])
def test_a_check_does_not_begin_where_the_visit_does_not(floor: StagedFloor, phase: str) -> None:
    floor.failures[phase] = TandemError(f"{phase} went wrong")
    with pytest.raises(TandemError, match=f"{phase} went wrong"), running(floor):
        floor.calls.append("checks")
    assert "checks" not in floor.calls
    assert floor.calls[-1] == ("reset" if phase == "reset" else "stop a")


def test_an_application_that_is_wrong_is_not_measured(floor: StagedFloor) -> None:
    floor.verified = [finding("invalid", "wrong-body", "9 of 20 answers")]
    with pytest.raises(TandemError, match="9 of 20 answers"), running(floor, verify=True):
        floor.calls.append("checks")
    assert "checks" not in floor.calls
    assert "warm up a" not in floor.calls


@pytest.mark.parametrize("error", [TandemError, OSError, ValueError, KeyboardInterrupt])
def test_what_a_check_meets_goes_on_upwards_after_the_stop(
    floor: StagedFloor, error: type[BaseException]
) -> None:
    """A visit alone would keep it as a finding, and the check would go on without its windows."""
    floor.failures["collect"] = TandemError("the consequence")
    with pytest.raises(error, match="the cause"), running(floor):
        raise error("the cause")
    assert floor.calls[-2:] == ["collect a", "stop a"]


# ---- windows ----


def test_a_window_is_a_value(floor: StagedFloor, told: list[str]) -> None:
    with running(floor) as one:
        one.window(3)
        one.window(5, rate_rps=500, connections=12, address="app:8080", settled=False)
    closed, opened = floor.asked
    assert (closed.name, closed.load, closed.seconds, closed.rates_rps) == ("1-closed", "closed", 3, {})
    assert (closed.scenario_changes, closed.address, closed.settled) == ({"connections": 20}, None, True)
    assert (closed.trim_start_s, closed.trim_end_s) == (0.5, 0.5)
    assert (opened.name, opened.load, opened.rates_rps) == ("2-open", "open", {"a": 500})
    assert (opened.scenario_changes, opened.address) == ({"connections": 12}, "app:8080")
    assert not opened.settled
    assert [record.spec for record in one.trial.windows] == [closed, opened]
    assert told == []


def test_what_was_seen_of_a_window(floor: StagedFloor, told: list[str], fixtures: Path) -> None:
    with running(floor) as one:
        seen = one.window(5, "kind=stall&us=5000", rate_rps=500)
    assert seen.window is one.trial.windows[0].only
    assert len(seen.rows) == len(read_rows(fixtures / "oha-open.db"))
    assert seen.served.service_s == pytest.approx([0.005])
    assert told == ["arm?kind=stall&us=5000", "log"]
    assert [*floor.folder.iterdir()] == []


def test_the_server_is_armed_as_the_load_begins_and_once(floor: StagedFloor, told: list[str]) -> None:
    meanwhile = list[int]()
    with running(floor, behaviour="kind=drift") as one:
        assert told == ["arm?kind=drift"]
        floor.warm_up("a", 2)
        assert told == ["arm?kind=drift"]
        one.window(3, meanwhile=lambda: meanwhile.append(len(told)))
    assert meanwhile == [1]


def test_a_control_port_that_does_not_answer_is_told(
    floor: StagedFloor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def get(url: str, timeout: float) -> httpx.Response:
        raise httpx.ConnectError("refused")

    monkeypatch.setattr(httpx, "get", get)
    with pytest.raises(TandemError, match=r"did not execute arm\?kind=spin: refused"), running(floor) as one:
        one.window(3, "kind=spin")


@pytest.mark.parametrize(("void", "made"), [(0, 1), (1, 2), (5, 3)])
def test_a_window_that_the_host_disturbs_is_made_again(floor: StagedFloor, void: int, made: int) -> None:
    floor.findings = [[finding("void")]] * void
    with running(floor) as one:
        seen = one.steady_window(3)
    assert len(floor.asked) == made
    assert seen.window.verdict is (Verdict.VOID if void > 3 else Verdict.OK)


# ---- several that take turns ----


def test_they_take_turns_or_are_alone(floor: StagedFloor, told: list[str]) -> None:
    with running(floor, "ab") as pair:
        assert pair.in_slices(3, {"a": "kind=spin&us=1", "b": "kind=spin&us=2"}, 2.0).keys() == {"a", "b"}
        pair.alone("b", 60, "kind=spin&us=3")
    sliced, alone = floor.asked
    assert (sliced.variants, sliced.seconds, sliced.slices and sliced.slices.slice_s) == (["a", "b"], 16, 2.0)
    assert (alone.variants, alone.seconds, alone.slices) == (["b"], 60, None)
    assert told == ["arm?kind=spin&us=1", "arm?kind=spin&us=2", "arm?kind=spin&us=3"]


@pytest.mark.parametrize(
    ("found", "made"),
    [([], 1), ([finding("void", OUTSIDE)], 1), ([finding("void", "steal")], 3), ([finding("warning")], 1)],
)
@pytest.mark.usefixtures("told")
def test_work_in_the_others_seconds_is_not_the_hosts(
    floor: StagedFloor, found: list[Finding], made: int
) -> None:
    floor.findings = [found] * TRIES
    with running(floor, "ab") as pair:
        assert pair.in_slices(3, dict.fromkeys("ab", HONEST))["a"].findings == found
    assert len(floor.asked) == made


# ---- the stage ----


def test_the_laboratory_knows_the_calibrated_server(root: Path, tmp_path: Path) -> None:
    stage = Stage(root, tmp_path, VIEW, "shared")
    assert stage.catalog.scenarios["calibrated"] is SCENARIO
    assert stage.catalog.scenarios.keys() - {"calibrated"} == Catalog(root).scenarios.keys()
    assert "calibrated" not in Catalog(root).scenarios
    first = stage.laboratory.prepared(stage.laboratory.work.variants[0].label)
    assert (first.case.implementation.name, first.case.scenario) == (CALIBRATED, SCENARIO)
    assert first.stack.variables["FAULT"] == ""
    assert first.stack.variables["SALT"] != "", "liars meet data that they cannot know"


def test_each_start_is_a_variant(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[TrialSpec] = []

    def floor(spec: TrialSpec, folder: Path) -> Any:
        made.append(spec)
        return SimpleNamespace(reset=lambda: 1 / 0, collect=None)

    stage = Stage(root, tmp_path, VIEW, "shared")
    monkeypatch.setattr(stage.laboratory, "floor", floor)
    for how in (
        {"number": 2},
        {"implementation": BROKEN, "scenario": "recipe", "variables": {"FAULT": "cached"}},
        {"implementation": BROKEN, "scenario": "work", "settings": {"THREADS": "2"}},
    ):
        with pytest.raises(ZeroDivisionError), stage.running(**how):
            pass
    assert [len(spec.variants) for spec in made] == [2, 1, 1]
    assert [spec.verify for spec in made] == [False, False, True], "liars would be refused before a window"
    liar, honest = (stage.laboratory.prepared(spec.variants[0]) for spec in made[1:])
    assert (liar.stack.variables["FAULT"], liar.case.scenario.name) == ("cached", "recipe")
    assert (honest.case.settings["THREADS"], honest.case.handler_threads) == ("2", 2)


def test_files_of_an_earlier_self_test_go_and_those_of_a_running_one_stay(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise TandemError("another command is measuring")

    stage = Stage(root, tmp_path, VIEW, "shared")
    monkeypatch.setattr(stage.laboratory, "up", nullcontext)
    stage.folder.mkdir()
    (programs := stage.folder / "programs.json").write_text("{}")
    monkeypatch.setattr(stage_, "refuse_or_clean_up", refuse)
    with pytest.raises(TandemError, match="another command"), stage.up():
        pass
    assert programs.exists()
    monkeypatch.setattr(stage_, "refuse_or_clean_up", lambda *_: None)
    with stage.up():
        assert not programs.exists()
