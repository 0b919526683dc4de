"""An application's threads and connections: how often its threads gave up their CPU to wait, where a hand-over from thread to thread
shows first; and both ends of a load's connections, how many are established and who is busy.

The table of ten thousand connections costs the kernel and this process some 50 ms together, on the generator's CPUs: it
is read until as many are seen as were asked for, and then no more.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from tandem.hosts.host import Cgroup, Host
from tandem.probes.probe import Background
from tandem.record.window import BothEnds

INTERVAL_S = 1.0
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

    host: where the application runs. app: PID of its first process, which listens on the port. generators: their groups. wanted:
    connections.
    """

    def __init__(self, host: Host, app: int, port: int, generators: Sequence[Cgroup], wanted: int) -> None:
        self._host, self._app, self._port, self._wanted = host, app, port, wanted
        self._generators = generators
        self._established = 0
        self._app_threads = 0
        self._threads: dict[tuple[int, int], list[tuple[float, float]]] = {}
        self._opens: list[int | None] = []
        """Connections that were ever opened to it, at start and stop."""
        self._looking = Background("ends", self._look, lambda: INTERVAL_S)

    def start(self) -> None:
        self._opens.append(self._host.tcp_counter(self._app, "PassiveOpens"))
        self._looking.start()

    def stop(self) -> None:
        self._looking.stop()
        self._opens.append(self._host.tcp_counter(self._app, "PassiveOpens"))

    @property
    def seen(self) -> BothEnds:
        """The most that was seen, and the connections that were opened from start to stop."""
        before, after = self._opens
        return BothEnds(
            established=self._established,
            connections_opened=None if before is None or after is None else after - before,
            app_threads=self._app_threads,
            generator_thread_cores=busiest(self._threads),
        )

    def _look(self) -> None:
        if self._established < self._wanted:
            found = self._host.established(self._app, local_port=self._port)
            self._established = max(self._established, found)
        self._app_threads = max(self._app_threads, self._host.threads(self._app))
        now = time.monotonic()
        for number, generator in enumerate(self._generators):
            with suppress(OSError):  # one that died is told by its run
                for thread, cpu_s in generator.thread_cpu_s().items():
                    self._threads.setdefault((number, thread), []).append((now, cpu_s))


SEEN_SHARE = 0.9
"""The threads that are there at both ends, or came in between, must have used so much of the application's CPU time."""


@dataclass(frozen=True)
class SwitchCounts:
    """One moment of an application."""

    cpu_s: float
    """CPU time of the whole control group, threads that ended among them."""
    threads_cpu_s: Mapping[int, float]
    switches: Mapping[int, int]
    """Thread -> how often it gave up its CPU since it began."""

    @classmethod
    def at(cls, group: Cgroup) -> "SwitchCounts":
        return cls(group.usage().cpu_s, group.thread_cpu_s(), group.thread_switches())


@dataclass(frozen=True)
class ContextSwitches:
    """Context switches that the application's threads asked for over the whole window; None: not known."""

    number: int | None


def between(before: SwitchCounts, after: SwitchCounts) -> ContextSwitches:
    """Context switches from one look to the other. None where threads ended that did much of the work: the kernel forgets
    their count with them, as that of the child processes of a request."""
    seen_s = sum(
        cpu_s - before.threads_cpu_s.get(thread, 0.0) for thread, cpu_s in after.threads_cpu_s.items()
    )
    if seen_s < SEEN_SHARE * (after.cpu_s - before.cpu_s):
        return ContextSwitches(None)
    return ContextSwitches(
        sum(number - before.switches.get(thread, 0) for thread, number in after.switches.items())
    )
