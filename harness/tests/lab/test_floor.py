"""tandem.lab.floor: who is frozen, asked, loaded and ended, with applications that only take notes."""

import time
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
from tandem.lab.floor import ContainerFloor, PgbenchFloor
from tandem.lab.generator_runs import Ran
from tandem.lab.prepare import Prepared, prepare
from tandem.lab.sites import ALONE
from tandem.load.client import Client
from tandem.load.generator import Load


class Noted:
    """An application that notes calls as `label call`."""

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
    apps: Any = {label: Noted(label, made[label], done) for label in "ab"}
    return ContainerFloor(apps, Quiet())


@pytest.fixture
def alone(floor: ContainerFloor) -> ContainerFloor:
    """The first application by itself."""
    return ContainerFloor({"a": floor.apps["a"]}, floor.view)


def fails(floor: ContainerFloor, label: str, call: str, error: BaseException) -> None:
    cast(Any, floor.apps[label]).fails[call] = error


def test_of_several_those_that_rest_are_frozen(floor: ContainerFloor, done: list[str]) -> None:
    floor.rest(["a", "b"])
    floor.wake(["b", "a"])
    floor.stop("a")
    assert done == ["a pause", "b pause", "b unpause", "a unpause", "a unpause", "a stop"]
    fails(floor, "b", "unpause", TandemError("it is gone"))
    floor.stop("b")
    assert done[-1] == "b stop", "what is gone cannot be thawed, and is removed all the same"


def test_one_alone_is_never_frozen(alone: ContainerFloor, done: list[str]) -> None:
    alone.rest(["a"])
    alone.wake(["a"])
    alone.stop("a")
    assert done == ["a stop"]


@pytest.mark.parametrize("settled", [True, False])
def test_a_window_alone(alone: ContainerFloor, done: list[str], settled: bool) -> None:
    record = alone.measure(window_spec("open", "a", rates_rps={"a": 7}, settled=settled))
    assert done == [*["settle"] * settled, "a sent open", "watching", "a ran open at 7", "watched"]
    assert (record.began_s, list(record.windows)) == ({"a": 1.0}, ["a"])


def test_several_are_loaded_at_once_with_files_of_their_own(floor: ContainerFloor, done: list[str]) -> None:
    record = floor.measure(window_spec("both", "a", "b", load="open", rates_rps={"a": 7, "b": 8}))
    assert done[1:4] == ["a sent both-1", "b sent both-2", "watching"]
    assert set(done[4:6]) == {"a ran both-1 at 7", "b ran both-2 at 8"}
    assert list(record.windows) == ["a", "b"]


def test_what_one_window_changes_is_as_before_after_it(alone: ContainerFloor, done: list[str]) -> None:
    spec = window_spec("closed", "a", scenario_changes={"connections": 3}, address="app:8080")
    alone.measure(spec)
    assert "a asked for 3 at app:8080" in done
    assert done[-1] == "a asked for 50 at proxy:8080"
    assert cast(Any, alone.apps["a"]).case.proxied
    with pytest.raises(UsageError, match="no field 'conections'"):
        alone.measure(window_spec("closed", "a", scenario_changes={"conections": 3}))


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyError("x")])
def test_a_window_that_breaks_is_told_with_the_applications_last_words(
    alone: ContainerFloor, done: list[str], error: Exception
) -> None:
    fails(alone, "a", "ran closed at None", error)
    with pytest.raises(TandemError, match=r"(?s)the window closed failed: .*the last words of a"):
        alone.measure(window_spec("closed", "a", scenario_changes={"connections": 3}))
    assert done[-1].startswith("a asked for 50"), "what was changed for it is as before"


def test_pgbench_stands_in_without_a_container(
    real: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done: list[str]
) -> None:
    made = prepare(real, request(), stand_ins.variant("database"), tmp_path)
    apps: Any = {"d": Noted("d", made, done)}
    floor = PgbenchFloor(apps, Quiet())

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
    only = floor.measure(window_spec("closed", "d", seconds=3)).only
    assert (only.goodput_rps, only.requests) == (12.4, 37)
    floor.collect("d")
    assert floor.stop("d") == []
    assert done == ["d remove", "d execute", "pgbench 2", "pgbench 3"], "the database is as it was seeded"
