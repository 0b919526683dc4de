"""psrecord on this machine, attached to the application: the log for people, in psrecord's own format."""

import signal
import subprocess
import sys
from pathlib import Path

INTERVAL_S = 1


def peaks(log: str) -> tuple[float, int] | None:
    """Psrecord.peaks, from a log as it was."""
    lines = [line.split() for line in log.splitlines() if line and not line.startswith("#")]
    rows = [[float(value) for value in line[:3]] for line in lines if len(line) >= 3]
    if not rows:
        return None
    return max(row[1] for row in rows), round(max(row[2] for row in rows) * 2**20)


class LocalPsrecord:
    """A Psrecord. Samples a process and its children until stopped; the file has a line per second."""

    def __init__(self, pid: int, file: Path) -> None:
        command = [
            "psrecord",
            str(pid),
            "--interval",
            str(INTERVAL_S),
            "--include-children",
            "--log",
            str(file),
        ]
        self._file = file
        self._peaks: tuple[float, int] | None = None
        program = Path(sys.executable).parent / command[0]
        self._process = subprocess.Popen(
            [str(program), *command[1:]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """It ends by itself when the application does; this makes sure."""
        self._process.terminate()
        self._process.wait(timeout=5)
        if self._file.is_file():
            self._peaks = peaks(self._file.read_text())

    def peaks(self) -> tuple[float, int] | None:
        return self._peaks
