"""tandem.probes.connection_ends: what is seen of a load's connections, on a host that only counts."""

import time
from typing import Any

import pytest

from tandem.probes import connection_ends
from tandem.probes.connection_ends import EndsOfConnections


class Counting:
    """A host on which connections come one by one; a look at the table of connections is counted."""

    def __init__(self, broken: bool = False) -> None:
        self.looks, self.broken = 0, broken

    def cgroup(self, pid: int) -> "Counting":
        return self

    def thread_cpu_s(self) -> dict[int, float]:
        return {1: time.monotonic() * 0.5, 2: 0.0}

    def established(self, pid: int, *, local_port: int) -> int:
        if self.broken:
            raise FileNotFoundError("gone")
        self.looks += 1
        return self.looks

    def threads(self, pid: int) -> int:
        return 7


def watch(monkeypatch: pytest.MonkeyPatch, host: Any, wanted: int) -> EndsOfConnections:
    monkeypatch.setattr(connection_ends, "INTERVAL_S", 0.01)
    monkeypatch.setattr(connection_ends, "SPAN_S", 0.05)
    found = EndsOfConnections(host, 1, [host.cgroup(2)], wanted)
    found.start()
    time.sleep(0.2)
    found.stop()
    return found


def test_connections_are_counted_until_all_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Counting()
    found = watch(monkeypatch, host, 3).seen
    assert (found.established, found.app_threads, host.looks) == (3, 7, 3)
    assert found.generator_thread_cores == pytest.approx(0.5, rel=0.01)


def test_a_container_that_died_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError):
        watch(monkeypatch, Counting(broken=True), 3)


def test_the_generators_busiest_thread() -> None:
    seen = {7: [(0.0, 1.0), (1.0, 1.5), (2.0, 2.0)], 8: [(0.0, 0.0), (2.0, 1.9)], 9: [(1.9, 5.0)]}
    assert connection_ends.busiest(seen) == pytest.approx(0.95)
    assert connection_ends.busiest({}) is None
