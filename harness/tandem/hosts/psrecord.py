"""psrecord on this machine, attached to the application: the log for people, in psrecord's own format."""

import signal
import subprocess
import sys
from pathlib import Path

INTERVAL_S = 1


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
