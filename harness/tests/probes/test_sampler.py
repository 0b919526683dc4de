"""tandem.probes.sampler.Prober: every probe is counted, whatever becomes of it."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tandem.hosts import HERE, here
from tandem.hosts.host import Usage
from tandem.probes import sampler
from tandem.probes.sampler import Prober, Sampler, Wrong

NOT_GOLDEN = Wrong("/: not the golden one", body=True)
BROKEN = Wrong("the probe itself failed: ValueError('no such thing')", body=True)
REFUSED = Wrong("/: refused", body=False)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler, "INTERVAL_S", 0.001)


def probed(*answers: Callable[[], Wrong | None]) -> Prober:
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
    ("answers", "wrong"),
    [
        ([right, right], []),
        ([lambda: NOT_GOLDEN, right, lambda: REFUSED], [NOT_GOLDEN, REFUSED]),
        # A thread that died would look like one that found nothing.
        ([broken, lambda: NOT_GOLDEN], [BROKEN, NOT_GOLDEN]),
    ],
)
def test_every_probe_is_counted_and_wrong_ones_are_kept(
    answers: list[Callable[[], Wrong | None]], wrong: list[Wrong]
) -> None:
    prober = probed(*answers)
    assert prober.asked > len(answers)
    assert prober.wrong == wrong


def test_nothing_is_asked_after_the_end() -> None:
    prober = probed()
    asked = prober.asked
    prober.stop()
    assert not any(thread.name == "prober" for thread in threading.enumerate())
    assert prober.asked == asked


class Slow:
    """A group whose reading takes so long, one after the other; its CPU time counts the readings."""

    def __init__(self, *takes_s: float) -> None:
        self._takes_s, self.reads = list(takes_s), 0

    def usage(self) -> Usage:
        time.sleep(self._takes_s[min(self.reads, len(self._takes_s) - 1)])
        self.reads += 1
        return Usage(cpu_s=self.reads, throttled_s=0.0, anonymous_bytes=0)


def test_counters_are_read_again_when_something_came_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "READ_S", 0.05)
    preempted, quiet, hopeless = Slow(0.1, 0.0), Slow(0.0), Slow(0.3, 0.1, 0.2)
    groups: list[Any] = [preempted, quiet, hopeless]
    found = [Sampler(HERE, {"a": group}, None, None, lambda before, now: None).take() for group in groups]
    assert [sample.usage["a"].cpu_s for sample in found] == [2, 1, 2], "the quickest reading counts"
    assert hopeless.reads == here.READS
    assert time.time() - found[2].at_s > 0.2, "the moment is that of the reading, not of the last try"


class Leaving:
    """A group whose container may go."""

    def __init__(self, cpu_s: float) -> None:
        self.cpu_s, self.there = cpu_s, True

    def usage(self) -> Usage:
        if not self.there:
            raise FileNotFoundError
        return Usage(self.cpu_s, 0.0, 10)


def test_a_dead_generators_counters_stand_still() -> None:
    """Any other container that goes is an error."""
    staying, leaving = Leaving(1.0), Leaving(3.0)
    groups: Any = {"loadgen": staying, "loadgen-2": leaving}
    found = Sampler(HERE, groups, None, None, lambda *_: None, mortal=["loadgen", "loadgen-2"])
    strict = Sampler(HERE, groups, None, None, lambda *_: None, mortal=["loadgen"])
    assert found.take().usage["loadgen-2"].cpu_s == strict.take().usage["loadgen-2"].cpu_s == 3.0
    leaving.there, staying.cpu_s = False, 2.0
    after = found.take().usage
    assert (after["loadgen"].cpu_s, after["loadgen-2"].cpu_s) == (2.0, 3.0)
    with pytest.raises(FileNotFoundError):
        strict.take()
