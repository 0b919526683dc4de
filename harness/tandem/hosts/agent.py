"""What runs on a host behind another engine: `Here`, asked over execnet's channel.

A request is a list: the number of an object, the name of its member, its arguments and named arguments. The answer is a list: a
word, and the value, the number of an object that was made, or the kind and text of what was raised. Number 0 is the host.
"""

import itertools
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol

from tandem.hosts.cgroup import LocalCgroup
from tandem.hosts.here import Here
from tandem.hosts.host import Usage
from tandem.hosts.meter import LocalMeter
from tandem.hosts.psrecord import LocalPsrecord
from tandem.hosts.tcpdump import LocalCapture
from tandem.hosts.trips import LocalTrips
from tandem.hosts.values import packed

VALUE, OBJECT, ERROR = "value", "object", "error"
HOST: Final = 0
STAYING = (LocalCgroup, LocalMeter, LocalPsrecord, LocalCapture, LocalTrips)
"""What stays on this host and is asked by its number."""
MEMORY = Path("/dev/shm")
HANDSHAKE_S = 1.0


class Channel(Protocol):
    """What is used of execnet's."""

    def receive(self, timeout: float | None = None) -> Any: ...
    def send(self, item: object) -> None: ...


class Agent(Here):
    """`Here`, with what a host that is far away needs besides."""

    def __init__(self) -> None:
        super().__init__()
        self._files = Path(tempfile.mkdtemp(prefix="tandem-", dir=MEMORY if MEMORY.is_dir() else None))
        self._numbers = itertools.count()

    def time_s(self) -> float:
        """Its wall clock."""
        return time.time()

    def pid(self) -> int:
        return os.getpid()

    def handshake_s(self, address: str, port: int, tries: int = 5) -> float:
        """The quickest TCP handshake. Raises OSError."""
        took = []
        for _ in range(tries):
            began = time.perf_counter()
            with socket.create_connection((address, port), timeout=HANDSHAKE_S):
                took.append(time.perf_counter() - began)
        return min(took)

    def new_file(self) -> str:
        """Where a probe writes."""
        return str(self._files / str(next(self._numbers)))

    def taken(self, file: str) -> bytes | None:
        """What a file of `new_file` has, which is gone then; None without such."""
        path = self._files / Path(file).name
        if not path.is_file():
            return None
        content = path.read_bytes()
        path.unlink()
        return content

    def read(self, file: str) -> bytes | None:
        """The same, and it stays."""
        path = self._files / Path(file).name
        return path.read_bytes() if path.is_file() else None

    def usages_of(self, pids: dict[str, int]) -> tuple[float, dict[str, Usage]]:
        """`usages` of the groups of these processes, at this machine's time."""
        return self.usages({role: self.cgroup(pid) for role, pid in pids.items()})

    def psrecord_into(self, pid: int, file: str) -> LocalPsrecord:
        return LocalPsrecord(pid, Path(file))

    def capture_into(
        self, interface: int, expression: str, packets: int, snap_bytes: int, file: str
    ) -> LocalCapture:
        return LocalCapture(interface, expression, packets, snap_bytes, Path(file))


class Desk:
    """The objects of a host, and the answers to what is asked of them; several threads ask at once."""

    def __init__(self, host: object) -> None:
        self._objects: dict[int, object] = {HOST: host}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def answer(self, request: list[Any]) -> list[object]:
        """One request. Whatever is raised becomes an answer."""
        try:
            number, name, given, named = request
            if name.startswith("_"):
                raise AttributeError(f"{name} is not for others")
            with self._lock:
                asked = self._objects[number]
            found = getattr(asked, name)
            value = found(*given, **named) if callable(found) else found
            if isinstance(value, STAYING):
                return [OBJECT, self._kept(value)]
            return [VALUE, packed(value)]
        except Exception as error:
            return [ERROR, type(error).__name__, str(error)]

    def forget(self, number: int) -> None:
        with self._lock:
            self._objects.pop(number, None)

    def _kept(self, value: object) -> int:
        with self._lock:
            number = next(self._numbers)
            self._objects[number] = value
        return number


DESK: Final[list[Desk]] = []
"""One for all channels of this process: each thread of the harness has a channel of its own."""
MAKING: Final = threading.Lock()


def serve(channel: Channel, make: Callable[[], Agent] = Agent) -> None:
    """Answers until the channel is closed."""
    with MAKING:
        if not DESK:
            DESK.append(Desk(make()))
    while True:
        try:
            request = channel.receive()
        except EOFError:
            return
        if request[1] == "forget":
            DESK[0].forget(request[0])
            continue
        channel.send(DESK[0].answer(request))
