"""A machine behind another Docker engine, as a Host: an agent there runs `Here` and is asked over execnet.

`RemoteObject` stands here for an object of the agent. It writes out no member of an interface: whatever is asked of it is asked there.
execnet carries plain values over the container's stdin and stdout, and runs no code here that comes from there.
"""

import threading
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from inspect import getattr_static
from pathlib import Path
from typing import Any, Final, get_type_hints

import execnet
from execnet.gateway_base import Channel

from tandem.errors import TandemError
from tandem.hosts.host import Cgroup, Clocks, Host, Oversleep, Usage
from tandem.hosts.wire import ERROR, HOST, Reference, error_of, packed, unpacked

CALL_S: Final = 5.0
LIMITS_S: Final = {"stop": 60.0, "take": 60.0, "round_trips": 30.0, "trips_ms": 30.0}
"""Members that may take longer than CALL_S: those with a file or many notes, and those that ask a database, far away and busy."""
CLOCK_TRIES: Final = 20
CLOCK_ERROR_MOST_S: Final = 0.005
"""Moments of a host whose clock is known less well say nothing about a load's seconds."""
SERVE: Final = "from tandem.hosts.agent import serve; serve(channel)"


@dataclass(frozen=True)
class ClockOffset:
    """How far a host's clock is ahead of this machine's, from one question: the answer was written somewhere between asking
    and receiving it. Cristian, Probabilistic clock synchronization, Distributed Computing 3 (1989)."""

    ahead_s: float
    error_s: float
    """Largest error: half of the round trip."""

    @property
    def round_trip_s(self) -> float:
        return 2 * self.error_s


def by_our_clock(value: object, ahead_s: float) -> object:
    """A value whose moments are of a clock that is ahead, with moments of this machine's."""
    if isinstance(value, Clocks):
        return replace(value, wall_s=value.wall_s - ahead_s)
    if isinstance(value, Oversleep):
        return replace(value, at_s=array("d", [moment - ahead_s for moment in value.at_s]))
    return value


class Caller:
    """Calls to an agent, each with a deadline. Each thread has a channel of its own, so none waits for another's answer."""

    def __init__(self, name: str, open_channel: Callable[[], Channel]) -> None:
        """name: of the host, for people."""
        self.name, self._open = name, open_channel
        self.clock = ClockOffset(0.0, float("inf"))
        self._own = threading.local()

    def call(self, number: int, member: str, *given: object, **named: object) -> Any:
        """What a member of an object answers. Raises OSError where the agent does not answer in time, and what was raised there."""
        within_s = LIMITS_S.get(member, CALL_S)
        request = packed([number, member, given, named])
        try:
            channel: Channel | None = getattr(self._own, "channel", None)
            if channel is None:
                channel = self._own.channel = self._open()
            channel.send(request)
            answer = channel.receive(within_s)
        except (OSError, EOFError) as error:
            self._own.channel = None  # a late answer must not be taken for that of the next question
            late = isinstance(error, Channel.TimeoutError)
            what = f"did not answer within {within_s:g} s" if late else "can no longer be reached"
            raise ConnectionError(f"host {self.name} {what} ({member})") from None
        except execnet.RemoteError as error:
            self._own.channel = None
            raise ConnectionError(f"the agent on host {self.name} failed: {str(error)[-300:]}") from None
        if answer[0] == ERROR:
            raise error_of(answer[1], answer[2])
        return unpacked(answer[1])


class RemoteObject(Reference):
    """An object of an agent's, for which it stands: each member of its interface is asked there.

    Moments come back as this machine's time. An object that stays there comes back as a proxy, by the interface that the member's
    annotation names. Files that it was made with come home when it is stopped.
    """

    def __init__(self, line: Caller, interface: type, number: int = HOST, files: Sequence[Path] = ()) -> None:
        super().__init__(number)
        self.line, self._interface, self._files = line, interface, files

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        member = getattr_static(self._interface, name)
        return self._ask(name) if isinstance(member, property) else partial(self._ask, name)

    def _ask(self, member: str, *given: object, **named: object) -> Any:
        answer = self.line.call(self.number, member, *given, **named)
        if isinstance(answer, Reference):
            kind = get_type_hints(getattr(self._interface, member))["return"]
            files = [one for one in (*given, *named.values()) if isinstance(one, Path)]
            return RemoteObject(self.line, kind, answer.number, files)
        if member == "stop":
            for file in self._files:
                if (content := self.line.call(HOST, "take", file)) is not None:
                    file.write_bytes(content)
        return by_our_clock(answer, self.line.clock.ahead_s)


class Remote(RemoteObject):
    """A Host (tandem.hosts.host): the agent's, whose moments are this machine's time, by `clock`.

    Raises TandemError where its clock cannot be known to CLOCK_ERROR_MOST_S.
    """

    def __init__(self, line: Caller, now_s: Callable[[], float] = time.time) -> None:
        super().__init__(line, Host)
        self.name, self._now_s = line.name, now_s
        self.measure_clock()

    @property
    def clock(self) -> ClockOffset:
        """The offset that was measured last."""
        return self.line.clock

    def measure_clock(self) -> ClockOffset:
        """Asks again what time it is there. The quickest answer counts: of the others nobody knows where they waited."""
        looks = []
        for _ in range(CLOCK_TRIES):
            asked_s = self._now_s()
            there_s = self.line.call(HOST, "clocks").wall_s
            received_s = self._now_s()
            looks.append(ClockOffset(there_s - (asked_s + received_s) / 2, (received_s - asked_s) / 2))
        best = min(looks, key=lambda look: look.error_s)
        if best.error_s > CLOCK_ERROR_MOST_S:
            raise TandemError(
                f"host {self.name}: its clock can only be known to within {best.error_s * 1e3:.1f} ms, because an answer takes"
                f" {best.round_trip_s * 1e3:.1f} ms; at most {CLOCK_ERROR_MOST_S * 1e3:.0f} ms is allowed: measure from a machine nearer to it"
            )
        self.line.clock = best
        return best

    def to_ours(self, moment_s: float) -> float:
        """A moment of that host's clock, by this machine's."""
        return moment_s - self.clock.ahead_s

    def usages(self, groups: Mapping[str, Cgroup]) -> tuple[float, dict[str, Usage]]:
        """One question for all; the moment is that of the reading there."""
        if any(line_of(group) is not self.line for group in groups.values()):
            raise ValueError(f"host {self.name} is asked for groups of another host")
        at_s, found = self._ask("usages", dict(groups))
        return self.to_ours(at_s), found


def line_of(value: object) -> Caller | None:
    """The line to the host that an object is on; None for this machine."""
    return value.line if isinstance(value, RemoteObject) else None
