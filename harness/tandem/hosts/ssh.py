"""One OpenSSH connection to a host, kept open, through which everything goes that is asked of it.

Many short sessions meet the server's MaxSessions and MaxStartups; a forwarded socket is a channel of the one connection. The
program is the user's own `ssh`, with their agent, keys, configuration and known hosts.
"""

import re
import subprocess
import tempfile
import time
from pathlib import Path
from subprocess import DEVNULL
from typing import Final

from tandem.errors import TandemError

CONNECT_S: Final = 10
ALIVE_S, ALIVE_TRIES = 3, 3
"""Seconds between two looks at a silent connection, and the looks until it counts as lost."""
ASK_S: Final = 10
"""The limit of one question to the open connection."""
OPTIONS: Final = {
    "BatchMode": "yes",  # nobody is there who could type a password
    "StrictHostKeyChecking": "yes",
    "ConnectTimeout": str(CONNECT_S),
    "ServerAliveInterval": str(ALIVE_S),
    "ServerAliveCountMax": str(ALIVE_TRIES),
    "ExitOnForwardFailure": "yes",
    "ControlPersist": "no",
    "ForwardAgent": "no",
    "StreamLocalBindMask": "0177",
    "StreamLocalBindUnlink": "yes",
}
REMEDIES: Final = {
    "Host key verification failed": "connect to it once by hand and compare its key: ssh {}",
    "REMOTE HOST IDENTIFICATION HAS CHANGED": "its key has changed: ask whoever runs it, then remove the old key with ssh-keygen -R",
    "Permission denied": "add your key to its authorized_keys, and to your agent if it has a passphrase: ssh-copy-id {}",
    "Could not resolve hostname": "the lab's file names an unknown host",
    "administratively prohibited": "its sshd must allow forwarding: AllowTcpForwarding, AllowStreamLocalForwarding",
}
"""A message of ssh -> what helps."""


def explained(said: str, destination: str) -> str:
    """The last meaningful line of ssh's messages, with what helps where that is known."""
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith(("@", "debug"))]
    last = lines[-1].strip() if lines else "it said nothing"
    for symptom, remedy in REMEDIES.items():
        if symptom in said:
            return f"{last}: {remedy.format(destination)}"
    return last


class Connection:
    """An open connection. destination: user@host, or a name of the user's ~/.ssh/config. port: None for ssh's own.

    Raises TandemError where it does not open within CONNECT_S.
    """

    def __init__(self, destination: str, port: int | None = None, config: Path | None = None) -> None:
        """config: the user's; None: that of ssh, if there is one."""
        if not re.fullmatch(r"[\w.@+-]+", destination) or destination.startswith("-"):
            raise TandemError(f"'{destination}' is not user@host")
        self.destination = destination
        # 0700, and short: a socket's path has 107 bytes.
        self._folder = tempfile.TemporaryDirectory(prefix="ssh-")
        self._control, self._said = self.folder / "control", self.folder / "said"
        options = [word for name, value in OPTIONS.items() for word in ("-o", f"{name}={value}")]
        own = Path.home() / ".ssh/config" if config is None else config
        # Named, ssh does not ask whose it is: in the harness's container it is another user's than this process's.
        self._ssh = ["ssh", *(["-F", str(own)] if own.is_file() else []), "-S", str(self._control), *options]
        opens = [*self._ssh, "-M", "-N", *(["-p", str(port)] if port else []), destination]
        with self._said.open("w") as said:
            # In a session of its own: Ctrl-C is the harness's, which has yet to remove what is there.
            self._master = subprocess.Popen(
                opens, stdin=DEVNULL, stdout=DEVNULL, stderr=said, start_new_session=True
            )
        try:
            self._await_open()
        except BaseException:
            self.close()
            raise

    @property
    def folder(self) -> Path:
        return Path(self._folder.name)

    def _await_open(self) -> None:
        deadline, why = time.monotonic() + CONNECT_S + 1, ""
        while not self._control.exists():
            if self._master.poll() is not None:
                why = explained(self._said.read_text(), self.destination)
            elif time.monotonic() > deadline:
                why = f"no answer within {CONNECT_S} s of its SSH server"
            if why:
                raise TandemError(f"{self.destination} cannot be reached: {why}")
            time.sleep(0.02)

    def forward(self, local: str, remote: str) -> None:
        """Lets connections to `local` reach `remote`, as its sshd sees it: a path of a socket, or address:port. Raises TandemError."""
        ask = [*self._ssh, "-O", "forward", "-L", f"{local}:{remote}", self.destination]
        try:
            done = subprocess.run(
                ask, stdin=DEVNULL, capture_output=True, text=True, timeout=ASK_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise TandemError(
                f"{self.destination}: the SSH connection did not answer within {ASK_S} s"
            ) from None
        if done.returncode:
            said = done.stderr + (self._said.read_text() if self._said.exists() else "")
            raise TandemError(
                f"{self.destination}: -L {local}:{remote} cannot be forwarded: {explained(said, self.destination)}"
            )

    def close(self) -> None:
        """Ends the connection and all that goes through it; a second time it does nothing."""
        self._master.terminate()
        try:
            self._master.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._master.kill()
            self._master.wait()
        self._folder.cleanup()
