"""Hiccup meters on this machine: a process of hiccup.py for each CPU."""

import os
import signal
import subprocess
import sys
from array import array
from pathlib import Path

from tandem.hosts import hiccup
from tandem.hosts.host import Oversleep

# -I -S: nothing of the environment, no site packages; it starts in some 20 ms.
PROGRAM = [sys.executable, "-I", "-S", str(Path(hiccup.__file__).resolve())]


class LocalMeter:
    """A HiccupMeter. cpus: numbers, or None for one that is not pinned."""

    def __init__(self, cpus: list[int] | None) -> None:
        self._cpus = ["-"] if cpus is None else [str(cpu) for cpu in cpus]
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        for cpu in self._cpus:
            self._running.append(
                subprocess.Popen(
                    [*PROGRAM, cpu, str(os.getpid())],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            )

    def stop(self) -> Oversleep | None:
        """Ends the meters; None if one of them broke."""
        parts: list[array[float]] = []
        for process in self._running:
            process.send_signal(signal.SIGTERM)
        for process in self._running:
            out, _ = process.communicate()
            if process.returncode == 0 and len(out) % 16 == 0 and out:
                parts.append(array("d", out))
        whole, self._running = len(parts) == len(self._running), []
        if not whole or not parts:
            return None
        at_s, longer_s = array("d"), array("d")
        for part in parts:
            at_s.extend(part[2::2])
            longer_s.extend(part[3::2])
        return Oversleep(
            all(part[0] == 1.0 for part in parts), sum(part[1] for part in parts), at_s, longer_s
        )


def can_be_realtime() -> bool:
    """Whether a meter would get real-time priority here; tried in a process that ends at once."""
    return subprocess.run(PROGRAM, check=False).returncode == 0
