"""What disturbs a window from outside: hiccups, clocks, swapping, dropped connections. Read before and after."""

from dataclasses import dataclass

from tandem.catalog.ranges import expand
from tandem.hosts.host import Clocks, Host, Oversleep


@dataclass(frozen=True)
class Disturbances:
    """Disturbances of a window. None: not readable here."""

    oversleep: Oversleep | None
    clocks: tuple[Clocks, Clocks]
    swapped_pages: int | None
    listen_overflows: int | None


def meter_cpus(*cpusets: str) -> list[int] | None:
    """The first CPU of each set, once; None if a set is empty, which means all."""
    if not all(cpusets):
        return None
    return sorted({expand(cpuset)[0] for cpuset in cpusets})


class DisturbanceProbe:
    """A Probe: `start` before a window, `stop` after it.

    host: where the application runs; pid: the application's. cpusets: of the roles on whose CPUs hiccups matter.
    """

    def __init__(self, host: Host, pid: int, *cpusets: str) -> None:
        self._host, self._pid = host, pid
        self._meter = host.hiccup_meter(meter_cpus(*cpusets))

    def start(self) -> None:
        self._before = self._counters()
        self._clocks = self._host.clocks()
        self._meter.start()

    def stop(self) -> None:
        """Raises OSError if the application is gone; the meter ends in any case."""
        oversleep = self._meter.stop()
        clocks = self._host.clocks()
        now = self._counters()
        swapped, overflows = (
            None if a is None or b is None else a - b for a, b in zip(now, self._before, strict=True)
        )
        self._watched = Disturbances(oversleep, (self._clocks, clocks), swapped, overflows)

    def part(self, app: str) -> Disturbances:
        """The disturbances, once the probe has stopped."""
        return self._watched

    def _counters(self) -> tuple[int | None, int | None]:
        return self._host.swapped(), self._host.tcp_counter(self._pid, "ListenOverflows")
