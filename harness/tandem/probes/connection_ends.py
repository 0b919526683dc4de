"""Looks at both ends of a load's connections while it runs: how many are established, and who is busy.

The table of ten thousand connections costs the kernel and this process some 50 ms together, on the generator's CPUs: it
is read until as many are seen as were asked for, and then no more.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from tandem.hosts.host import Cgroup, Host
from tandem.probes.probe import Background
from tandem.record.window import BothEnds

INTERVAL_S = 1.0
PORT = 8080
SPAN_S = 0.9
"""A thread seen for less is not judged: ticks are 10 ms."""


def busiest[K](threads: Mapping[K, Sequence[tuple[float, float]]]) -> float | None:
    """CPU-seconds per second of the busiest thread; None if none was seen long enough.

    threads: thread -> (monotonic seconds, CPU-seconds), in the order of time.
    """
    shares = [
        (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])
        for seen in threads.values()
        if seen[-1][0] - seen[0][0] >= SPAN_S
    ]
    return max(shares, default=None)


class EndsOfConnections:
    """A thread that looks once a second between `start` and `stop`.

    host: where the application runs. app: PID of its first process. generators: their groups. wanted: connections.
    """

    def __init__(self, host: Host, app: int, generators: Sequence[Cgroup], wanted: int) -> None:
        self._host, self._app, self._wanted = host, app, wanted
        self._generators = generators
        self._established = 0
        self._app_threads = 0
        self._threads: dict[tuple[int, int], list[tuple[float, float]]] = {}
        looking = Background("ends", self._look, lambda: INTERVAL_S)
        self.start, self.stop = looking.start, looking.stop

    @property
    def seen(self) -> BothEnds:
        """The most that was seen."""
        return BothEnds(
            established=self._established,
            app_threads=self._app_threads,
            generator_thread_cores=busiest(self._threads),
        )

    def _look(self) -> None:
        if self._established < self._wanted:
            found = self._host.established(self._app, local_port=PORT)
            self._established = max(self._established, found)
        self._app_threads = max(self._app_threads, self._host.threads(self._app))
        now = time.monotonic()
        for number, generator in enumerate(self._generators):
            with suppress(OSError):  # one that died is told by its run
                for thread, cpu_s in generator.thread_cpu_s().items():
                    self._threads.setdefault((number, thread), []).append((now, cpu_s))
