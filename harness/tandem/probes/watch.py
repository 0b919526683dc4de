"""What disturbs a window from outside: hiccups, clocks, swapping, dropped connections. Read before and after."""

from dataclasses import dataclass

from tandem.catalog.ranges import expand
from tandem.probes.hiccup import HiccupMeter, Oversleep
from tandem.probes.host import Clocks, read_clocks, read_listen_overflows, read_swapped


@dataclass(frozen=True)
class Watched:
    """None: not readable here."""

    oversleep: Oversleep | None
    clocks: tuple[Clocks, Clocks]
    swapped_pages: int | None
    listen_overflows: int | None


def meter_cpus(*cpusets: str) -> list[int] | None:
    """The first CPU of each set, once; None if a set is empty, which means all."""
    if not all(cpusets):
        return None
    return sorted({expand(cpuset)[0] for cpuset in cpusets})


class Watch:
    """`start` before a window, `stop` after it.

    pid: of the application. cpusets: of the roles on whose CPUs hiccups matter.
    """

    def __init__(self, pid: int, *cpusets: str) -> None:
        self._pid = pid
        self._meter = HiccupMeter(meter_cpus(*cpusets))
        self._clocks = read_clocks()
        self._before: tuple[int | None, int | None] = (None, None)

    def start(self) -> None:
        self._before = (read_swapped(), read_listen_overflows(self._pid))
        self._clocks = read_clocks()
        self._meter.start()

    def stop(self) -> Watched:
        """Raises OSError if the application is gone; the meter ends in any case."""
        oversleep = self._meter.stop()
        clocks = read_clocks()
        now = (read_swapped(), read_listen_overflows(self._pid))
        swapped, overflows = (
            None if a is None or b is None else a - b for a, b in zip(now, self._before, strict=True)
        )
        return Watched(oversleep, (self._clocks, clocks), swapped, overflows)
