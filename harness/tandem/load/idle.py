"""Connections that are open and silent, held by a shell in the generator's container."""

import base64
import random
from collections.abc import Sequence
from contextlib import suppress
from subprocess import PIPE, Popen

import h11

from tandem.errors import TandemError
from tandem.hosts.host import Host
from tandem.probes.exchanges import read_answer

OPEN_TIMEOUT_S = 60

# Each connection sends one request, as a browser does before it rests. The answer stays unread. In the end those whose
# numbers come in a line ask once more, for the last time, and all that each has got by then leaves in a line of its own. One
# after the other: a server may wait for the end of each connection that it closes.
SCRIPT = """
trap '' PIPE
ulimit -n "$(ulimit -Hn)"
for ((i = 0; i < $2; i++)); do
    exec {fd}<>"/dev/tcp/$1/$3" || exit 1
    printf 'GET %s HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n' "$4" "$1" >&"$fd"
    held+=("$fd")
done
echo held
read -r -a asked
end=$((SECONDS + $5))
for i in "${asked[@]}"; do
    fd=${held[i]}
    printf 'GET %s HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\n\\r\\n' "$4" "$1" >&"$fd"
    left=$((end - SECONDS))
    timeout "$((left > 0 ? left : 0)).01" cat <&"$fd" | base64 -w0
    exec {fd}>&-
    echo
done
"""
ANSWERED_S = 20
"""Time for the answers to those that ask again, all together: a busy host answers late."""


def second_answer(stream: bytes) -> tuple[int | None, bytes]:
    """Status and body of the answer behind the first, after which the stream ends; no status where there is none."""
    parser, found = h11.Connection(h11.CLIENT), None
    parser.receive_data(stream)
    with suppress(h11.ProtocolError):
        if read_answer(parser) is not None:
            parser.start_next_cycle()
            parser.receive_data(b"")
            found = read_answer(parser)
    return (None, b"") if found is None else (found[0].status_code, found[1])


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
        self._host, self._pid, self._number = host, pid, number
        name, _, port = target.partition(":")
        self._port = int(port)
        command = [*docker, "exec", "-i", container, "bash", "-c", SCRIPT, "bash"]
        command += [name, str(number), port, path, str(ANSWERED_S)]
        self._shell = Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)
        assert self._shell.stdout is not None
        if self._shell.stdout.readline().strip() != "held":
            _, said = self._shell.communicate(timeout=OPEN_TIMEOUT_S)
            raise TandemError(f"{number} idle connections cannot be opened: {said.strip()[-300:]}")

    def established(self) -> int:
        """Connections of the generator to the application's port that are established."""
        return self._host.established(self._pid, remote_port=self._port)

    def speak(self, number: int) -> list[bytes]:
        """Makes so many of them, drawn, ask once more, and closes all; returns all that each was ever sent."""
        chosen = random.sample(range(self._number), min(number, self._number))
        said, _ = self._shell.communicate(" ".join(map(str, chosen)) + "\n", timeout=OPEN_TIMEOUT_S)
        lines = [base64.b64decode(line) for line in said.splitlines()]
        return [*lines, *[b""] * (len(chosen) - len(lines))]

    def release(self) -> None:
        """Closes them."""
        if self._shell.poll() is None:
            self._shell.communicate("\n", timeout=OPEN_TIMEOUT_S)
