"""The smaller probes, and the sampler."""

import os
import re
import statistics
import threading
import time
from collections.abc import Callable
from itertools import accumulate, count
from unittest.mock import Mock

import pytest
from harness_places import ROOT
from harness_samples import there

from tandem.hosts import HERE, here
from tandem.hosts.host import Usage
from tandem.probes import sampler, threads
from tandem.probes.data_changes import tables_in
from tandem.probes.disturbances import DisturbanceProbe, meter_cpus
from tandem.probes.postgres import read_texts
from tandem.probes.probe import BeforeAndAfter, uneven_s
from tandem.probes.sampler import Prober, Sampler, Wrong
from tandem.probes.threads import EndsOfConnections, SwitchCounts, between


def seen_share(pauses_s: list[float], period_s: float, share: float) -> float:
    """How many of the samples find something there that is there for `share` of each period."""
    moments = list(accumulate(pauses_s))
    return sum((moment / period_s) % 1 < share for moment in moments) / len(moments)


def test_looks_do_not_keep_step_with_what_they_watch() -> None:
    pauses_s = [uneven_s(0.5) for _ in range(10_000)]
    assert statistics.fmean(pauses_s) == pytest.approx(0.5, rel=0.02)
    for period_s in (0.5, 0.5 / 7, 0.02):
        assert seen_share(pauses_s, period_s, 0.7) == pytest.approx(0.7, abs=0.05)
        assert seen_share([0.5] * 10, period_s + 1e-9, 0.7) in (0.0, 1.0), "even ones do"


@pytest.mark.parametrize("broken", [False, True])
def test_connections_are_counted_until_all_are_there(monkeypatch: pytest.MonkeyPatch, broken: bool) -> None:
    """They come one by one; a look at their table is expensive."""
    monkeypatch.setattr(threads, "INTERVAL_S", 0.01)
    monkeypatch.setattr(threads, "SPAN_S", 0.05)
    host = Mock()
    host.threads.return_value = 7
    host.established.side_effect = FileNotFoundError("gone") if broken else count(1)
    host.tcp_counter.side_effect = lambda *_: 100 * host.established.call_count
    generator = Mock(thread_cpu_s=lambda: {1: time.monotonic() * 0.5, 2: 0.0})
    probe = EndsOfConnections(host, 1, 80, [generator], 3)
    probe.start()
    time.sleep(0.2)
    if broken:
        with pytest.raises(FileNotFoundError):
            probe.stop()
    else:
        probe.stop()
        assert (probe.seen.established, probe.seen.app_threads, host.established.call_count) == (3, 7, 3)
        assert probe.seen.generator_thread_cores == pytest.approx(0.5, rel=0.01)
        assert probe.seen.connections_opened == 300, "of the load alone"


def test_the_generators_busiest_thread() -> None:
    seen = {7: [(0.0, 1.0), (1.0, 1.5), (2.0, 2.0)], 8: [(0.0, 0.0), (2.0, 1.9)], 9: [(1.9, 5.0)]}
    assert threads.busiest(seen) == pytest.approx(0.95)
    assert threads.busiest({}) is None


def test_the_tables_of_every_statement_exist() -> None:
    """What the probe does to them is seen in tests/containers/test_conditions.py."""
    known = set(re.findall(r"create table (\w+)", (ROOT / "contract/sql/schema.sql").read_text()))
    named = {name: tables_in([text]) for name, text in read_texts(ROOT / "contract/sql/queries").items()}
    assert all(tables and tables <= known for tables in named.values()), named
    assert set().union(*named.values()) == known
    assert named["recipe_by_id"] == {"core_recipe", "core_membership"}


@pytest.mark.parametrize(
    ("cpusets", "cpus"), [(("1", "0"), [0, 1]), (("2-3", "2,5"), [2]), (("", "0"), None), (("4",), [4])]
)
def test_a_meter_for_each_set(cpusets: tuple[str, ...], cpus: list[int] | None) -> None:
    assert meter_cpus(*cpusets) == cpus


def test_a_watch_of_this_very_process() -> None:
    watch = DisturbanceProbe(HERE, os.getpid(), "0")
    watch.start()
    time.sleep(0.3)
    watch.stop()
    found = there(watch.part("any"))
    before, after = found.clocks
    assert after.monotonic_s - before.monotonic_s >= 0.3
    assert (found.listen_overflows, found.oversleep is None) == (0, False)


# ---- context switches ----

BEFORE = SwitchCounts(cpu_s=1.0, threads_cpu_s={1: 0.5, 2: 0.5}, switches={1: 100, 2: 10})


@pytest.mark.parametrize(
    ("after", "found"),
    [
        # One that came in between began at nothing.
        (SwitchCounts(4.0, {1: 1.5, 2: 0.5, 3: 2.0}, {1: 150, 2: 10, 3: 7}), 57),
        # One that ended took its count with it; the group was charged for what it did.
        (SwitchCounts(2.1, {1: 1.5}, {1: 150}), 50),
        (SwitchCounts(2.2, {1: 1.5}, {1: 150}), None),
    ],
)
def test_the_switches_of_threads_that_come_and_go(after: SwitchCounts, found: int | None) -> None:
    assert between(BEFORE, after).number == found


def test_what_is_looked_at_before_and_after() -> None:
    """Each application has its own; one that a look misses has none."""
    looks = [{"A": 1, "B": 10, "C": 0}, {"A": 6, "B": 25, "D": 0}]
    probe = BeforeAndAfter(lambda: looks.pop(0), lambda before, after: after - before)
    probe.start()
    probe.stop()
    assert {label: probe.part(label) for label in "ABCD"} == {"A": 5, "B": 15, "C": None, "D": None}


NOT_GOLDEN = Wrong("/: not the golden one", body=True)
BROKEN = "the probe itself failed: ValueError('no such thing')"
REFUSED = Wrong("/: refused", body=False)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "INTERVAL_S", 0.001)


def stopped(*answers: Callable[[], Wrong | None]) -> Prober:
    """A prober that was stopped after it had asked for these answers; later ones are right."""
    left, done = list(answers), threading.Event()

    def ask() -> Wrong | None:
        if left:
            return left.pop(0)()
        done.set()
        return None

    prober = Prober(ask)
    prober.start()
    assert done.wait(10), "the thread died"
    prober.stop()
    return prober


def broken() -> Wrong | None:
    raise ValueError("no such thing")


def right() -> Wrong | None:
    return None


@pytest.mark.parametrize(
    ("answers", "wrong", "refused"),
    [
        ([right, right], [], []),
        ([lambda: NOT_GOLDEN, right, lambda: REFUSED], [NOT_GOLDEN.text], [REFUSED.text]),
        # A thread that died would look like one that found nothing.
        ([broken, lambda: NOT_GOLDEN], [BROKEN, NOT_GOLDEN.text], []),
    ],
)
def test_every_probe_is_counted_and_wrong_ones_are_kept(
    answers: list[Callable[[], Wrong | None]], wrong: list[str], refused: list[str]
) -> None:
    found = stopped(*answers).probed
    assert found.asked > len(answers)
    assert (found.wrong, found.refused) == (wrong, refused)
    assert not any(thread.name == "prober" for thread in threading.enumerate()), (
        "nothing is asked after the end"
    )


def slow(*takes_s: float) -> Mock:
    """A group whose reading takes so long, one after the other; its CPU time counts the readings."""
    reads = count()

    def usage() -> Usage:
        time.sleep(takes_s[min(number := next(reads), len(takes_s) - 1)])
        return Usage(cpu_s=number + 1, throttled_s=0.0, memory_bytes=0)

    return Mock(usage=Mock(side_effect=usage))


def test_counters_are_read_again_when_something_came_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "READ_S", 0.05)
    preempted, quiet, hopeless = slow(0.1, 0.0), slow(0.0), slow(0.3, 0.1, 0.2)
    samplers = [
        Sampler(HERE, {"a": group}, None, None, lambda *_: None) for group in (preempted, quiet, hopeless)
    ]
    found = [one.take() for one in samplers]
    assert [sample.usage["a"].cpu_s for sample in found] == [2, 1, 2], "the quickest reading counts"
    assert hopeless.usage.call_count == here.READS
    assert time.time() - found[2].at_s > 0.2, "the moment is that of the reading, not of the last try"


def test_a_dead_generators_counters_stand_still() -> None:
    """Any other container that goes is an error."""
    groups = {"loadgen": Mock(), "loadgen-2": Mock()}
    staying, leaving = (group.usage for group in groups.values())
    staying.return_value, leaving.return_value = Usage(1.0, 0.0, 10), Usage(3.0, 0.0, 10)
    found = Sampler(HERE, groups, None, None, lambda *_: None, mortal=["loadgen", "loadgen-2"])
    strict = Sampler(HERE, groups, None, None, lambda *_: None, mortal=["loadgen"])
    assert found.take().usage["loadgen-2"].cpu_s == strict.take().usage["loadgen-2"].cpu_s == 3.0
    leaving.side_effect, staying.return_value = FileNotFoundError, Usage(2.0, 0.0, 10)
    after = found.take().usage
    assert (after["loadgen"].cpu_s, after["loadgen-2"].cpu_s) == (2.0, 3.0)
    with pytest.raises(FileNotFoundError):
        strict.take()
