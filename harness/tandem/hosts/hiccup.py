"""The program of a hiccup meter: sleeps over and over and notes how much longer than asked each sleep lasted.

It runs as a process of its own for each CPU, because the harness's own threads wait for each other, and imports the
standard library alone: hiccup.py CPU PARENT (CPU `-`: any). Without arguments it ends at once, with status 0 if it
would get real-time priority.
"""

import os
import signal
import sys
import time
from array import array
from contextlib import suppress

INTERVAL_S = 0.015
"""A waking costs up to 55 us on the CPUs of a loaded virtual machine: two meters at this pace stay under 1 % of a
core together, and still meet every stop that is longer."""
PRIORITY = 1
"""The lowest real-time priority is above every ordinary process."""
CHECKED_EACH = 5
"""Sleeps between two looks at whether it is to end."""
LONGEST = 3_600_000
"""Notes that are kept at most: those of two hours."""


def _become_realtime() -> bool:
    """Take real-time priority; False if refused (no SYS_NICE, or a group without real-time CPU)."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError:
        return False
    return True


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
    if len(sys.argv) == 1:
        sys.exit(not _become_realtime())
    _run(sys.argv[1], int(sys.argv[2]))
