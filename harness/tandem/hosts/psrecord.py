"""psrecord on this machine, attached to the application: the log for people, in psrecord's own format."""

import signal
import subprocess
import sys
from pathlib import Path

INTERVAL_S = 1


def peaks(log: str) -> tuple[float, int] | None:
    """The highest CPU and resident memory of a log (tandem.hosts.host.Psrecord.peaks)."""
    lines = [line.split() for line in log.splitlines() if line and not line.startswith("#")]
    rows = [[float(value) for value in line[:3]] for line in lines if len(line) >= 3]
    if not rows:
        return None
    return max(row[1] for row in rows), round(max(row[2] for row in rows) * 2**20)


class LocalPsrecord:
    """A Psrecord. Samples a process and its children until stopped; the file has a line per second."""

    def __init__(self, pid: int, file: Path) -> None:
        self._file = file
        self._peaks: tuple[float, int] | None = None
        program = Path(sys.executable).with_name("psrecord")
        options = f"--interval {INTERVAL_S} --include-children --log".split()
        self._process = subprocess.Popen(
            [program, str(pid), *options, file],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=5)
        if self._file.is_file():
            self._peaks = peaks(self._file.read_text())

    def peaks(self) -> tuple[float, int] | None:
        return self._peaks
