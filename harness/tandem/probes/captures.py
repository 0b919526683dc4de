"""Packets of a load, captured in short bursts into memory."""

import math
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tandem.hosts.host import Capture, Captured, Host
from tandem.probes.probe import Background

APART_S = 2.5
"""Seconds from one burst to the next."""
MEMORY = Path("/dev/shm")
"""Packets stay in memory: a disk would be written to during the load."""
LOOK_S = 0.02
PAYLOAD = "(ip[2:2] - ((ip[0] & 0xf) << 2) - ((tcp[12] & 0xf0) >> 2)) != 0"


@dataclass(frozen=True)
class Bursts:
    """The bursts by which a window is sampled. The moments are drawn anew each time: a server that knows the
    study's seed, which is public, cannot know them."""

    number: int
    apart_s: float
    packets: int
    """Packets of each burst; it goes on until it has them."""
    snap_bytes: int
    """Bytes that are captured of each packet."""


@dataclass
class Captures:
    """Captures between `start` and `stop`. ends: hosts, and the numbers of interfaces there; each burst draws one. wanted: which
    packets, in pcap's language."""

    ends: Sequence[tuple[Host, int]]
    wanted: str
    bursts: Bursts
    each: list[Captured] = field(default_factory=list)

    def start(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tap-", dir=MEMORY if MEMORY.is_dir() else None)
        self._began = time.monotonic()
        self._looking = Background("tap", lambda: self.each.append(self._burst()), self._pause_s)
        self._looking.start()

    def stop(self) -> None:
        """Ends the burst that is under way. Raises OSError where the only interface could not be captured."""
        try:
            self._looking.stop()
        except Exception:
            self.forget()
            raise

    @property
    def files(self) -> list[Path]:
        """What was captured, in pcap's form."""
        return [file for number in range(len(self.each)) if (file := self._file(number)).is_file()]

    def forget(self) -> None:
        """Removes the files."""
        self._folder.cleanup()

    @property
    def outcome(self) -> Captured:
        """The sums of all, and the first error message."""
        problem = next((one.problem for one in self.each if one.problem), None)
        packets, dropped = sum(one.packets for one in self.each), sum(one.dropped for one in self.each)
        return Captured(packets, dropped, sum(one.cpu_s for one in self.each), problem)

    def _pause_s(self) -> float:
        """Seconds until the next burst."""
        passed = (time.monotonic() - self._began) / self.bursts.apart_s
        due = math.floor(passed) + bool(self.each) + random.random() / 2
        return max(0.0, (due - passed) * self.bursts.apart_s)

    def _burst(self) -> Captured:
        file = self._file(len(self.each))
        host, interface = random.choice(self.ends)
        try:
            capture: Capture = host.capture(
                interface, self.wanted, self.bursts.packets, self.bursts.snap_bytes, file
            )
        except OSError as error:
            if len(self.ends) == 1:
                raise
            # One of several generators died, and its interface with it: the window is void by that.
            return Captured(packets=0, dropped=0, cpu_s=0.0, problem=str(error))
        while not capture.ended and not self._looking.ended.wait(LOOK_S):
            pass
        return capture.stop()

    def _file(self, number: int) -> Path:
        return Path(self._folder.name) / f"{number}.pcap"
