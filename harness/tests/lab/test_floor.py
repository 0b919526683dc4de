"""What a floor does without containers: windows and turns, what each sees, and what doctor reads."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from harness_engine import Quiet, request, window_spec
from harness_samples import PROPERTY, good_window, there
from harness_windows import series
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.alternation import balanced
from tandem.catalog.catalog import Catalog
from tandem.catalog.golden import drawn
from tandem.engine import stand_ins
from tandem.errors import TandemError, UsageError
from tandem.hosts import HERE
from tandem.hosts.host import Usage
from tandem.lab import doctor, pgbench
from tandem.lab import floor as floor_
from tandem.lab.challenge import clients_of, new_body
from tandem.lab.floor import ContainerFloor, PgbenchFloor
from tandem.lab.generator_runs import Ran
from tandem.lab.observe import Counters
from tandem.lab.prepare import Prepared, prepare
from tandem.lab.sites import ALONE
from tandem.lab.slices import HELD, end, held, signals, take_turns, turns_of, until_the_end
from tandem.load.client import Client
from tandem.load.generator import Load
from tandem.probes.sampler import Series
from tandem.record.trial import Slicing


class Noted:
    """An application that notes calls as `label call`."""

    def __init__(self, label: str, prepared: Prepared, done: list[str]) -> None:
        self.label, self.prepared, self.case, self.done = label, prepared, prepared.case, done
        self.folder = Path("/raw") / label
        self.fails: dict[str, BaseException] = {}
        self.meanwhile: Callable[[], object] = lambda: None
        """Called while a load runs."""
        self.stack = SimpleNamespace(
            sites=ALONE,
            pause=lambda service="": self._note(f"pause {service}".strip()),
            unpause=lambda service="": self._note(f"unpause {service}".strip()),
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
        self.meanwhile()
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


@pytest.mark.parametrize(("seconds", "froze"), [(0, True), (400, False)])
def test_a_database_is_frozen_during_the_load_and_thawed_at_its_end(
    alone: ContainerFloor, done: list[str], seconds: int, froze: bool
) -> None:
    """The load here ends at once: a quarter of nothing has passed by then, and of 400 s not."""
    spec = window_spec("frozen", "a", seconds=seconds, load="open", rates_rps={"a": 10}, freeze_s=30.0)
    app: Any = alone.apps["a"]
    pausing = threading.Event()

    def pause(service: str) -> None:
        done.append(f"pause {service}")
        pausing.set()

    app.stack.pause = pause
    app.meanwhile = lambda: pausing.wait(5 * froze)
    began_s = time.monotonic()
    record = alone.measure(spec)
    assert time.monotonic() - began_s < 10, "the end of the load thaws it"
    assert len(record.frozen_s) == 2 * froze
    assert [call for call in done if call.endswith("pause db")] == ["pause db", "a unpause db"] * froze
    assert alone.measure(window_spec("open-1", "a", rates_rps={"a": 10})).frozen_s == []


def test_a_database_that_cannot_be_frozen_ends_the_window(alone: ContainerFloor, done: list[str]) -> None:
    fails(alone, "a", "pause db", TandemError("db cannot be frozen"))
    cast(Any, alone.apps["a"]).meanwhile = lambda: time.sleep(0.2)
    with pytest.raises(TandemError, match="db cannot be frozen"):
        alone.measure(window_spec("frozen", "a", seconds=0, freeze_s=1.0))
    assert "a unpause db" in done, "who knows"


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


def test_each_window_sees_its_own_application_and_forgets_none() -> None:
    both = [
        replace(
            one,
            connected={
                ("10.0.0.2", "app"): 19 + n % 2,
                ("10.0.0.3", "app"): n,
                ("10.0.0.3", "postgres"): 3,
                ("10.0.0.8", "app"): 2,
                ("10.0.0.8", "postgres"): 100,
                ("10.0.0.9", "app"): 500,
            },
            usage={
                **{role: usage for role, usage in one.usage.items() if role != "app"},
                "app A": one.usage["app"],
                "app B": Usage(cpu_s=10.0 + 3 * n, memory_bytes=7, throttled_s=0.0),
            },
        )
        for n, one in enumerate(series().samples)
    ]
    seen = Counters.__new__(Counters)
    seen._apps = {"A": "app A", "B": "app B"}
    seen._series, seen._busiest = Series(both), {"A": 1.0, "B": 2.0}
    seen._addresses = {"A": {"10.0.0.2": set()}, "B": {"10.0.0.3": set(), "10.0.0.8": {"postgres"}}}
    first, second = (seen.part(label).series for label in ("A", "B"))
    assert second.samples[0].usage["app"].cpu_s == 10.0
    assert second.samples[0].usage["app A"] == first.samples[0].usage["app"] == both[0].usage["app A"]
    used = [
        [sum(u.cpu_s for u in one.usage.values()) for one in samples] for samples in (second.samples, both)
    ]
    assert used[0] == used[1]
    assert seen.part("B").busiest_thread_s == 2.0
    assert [seen.part(label).db_connections_max for label in ("A", "B")] == [20, len(both) - 1 + 3 + 2], (
        "from its own container whatever the role, through the latency proxy all but the harness's"
    )
    seen._addresses = {}
    assert seen.part("A").db_connections_max is None, "nobody knows whose they are"


def test_a_new_body_is_as_long_and_has_another_sum(real: Catalog) -> None:
    body = there(real.scenarios["work-large"].body)
    [known] = drawn(body.model_copy(update={"drawn": 1}), 7, "")
    made = [new_body(known) for _ in range(20)]
    assert len({one.body for one in made}) > 1
    for one in made:
        assert len(one.body) == len(known.body)
        assert one.answer == f"Sum: {sum(json.loads(one.body))}".encode() != known.answer


@pytest.mark.parametrize(
    ("connections", "answers_per_s", "clients"),
    [(50, None, 50), (100, 4000.0, 50), (50, 60.0, 30), (50, 5.0, 6), (4, 5.0, 4), (8, 4000.0, 8)],
)
def test_a_slow_application_meets_the_lock_with_fewer(
    connections: int, answers_per_s: float | None, clients: int
) -> None:
    assert clients_of(connections, answers_per_s) == clients


@pytest.mark.parametrize(("granted", "state"), [(True, "good"), (False, "limited")])
def test_a_machine_on_which_nothing_can_be_captured_is_told_so(granted: bool, state: str) -> None:
    found = doctor.capture(cast(Any, SimpleNamespace(can_capture=lambda: granted)))
    assert (found.state, "NET_RAW" in found.means) == (state, not granted)


HOW = Slicing(slice_s=1.0, settle_s=0.2, seed=1)


class Bench:
    """Notes what is done, on a clock of its own; reading the counters takes 2 ms."""

    def __init__(self) -> None:
        self.now_s, self.done = 100.0, list[str]()

    def note(self, what: str) -> None:
        self.done.append(what)

    def mark(self) -> float:
        self.note("read")
        self.now_s += 0.002
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        self.note(f"sleep {seconds:.1f}")

    def run(self, order: list[str], how: Slicing = HOW) -> Any:
        go, halt = (lambda label, what=what: self.note(f"{what} {label}") for what in ("go", "halt"))
        return take_turns(order, how, go, halt, self.mark, lambda: self.now_s, self.sleep)


def test_the_order_of_what_is_done() -> None:
    bench = Bench()
    bench.run(["A", "B"])
    assert bench.done == [
        *("go A", "sleep 0.2", "read", "sleep 0.8", "read", "halt A"),
        *("go B", "sleep 0.2", "read", "sleep 0.8", "read", "halt B"),
    ]


@PROPERTY
@given(labels=st.integers(1, 5), groups=st.integers(1, 20), seed=st.integers(0, 9), slice_s=st.floats(0.5, 3))
def test_each_group_holds_each_once_never_do_two_run_and_slices_do_not_drift(
    labels: int, groups: int, seed: int, slice_s: float
) -> None:
    names = [f"v{n}" for n in range(labels)]
    bench, order = Bench(), balanced(names, groups, seed)
    assert order == balanced(names[::-1], groups, seed), "the seed alone decides"
    assert [sorted(order[n : n + labels]) for n in range(0, len(order), labels)] == [names] * groups
    made = bench.run(order, Slicing(slice_s=slice_s, seed=seed))
    calls = [what for what in bench.done if what.startswith(("go", "halt"))]
    assert calls == [f"{call} {label}" for label in order for call in ("go", "halt")]
    assert [one.label for one in made] == order
    assert all(one.woken_s < one.settled_s < one.ended_s <= one.stopped_s for one in made)
    assert made[-1].stopped_s - made[0].woken_s == pytest.approx(len(order) * slice_s, abs=0.01)


def test_a_window_is_filled_with_whole_groups_whoever_is_left() -> None:
    for labels, turns in (("ABC", 15), ("AB", 14)):
        assert len(turns_of(window_spec("slices", *labels, seconds=15, slices=HOW))) == turns
    assert turns_of(window_spec()) == []


def test_a_load_ends_after_its_last_slice_and_soon() -> None:
    """However late its first slice is; and an answer may wait for as long as its generator stands still."""
    load = Load("", 15, 1, 1, {})
    spec = window_spec("slices", "A", "B", "C", seconds=15, slices=HOW)
    for before in range(3):
        found = until_the_end(load, spec, before)
        assert 15 <= before + found.duration_s < 16
        assert found.timeout_s == load.timeout_s + 6


# ---- real processes ----


def own_host(*pids: int) -> Any:
    """This machine; its only control group has these processes."""
    group = SimpleNamespace(processes=lambda: pids)
    return SimpleNamespace(stopped=HERE.stopped, signal=HERE.signal, cgroup=lambda pid: group)


@pytest.fixture
def counting() -> Iterator[subprocess.Popen[bytes]]:
    """A held program that writes a line every 10 ms once it goes on."""
    script = "while :; do echo tick; sleep 0.01; done"
    with subprocess.Popen([*HELD, "sh", "-c", script, "/tmp/one.json"], stdout=subprocess.PIPE) as process:
        yield process
        process.send_signal(signal.SIGKILL)


def test_a_held_program_begins_when_it_is_woken_and_stands_still_when_it_is_stopped(
    counting: subprocess.Popen[bytes],
) -> None:
    host = own_host(os.getpid(), counting.pid)
    found = held([(host, 1)], {"A": "/tmp/one.json"}, [])
    assert found == {"A": (host, counting.pid)}
    go, halt = signals({"A": [found["A"]]})
    assert counting.stdout is not None
    os.set_blocking(counting.stdout.fileno(), False)
    assert not counting.stdout.read(), "it has not begun"
    go("A")
    time.sleep(0.3)
    halt("A")
    assert (counting.stdout.read() or b"").count(b"tick") > 3
    time.sleep(0.1)
    assert not counting.stdout.read(), "it stands still"
    assert HERE.stopped(counting.pid) is not None
    go("A")
    time.sleep(0.2)
    assert counting.stdout.read()
    assert HERE.stopped(counting.pid) is None


def test_who_stands_still_when_the_window_breaks_is_ended(counting: subprocess.Popen[bytes]) -> None:
    """Else whoever waits for it would wait for ever."""
    host = own_host(counting.pid)
    with ThreadPoolExecutor(1) as threads:
        running = {"A": threads.submit(counting.wait)}
        end([(host, 1)], {"A": "/tmp/one.json"}, {}, running)
        assert running["A"].result(timeout=1) == -signal.SIGKILL


def test_a_generator_that_does_not_begin_is_told_at_once() -> None:
    broken: Future[object] = Future()
    broken.set_exception(TandemError("no such program"))
    began = time.monotonic()
    with pytest.raises(TandemError, match="no such program"):
        held([(own_host(), 1)], {"A": "a.json"}, [broken])
    assert time.monotonic() - began < 1


def test_several_generators_of_one_go_on_and_stand_still_together() -> None:
    sent: list[tuple[int, int]] = []

    def deaf(pid: int, number: int) -> None:
        sent.append((pid, number))
        if pid == 2:
            raise ProcessLookupError

    host: Any = SimpleNamespace(signal=deaf)
    go, halt = signals({"A": [(host, 1), (host, 2), (host, 3)], "B": [(host, 4)]})
    go("A")
    halt("A")
    assert sent == [(pid, number) for number in (signal.SIGCONT, signal.SIGSTOP) for pid in (1, 2, 3)]
    alone, _ = signals({"A": [(host, 2)]})
    with pytest.raises(ProcessLookupError):
        alone("A")
