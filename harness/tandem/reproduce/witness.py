"""Looks at the connections themselves while a load runs: how many are established, and who is busy at both ends.

The table of ten thousand connections costs the kernel and this process some 50 ms together, on the generator's CPUs: it
is read until as many are seen as were asked for, and then no more.
"""

import threading
import time
from dataclasses import dataclass, field
from types import TracebackType

from tandem.hosts.host import Host
from tandem.lab.stack import Service

INTERVAL_S = 1.0
PORT = 8080
SPAN_S = 0.9
"""A thread seen for less is not judged: ticks are 10 ms."""


@dataclass
class Seen:
    """What was seen, at the most, while the load ran."""

    established: int = 0
    app_threads: int = 0
    """Of the container's first process."""
    generator_threads: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    """Thread -> (monotonic seconds, CPU-seconds), in the order of time."""

    @property
    def busiest_generator_thread_cores(self) -> float | None:
        """CPU-seconds per second of the generator's busiest thread; None if none was seen long enough."""
        shares = [
            (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])
            for seen in self.generator_threads.values()
            if seen[-1][0] - seen[0][0] >= SPAN_S
        ]
        return max(shares, default=None)


class Witness:
    """A thread that looks once a second, as a context around the load."""

    def __init__(self, host: Host, app: Service, loadgen: Service, wanted: int) -> None:
        """host: where both containers run. wanted: connections."""
        self.seen = Seen()
        self._wanted = wanted
        self._host, self._app_pid = host, app.pid
        self._group = host.cgroup(loadgen.pid)
        self._ended = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="witness", daemon=True)

    def __enter__(self) -> "Witness":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raises what the thread met, unless the load itself failed."""
        self._ended.set()
        self._thread.join()
        if self._failure is not None and error is None:
            raise self._failure

    def _run(self) -> None:
        try:
            while not self._ended.wait(INTERVAL_S):
                self._look()
        except (OSError, ValueError) as error:  # a container that died: told to the main thread
            self._failure = error

    def _look(self) -> None:
        if self.seen.established < self._wanted:
            found = self._host.established(self._app_pid, local_port=PORT)
            self.seen.established = max(self.seen.established, found)
        self.seen.app_threads = max(self.seen.app_threads, self._host.threads(self._app_pid))
        now = time.monotonic()
        for thread, cpu_s in self._group.thread_cpu_s().items():
            self.seen.generator_threads.setdefault(thread, []).append((now, cpu_s))
