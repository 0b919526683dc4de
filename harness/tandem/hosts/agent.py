"""The program on a host behind another engine: `Here`, asked over execnet's channel.

A request is a list: the number of an object, the name of its member, its arguments, its named arguments. The answer is a list: a
word, and a value, or the kind and the text of an error. Number 0 is the host; other objects get their number when they are made.
"""

import itertools
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tandem.hosts.beside import LocalCapture, LocalMeter, LocalPsrecord, LocalRoundTrips
from tandem.hosts.cgroup import LocalCgroup
from tandem.hosts.here import Here
from tandem.hosts.wire import ERROR, FILE, HOST, KINDS, REFERENCE, VALUE, Reference, packed, unpacked

if TYPE_CHECKING:  # the agent's image has no execnet
    from execnet.gateway_base import Channel

STAYING: Final = (LocalCgroup, LocalMeter, LocalPsrecord, LocalCapture, LocalRoundTrips)
"""Objects that stay on this host, as long as the agent: one of them is small, and a load makes few."""
MEMORY: Final = Path("/dev/shm")


def own_file(path: str) -> Path:
    """The file of this agent that stands for a path of the harness's machine."""
    folder = MEMORY if MEMORY.is_dir() else Path(tempfile.gettempdir())
    file = folder / f"tandem-{os.getpid()}" / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


class AgentHost(Here):
    """`Here`, which also hands over the files that its probes wrote."""

    def take(self, file: Path) -> bytes | None:
        """The content of a file, which is gone then; None where there is no such file."""
        if not file.is_file():
            return None
        content = file.read_bytes()
        file.unlink()
        return content


class Agent:
    """The objects of a host by their numbers, and the answers to requests, of several threads at once."""

    def __init__(self, host: object) -> None:
        self._objects, self._numbers = {HOST: host}, itertools.count(1)
        self._kinds = {**KINDS, FILE: own_file, REFERENCE: lambda number: self._objects[number]}

    def answer(self, request: list[Any]) -> list[object]:
        """The answer to one request. Whatever is raised becomes an answer."""
        try:
            number, name, given, named = [unpacked(part, self._kinds) for part in request]
            if str(name).startswith("_"):
                raise AttributeError(f"{name} is not for others")
            member: Any = getattr(self._objects[number], name)
            value = member(*given, **named) if callable(member) else member
            if isinstance(value, STAYING):
                kept = Reference(next(self._numbers))
                self._objects[kept.number] = value
                value = kept
            return [VALUE, packed(value)]
        except Exception as error:
            return [ERROR, type(error).__name__, str(error)]


AGENT: Final = Agent(AgentHost())
"""The agent of all channels of this process: each thread of the harness has a channel of its own."""


def serve(channel: "Channel") -> None:
    """Answers until the channel is closed."""
    while True:
        try:
            request = channel.receive()
        except EOFError:
            return
        channel.send(AGENT.answer(request))
