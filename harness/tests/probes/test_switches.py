"""tandem.probes.switches: context switches of threads that come and go."""

import pytest

from tandem.hosts.host import Usage
from tandem.probes.switches import SwitchCounts, Switches, between

BEFORE = SwitchCounts(cpu_s=1.0, threads_cpu_s={1: 0.5, 2: 0.5}, switches={1: 100, 2: 10})


def test_those_of_all_threads_since_then() -> None:
    """One that came in between began at nothing."""
    after = SwitchCounts(cpu_s=4.0, threads_cpu_s={1: 1.5, 2: 0.5, 3: 2.0}, switches={1: 150, 2: 10, 3: 7})
    assert between(BEFORE, after) == 57


@pytest.mark.parametrize(("used_s", "found"), [(1.1, 50), (1.2, None)])
def test_threads_that_ended_took_their_count_with_them(used_s: float, found: int | None) -> None:
    """The group was charged for what they did."""
    after = SwitchCounts(cpu_s=1.0 + used_s, threads_cpu_s={1: 1.5}, switches={1: 150})
    assert between(BEFORE, after) == found


class Group:
    """One thread, whose counters grow by one with each look."""

    def __init__(self) -> None:
        self.looks = 0

    def usage(self) -> Usage:
        self.looks += 1
        return Usage(cpu_s=self.looks, throttled_s=0.0, anonymous_bytes=0)

    def thread_cpu_s(self) -> dict[int, float]:
        return {1: float(self.looks)}

    def thread_switches(self) -> dict[int, int]:
        return {1: 5 * self.looks}


def test_each_application_has_its_own() -> None:
    first, second = Group(), Group()
    probe = Switches({"A": first, "B": second})  # type: ignore[dict-item]
    probe.start()
    second.looks += 2
    probe.stop()
    assert [probe.part(label).number for label in ("A", "B")] == [5, 15]
