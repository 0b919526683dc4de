"""tandem.lab.slices: who goes on and who stands still, and in which order; with real processes too."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, cast

import pytest
from harness_engine import window_spec
from harness_samples import PROPERTY
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.alternation import balanced
from tandem.errors import TandemError
from tandem.hosts import HERE
from tandem.hosts.host import Host
from tandem.lab.slices import HELD, end, held, signals, take_turns, turns_of, until_the_end
from tandem.load.generator import Load
from tandem.record.trial import Slicing

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
    running: list[str] = []
    for what in bench.done:
        call, _, label = what.partition(" ")
        if call == "go":
            assert not running
            running.append(label)
        elif call == "halt":
            running.remove(label)
    assert not running
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


class OwnHost:
    """This machine; its only control group has these processes."""

    def __init__(self, pids: list[int]) -> None:
        self.pids = pids
        self.stopped, self.signal = HERE.stopped, HERE.signal

    def cgroup(self, pid: int) -> Any:
        return SimpleNamespace(processes=lambda name=None: self.pids)


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
    host = cast(Host, OwnHost([os.getpid(), counting.pid]))
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
    host = cast(Host, OwnHost([counting.pid]))
    with ThreadPoolExecutor(1) as threads:
        running = {"A": threads.submit(counting.wait)}
        end([(host, 1)], {"A": "/tmp/one.json"}, {}, running)
        assert running["A"].result(timeout=1) == -signal.SIGKILL


def test_a_generator_that_does_not_begin_is_told_at_once() -> None:
    broken: Future[object] = Future()
    broken.set_exception(TandemError("no such program"))
    began = time.monotonic()
    with pytest.raises(TandemError, match="no such program"):
        held([(cast(Host, OwnHost([])), 1)], {"A": "a.json"}, [broken])
    assert time.monotonic() - began < 1


def test_several_generators_of_one_go_on_and_stand_still_together() -> None:
    sent: list[tuple[int, int]] = []

    class Deaf:
        def signal(self, pid: int, number: int) -> None:
            sent.append((pid, number))
            if pid == 2:
                raise ProcessLookupError

    host = cast(Host, Deaf())
    go, halt = signals({"A": [(host, 1), (host, 2), (host, 3)], "B": [(host, 4)]})
    go("A")
    halt("A")
    assert sent == [(pid, number) for number in (signal.SIGCONT, signal.SIGSTOP) for pid in (1, 2, 3)]
    alone, _ = signals({"A": [(host, 2)]})
    with pytest.raises(ProcessLookupError):
        alone("A")
