"""Processes and connections of this machine beside a load: hiccup meters, psrecord, tcpdump, a way to the database."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from array import array
from itertools import chain
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

import psycopg

from tandem.hosts import hiccup
from tandem.hosts.host import Captured, Oversleep

# -I -S: nothing of the environment, no site packages; it starts in some 20 ms.
PROGRAM = [sys.executable, "-I", "-S", str(Path(hiccup.__file__).resolve())]


class LocalMeter:
    """A HiccupMeter. cpus: numbers, or None for one that is not pinned."""

    def __init__(self, cpus: list[int] | None) -> None:
        self._cpus = ["-"] if cpus is None else [str(cpu) for cpu in cpus]
        self._running: list[Popen[bytes]] = []

    def start(self) -> None:
        for cpu in self._cpus:
            command = [*PROGRAM, cpu, str(os.getpid())]
            self._running.append(Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL))

    def stop(self) -> Oversleep | None:
        """Ends the meters; None if one of them broke."""
        running, self._running = self._running, []
        for process in running:
            process.send_signal(signal.SIGTERM)
        notes = [process.communicate()[0] for process in running]
        ended = zip(running, notes, strict=True)
        if not notes or any(process.returncode or not out or len(out) % 16 for process, out in ended):
            return None
        parts = [array("d", out) for out in notes]
        at_s, longer_s = (array("d", chain(*(part[first::2] for part in parts))) for first in (2, 3))
        realtime = all(part[0] == 1.0 for part in parts)
        return Oversleep(realtime, sum(part[1] for part in parts), at_s, longer_s)


def can_be_realtime() -> bool:
    """Whether a meter would get real-time priority here; tried in a process that ends at once."""
    return subprocess.run(PROGRAM, check=False).returncode == 0


INTERVAL_S = 1


def peaks(log: str) -> tuple[float, int] | None:
    """The highest CPU and resident memory of a log (tandem.hosts.host.Psrecord.stop)."""
    lines = [line.split() for line in log.splitlines() if line and not line.startswith("#")]
    rows = [[float(value) for value in line[:3]] for line in lines if len(line) >= 3]
    if not rows:
        return None
    return max(row[1] for row in rows), round(max(row[2] for row in rows) * 2**20)


class LocalPsrecord:
    """A Psrecord. Samples a process and its children until stopped; the file has a line per second."""

    def __init__(self, pid: int, file: Path) -> None:
        self._file = file
        program, every = Path(sys.executable).with_name("psrecord"), str(INTERVAL_S)
        command = [str(program), str(pid), "--interval", every, "--include-children", "--log", str(file)]
        self._process = Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> tuple[float, int] | None:
        self._process.terminate()
        self._process.wait(timeout=5)
        return peaks(self._file.read_text()) if self._file.is_file() else None


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
        command += ["-Z", "root", expression]
        self._process = Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, text=True)

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
        counted = {what: int(n) for n, what in re.findall(r"(\d+) packets? (captured|dropped)", said)}
        problem = None if self._process.returncode in (0, -signal.SIGTERM) else said.strip()
        cpu_s = used.ru_utime + used.ru_stime
        return Captured(counted.get("captured", 0), counted.get("dropped", 0), cpu_s, problem)


CONNECT_S = 20


class LocalRoundTrips:
    """RoundTrips (tandem.hosts.host). Raises psycopg.Error, now and later."""

    def __init__(self, address: str, port: int, password: str) -> None:
        to = f"host={address} port={port} connect_timeout={CONNECT_S}"
        to += f" dbname=tandem user=probe password={password}"
        self._connection = psycopg.connect(to, autocommit=True, prepare_threshold=None)

    def trips_ms(self, number: int) -> list[float]:
        took_ms = []
        for _ in range(number):
            began = time.perf_counter()
            self._connection.execute("select 1")
            took_ms.append((time.perf_counter() - began) * 1e3)
        return took_ms

    def close(self) -> None:
        self._connection.close()
