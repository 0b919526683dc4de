"""Connections that are open and silent, held by a shell in the generator's container."""

import subprocess
from collections.abc import Sequence

from tandem.errors import TandemError
from tandem.hosts.host import Host

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

    def __init__(
        self,
        host: Host,
        container: str,
        pid: int,
        target: str,
        number: int,
        path: str,
        docker: Sequence[str] = ("docker",),
    ) -> None:
        """host, container, pid: the generator's. target: whom to connect to, service:port in the stack's network. docker:
        the command that asks the generator's engine."""
        self._host, self._pid = host, pid
        name, _, port = target.partition(":")
        self._port = int(port)
        command = [*docker, "exec", "-i", container, "bash", "-c", SCRIPT, "bash"]
        self._shell = subprocess.Popen(
            [*command, name, str(number), port, path],
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
        """Connections of the generator to the application's port that are established."""
        return self._host.established(self._pid, remote_port=self._port)

    def release(self) -> None:
        """Closes them."""
        if self._shell.poll() is None:
            self._shell.communicate("\n", timeout=OPEN_TIMEOUT_S)
