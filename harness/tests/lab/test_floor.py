"""tandem.lab.floor: who is frozen, asked, loaded and ended, with applications that only take notes."""

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from harness_engine import Quiet, request, window_spec
from harness_samples import good_window

from tandem.catalog.catalog import Catalog
from tandem.engine import stand_ins
from tandem.errors import TandemError, UsageError
from tandem.lab import floor as floor_
from tandem.lab import pgbench
from tandem.lab.application import Application
from tandem.lab.floor import ContainerFloor, PgbenchFloor
from tandem.lab.generator_runs import Ran
from tandem.lab.prepare import Prepared, prepare
from tandem.lab.sites import ALONE
from tandem.load.client import Client
from tandem.load.generator import Load


class Noted:
    """Notes calls as `label call`."""

    def __init__(self, label: str, prepared: Prepared, done: list[str]) -> None:
        self.label, self.prepared, self.case, self.done = label, prepared, prepared.case, done
        self.folder = Path("/raw") / label
        self.fails: dict[str, BaseException] = {}
        self.stack = SimpleNamespace(
            sites=ALONE,
            pause=lambda: self._note("pause"),
            unpause=lambda: self._note("unpause"),
            stop=lambda *_, **__: self._note("remove"),
            execute=lambda *_: self._note("execute"),
        )

    def _note(self, call: str) -> None:
        self.done.append(f"{self.label} {call}")
        if call in self.fails:
            raise self.fails[call]

    def ask_for(self, case: Any) -> None:
        if case is not self.case:
            self._note(f"asked for {case.scenario.connections} at {case.load_address}")
        self.case = case

    def load(self, seconds: int, rate: int | None) -> Load:
        client = Client(self.case.scenario, self.case.answers, "127.0.0.1:1")
        return client.load(self.case.load_address, 1, seconds, rate)

    def send(self, name: str, load: Load, by: object) -> None:
        self._note(f"sent {name}")

    def run(self, name: str, load: Load, by: object) -> Ran:
        self._note(f"ran {name} at {load.rate_rps}")
        return Ran(1.0, 2.0, "")

    def log_end(self) -> str:
        return f"the last words of {self.label}"

    def __getattr__(self, name: str) -> Any:
        def call(*_: object) -> list[object]:
            self._note(name)
            return []

        return call


@pytest.fixture
def done() -> list[str]:
    return []


@pytest.fixture
def floor(real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: list[str]) -> ContainerFloor:
    """Two applications side by side; what a window sees is given."""
    monkeypatch.setattr(floor_, "AWAKE_S", 0.0)
    monkeypatch.setattr(floor_, "settle", lambda _: done.append("settle"))

    class Watched:
        def __enter__(self) -> list[object]:
            done.append("watching")
            return []

        def __exit__(self, *_: object) -> None:
            done.append("watched")

    monkeypatch.setattr(floor_, "watched", lambda scene: Watched())
    monkeypatch.setattr(floor_, "Loaded", lambda *_: SimpleNamespace(told=None))
    monkeypatch.setattr(floor_, "windows", lambda spec, loads, probes: dict.fromkeys(loads, good_window()))
    of = request()
    made = {label: prepare(real, of, of.variants[0], tmp_path / label, f"slot-{label}") for label in "ab"}
    apps = {label: cast(Application, cast(Any, Noted(label, made[label], done))) for label in "ab"}
    return ContainerFloor(apps, Quiet())


def noted(floor: ContainerFloor, label: str) -> Any:
    return floor.apps[label]


def alone(floor: ContainerFloor) -> ContainerFloor:
    return ContainerFloor({"a": floor.apps["a"]}, floor.view)


def test_of_several_those_that_rest_are_frozen(floor: ContainerFloor, done: list[str]) -> None:
    floor.rest(["a", "b"])
    floor.wake(["b", "a"])
    assert done == ["a pause", "b pause", "b unpause", "a unpause"]


def test_one_alone_is_never_frozen(floor: ContainerFloor, done: list[str]) -> None:
    alone(floor).rest(["a"])
    alone(floor).wake(["a"])
    alone(floor).stop("a")
    assert done == ["a stop"]


def test_who_is_frozen_is_thawed_before_it_ends(floor: ContainerFloor, done: list[str]) -> None:
    floor.stop("a")
    assert done == ["a unpause", "a stop"]
    noted(floor, "b").fails["unpause"] = TandemError("it is gone")
    floor.stop("b")
    assert done[-1] == "b stop", "what is gone cannot be thawed, and is removed all the same"


def test_a_window_alone(floor: ContainerFloor, done: list[str]) -> None:
    record = alone(floor).measure(window_spec("open", "a", rates_rps={"a": 7}))
    assert done == ["settle", "a sent open", "watching", "a ran open at 7", "watched"]
    assert record.began_s == {"a": 1.0}
    assert list(record.windows) == ["a"]


def test_a_window_that_begins_at_once(floor: ContainerFloor, done: list[str]) -> None:
    alone(floor).measure(window_spec("closed", "a", settled=False))
    assert done[0] == "a sent closed"


def test_several_are_loaded_at_once_with_files_of_their_own(floor: ContainerFloor, done: list[str]) -> None:
    record = floor.measure(window_spec("both", "a", "b", load="open", rates_rps={"a": 7, "b": 8}))
    assert done[1:4] == ["a sent both-1", "b sent both-2", "watching"]
    assert set(done[4:6]) == {"a ran both-1 at 7", "b ran both-2 at 8"}
    assert list(record.windows) == ["a", "b"]


def test_what_one_window_changes_is_as_before_after_it(floor: ContainerFloor, done: list[str]) -> None:
    spec = window_spec("closed", "a", scenario_changes={"connections": 3}, address="app:8080")
    alone(floor).measure(spec)
    assert "a asked for 3 at app:8080" in done
    assert done[-1] == "a asked for 50 at proxy:8080"
    assert noted(floor, "a").case.proxied


def test_a_change_that_no_scenario_can_have(floor: ContainerFloor) -> None:
    with pytest.raises(UsageError, match="no field 'conections'"):
        alone(floor).measure(window_spec("closed", "a", scenario_changes={"conections": 3}))


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyError("x")])
def test_a_window_that_breaks_is_told_with_the_applications_last_words(
    floor: ContainerFloor, done: list[str], error: Exception
) -> None:
    noted(floor, "a").fails["ran closed at None"] = error
    with pytest.raises(TandemError, match=r"(?s)the window closed failed: .*the last words of a"):
        alone(floor).measure(window_spec("closed", "a", scenario_changes={"connections": 3}))
    assert done[-1].startswith("a asked for 50"), "what was changed for it is as before"


def test_pgbench_stands_in_without_a_container(
    real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: list[str]
) -> None:
    of = request()
    made = prepare(real, of, stand_ins.variant("database"), tmp_path)
    floor = PgbenchFloor({"d": cast(Application, cast(Any, Noted("d", made, done)))}, Quiet())

    def runs(prepared: Prepared, seconds: int, folder: Path) -> Any:
        done.append(f"pgbench {seconds}")
        time.sleep(0.05)  # the host's CPU time is counted in hundredths
        return SimpleNamespace(transactions_per_s=12.4, failed=0)

    monkeypatch.setattr(floor_, "transactions", runs)
    monkeypatch.setattr(pgbench, "transactions", runs)
    floor.reset()
    floor.launch("d")
    floor.wait_ready("d")
    assert floor.verify("d") == []
    assert floor.warm_up("d", 2) == [12, 12]
    record = floor.measure(window_spec("closed", "d", seconds=3))
    assert record.only.goodput_rps == 12.4
    assert record.only.requests == 37
    floor.collect("d")
    assert floor.stop("d") == []
    assert done == ["d remove", "d execute", "pgbench 2", "pgbench 3"], (
        "the database is as it was seeded, though"
    )


def test_the_test_of_changes_can_fail(floor: ContainerFloor) -> None:
    """Negative control: another case is another load."""
    app = noted(floor, "a")
    other = replace(app.case, load_address="db:1")
    app.ask_for(other)
    assert app.load(1, None).url.startswith("http://db:1")
