"""Connections that are open and silent, held by a shell in the generator's container."""

import subprocess
from pathlib import Path

from tandem.errors import TandemError

PROC = Path("/proc")
ESTABLISHED = "01"
PORT = 8080
OPEN_TIMEOUT_S = 60

# Each connection sends one request, as a browser does before it rests. The answer stays unread.
SCRIPT = """
ulimit -n "$(ulimit -Hn)"
for ((i = 0; i < $2; i++)); do
    exec {fd}<>"/dev/tcp/$1/$3" || exit 1
    printf 'GET %s HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n' "$4" "$1" >&"$fd"
done
echo held
read -r
"""


class IdleConnections:
    """Opens them and returns when all have sent their request. Raises TandemError if they cannot be opened."""

    def __init__(self, container: str, pid: int, host: str, number: int, path: str) -> None:
        """container, pid: the generator's. host: whom to connect to, by its name in the stack's network."""
        self._pid = pid
        command = ["docker", "exec", "-i", container, "bash", "-c", SCRIPT, "bash"]
        self._shell = subprocess.Popen(
            [*command, host, str(number), str(PORT), path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._shell.stdout is not None
        if self._shell.stdout.readline().strip() != "held":
            _, said = self._shell.communicate(timeout=OPEN_TIMEOUT_S)
            raise TandemError(f"{number} idle connections cannot be opened: {said.strip()[-300:]}")

    def established(self) -> int:
        """How many connections of the generator to the application's port are established."""
        tables = [PROC / str(self._pid) / "net" / name for name in ("tcp", "tcp6")]
        return sum(count_established(table.read_text(), PORT) for table in tables if table.is_file())

    def release(self) -> None:
        """Closes them."""
        if self._shell.poll() is None:
            self._shell.communicate("\n", timeout=OPEN_TIMEOUT_S)


def count_established(table: str, port: int) -> int:
    """Established connections to a remote port in the text of /proc/net/tcp."""
    rows = [line.split() for line in table.splitlines()[1:]]
    return sum(row[3] == ESTABLISHED and int(row[2].rpartition(":")[2], 16) == port for row in rows)
