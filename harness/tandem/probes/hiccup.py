"""A hiccup meter: sleeps over and over and notes how much longer than asked each sleep lasted.

It runs as a process of its own for each CPU, because the harness's own threads wait for each other. This file
is also that process's program and imports the standard library alone: hiccup.py CPU PARENT (CPU `-`: any).
"""

import os
import signal
import subprocess
import sys
import time
from array import array
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

INTERVAL_S = 0.015
"""A waking costs up to 55 us on the CPUs of a loaded virtual machine: two meters at this pace stay under 1 % of a
core together, and still meet every stop that is longer."""
PRIORITY = 1
"""The lowest real-time priority is above every ordinary process."""
CHECKED_EACH = 5
"""After so many sleeps it looks whether it is to end."""
LONGEST = 3_600_000
"""So many notes are kept: two hours."""


@dataclass(frozen=True)
class Oversleep:
    """What the meters noted: parallel columns, of all CPUs together."""

    realtime: bool
    cpu_cores: float
    """What the meters themselves used."""
    at_s: array[float]
    """time.time() at the end of each sleep."""
    longer_s: array[float]


class HiccupMeter:
    """Meters on some CPUs; `start`, then `stop`. cpus: numbers, or None for one that is not pinned."""

    def __init__(self, cpus: list[int] | None) -> None:
        self._cpus = ["-"] if cpus is None else [str(cpu) for cpu in cpus]
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        for cpu in self._cpus:
            # -I -S: nothing of the environment, no site packages; it starts in some 20 ms.
            command = [sys.executable, "-I", "-S", str(Path(__file__).resolve()), cpu, str(os.getpid())]
            self._running.append(
                subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
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


def _become_realtime() -> bool:
    """False where the engine grants no real-time priority (no SYS_NICE, or a group without real-time CPU)."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError:
        return False
    return True


def can_be_realtime() -> bool:
    """Whether a meter would get real-time priority here; tried in a process that ends at once."""
    program = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import hiccup; sys.exit(not hiccup._become_realtime())"
    return subprocess.run([sys.executable, "-I", "-S", "-c", program], check=False).returncode == 0


def _run(cpu: str, parent: int) -> None:
    """Notes pairs (time, oversleep) until SIGTERM or until its parent is gone, then writes them to stdout."""
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    if cpu != "-":
        with suppress(OSError):
            os.sched_setaffinity(0, {int(cpu)})
    notes = array("d", [float(_become_realtime()), 0.0])
    sleep, monotonic, note = time.sleep, time.monotonic, notes.append
    wall_s = time.time() - monotonic()
    began, used = monotonic(), time.process_time()
    while not ended and len(notes) < 2 * LONGEST and os.getppid() == parent:
        for _ in range(CHECKED_EACH):
            before = monotonic()
            sleep(INTERVAL_S)
            after = monotonic()
            note(after + wall_s)
            note(after - before - INTERVAL_S)
    notes[1] = (time.process_time() - used) / (monotonic() - began)
    sys.stdout.buffer.write(notes.tobytes())


if __name__ == "__main__":
    _run(sys.argv[1], int(sys.argv[2]))
