"""tcpdump on this machine: packets of one interface, through the kernel's own filter and ring, into a file."""

import os
import re
import signal
import socket
import subprocess
from pathlib import Path

from tandem.hosts.host import Captured

RING_KIB, LEAST_KIB, FRAME_BYTES = 16384, 512, 256
"""The ring at most and at least, and the space that the kernel adds to a packet in it, about. A ring takes CPU time to set up:
16 MiB as much as the packets of a short burst."""


def can_capture() -> bool:
    """Whether a packet socket may be opened: that needs NET_RAW."""
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()
    except PermissionError:
        return False
    return True


class LocalCapture:
    """A Capture that has begun. -p: the interface is not made to receive more than it does anyway. --immediate-mode:
    otherwise the end of a short capture would still lie in the kernel when it is stopped."""

    def __init__(self, interface: int, expression: str, packets: int, snap_bytes: int, file: Path) -> None:
        command = ["tcpdump", "-i", socket.if_indextoname(interface), "-p", "-n", "--immediate-mode"]
        # Room for all of them: none is lost while tcpdump has not been given a CPU.
        ring_kib = max(LEAST_KIB, min(RING_KIB, packets * (snap_bytes + FRAME_BYTES) // 1024))
        command += ["-B", str(ring_kib), "-s", str(snap_bytes), "-c", str(packets), "-w", str(file)]
        self._process = subprocess.Popen(
            [*command, "-Z", "root", expression],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def ended(self) -> bool:
        """Does not collect the process: `stop` does, and learns what it used."""
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def stop(self) -> Captured:
        if not self.ended:
            self._process.terminate()
        assert self._process.stderr is not None
        said = self._process.stderr.read()
        self._process.stderr.close()
        _, status, used = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        counted = {
            what: int(number) for number, what in re.findall(r"(\d+) packets? (captured|dropped)", said)
        }
        asked_to_end = self._process.returncode in (0, -signal.SIGTERM)
        return Captured(
            counted.get("captured", 0),
            counted.get("dropped", 0),
            used.ru_utime + used.ru_stime,
            None if asked_to_end else said.strip(),
        )
