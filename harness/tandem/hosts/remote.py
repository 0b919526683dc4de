"""A machine behind another Docker engine, as a Host: an agent runs `Here` there, in one container, and is asked over execnet.

execnet carries plain values over the container's stdin and stdout, and runs no code here that comes from there. That stream and
all that Docker is asked go through one SSH connection, so they end with it.
"""

import shlex
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTimeError
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import execnet
from execnet.gateway_base import Channel
from python_on_whales import DockerClient, DockerException

import tandem
from tandem.errors import TandemError
from tandem.hosts import agent
from tandem.hosts.host import (
    Capture,
    Captured,
    Cgroup,
    Clocks,
    HiccupMeter,
    HostCpu,
    KernelLimits,
    Oversleep,
    Psrecord,
    Trips,
    Usage,
)
from tandem.hosts.values import error_of, unpacked

CALL_S: Final = 5.0
FILE_S: Final = 60.0
"""For what a capture or a meter noted."""
START_S: Final = 30.0
TRIPS_S: Final = 30.0
"""To connect to the database or to ask it, far away and busy."""
CLOCK_TRIES: Final = 20
CLOCK_ERROR_MOST_S: Final = 0.005
"""Moments of a host whose clock is known less well say nothing about a load's seconds."""
LABEL: Final = "dev.tandem=agent"
SOURCE: Final = Path(tandem.__file__).parent
THERE: Final = "/agent"
SERVE: Final = "from tandem.hosts.agent import serve; serve(channel)"
BOOTSTRAP: Final = "import sys;exec(eval(sys.stdin.readline()))"
"""execnet's own first line, which reads the rest."""


@dataclass(frozen=True)
class ClockOffset:
    """By how much a host's clock is ahead of this machine's, as one question tells: the answer was written somewhere between
    asking and receiving it. Cristian, Probabilistic clock synchronization, Distributed Computing 3 (1989)."""

    ahead_s: float
    error_s: float
    """At the most: half of the round trip."""

    @property
    def round_trip_s(self) -> float:
        return 2 * self.error_s


def offset(asked_s: float, told_s: float, received_s: float) -> ClockOffset:
    """asked_s, received_s: of this machine's clock; told_s: of the other's."""
    return ClockOffset(told_s - (asked_s + received_s) / 2, (received_s - asked_s) / 2)


class Caller:
    """Calls to an agent, each with a deadline. Each thread has a channel of its own, so none waits for another's answer."""

    def __init__(self, name: str, open_channel: Callable[[], Channel]) -> None:
        """name: of the host, for people."""
        self.name, self._open = name, open_channel
        self._own = threading.local()

    def call(
        self, number: int, member: str, *given: object, within_s: float = CALL_S, **named: object
    ) -> Any:
        """What a member of an object says; of an object that stays there (word, number). Raises OSError where the agent does
        not answer in time, and what was raised there."""
        try:
            channel: Channel | None = getattr(self._own, "channel", None)
            if channel is None:
                channel = self._own.channel = self._open()
            channel.send([number, member, list(given), named])
            told = channel.receive(within_s)
        except (OSError, EOFError) as error:
            self._own.channel = None  # a late answer must not be taken for that of the next question
            late = isinstance(error, Channel.TimeoutError)
            what = f"did not answer within {within_s:g} s" if late else "can no longer be reached"
            raise ConnectionError(f"host {self.name} {what} ({member})") from None
        except execnet.RemoteError as error:
            self._own.channel = None
            raise ConnectionError(f"the agent on host {self.name} failed: {str(error)[-300:]}") from None
        if told[0] == agent.ERROR:
            raise error_of(told[1], told[2])
        return (agent.OBJECT, told[1]) if told[0] == agent.OBJECT else unpacked(told[1])

    def forget(self, number: int) -> None:
        """The object is not asked any more."""
        with suppress(OSError, EOFError, AttributeError):
            self._own.channel.send([number, "forget", [], {}])


class Staying:
    """An object of the agent's."""

    def __init__(self, line: Caller, made: tuple[str, int]) -> None:
        self._line, self._number = line, made[1]

    def _call(self, member: str, *given: object, within_s: float = CALL_S, **named: object) -> Any:
        return self._line.call(self._number, member, *given, within_s=within_s, **named)


class RemoteCgroup(Staying):
    """A Cgroup."""

    def __init__(self, line: Caller, made: tuple[str, int], pid: int) -> None:
        super().__init__(line, made)
        self.pid = pid

    def of_line(self, line: Caller) -> bool:
        """Whether it is of the host at the other end."""
        return self._line is line

    def usage(self) -> Usage:
        found: Usage = self._call("usage")
        return found

    def thread_cpu_s(self) -> dict[int, float]:
        found: dict[int, float] = self._call("thread_cpu_s")
        return found

    def thread_switches(self) -> dict[int, int]:
        found: dict[int, int] = self._call("thread_switches")
        return found

    def processes(self, name: str | None = None) -> list[int]:
        found: list[int] = self._call("processes", name)
        return found

    def resident_bytes(self) -> int:
        return int(self._call("resident_bytes"))


class RemoteMeter(Staying):
    """A HiccupMeter; `to_ours` turns moments of that host into this machine's."""

    def __init__(self, line: Caller, made: tuple[str, int], to_ours: Callable[[float], float]) -> None:
        super().__init__(line, made)
        self._to_ours = to_ours

    def start(self) -> None:
        self._call("start")

    def stop(self) -> Oversleep | None:
        found: Oversleep | None = self._call("stop", within_s=FILE_S)
        self._line.forget(self._number)
        if found is None:
            return None
        ahead_s = -self._to_ours(0.0)
        for index, moment in enumerate(found.at_s):
            found.at_s[index] = moment - ahead_s
        return found


class RemoteCapture(Staying):
    """A Capture, whose file is brought home when it is stopped."""

    def __init__(self, line: Caller, made: tuple[str, int], there: str, file: Path) -> None:
        super().__init__(line, made)
        self._there, self._file = there, file

    @property
    def ended(self) -> bool:
        return bool(self._call("ended"))

    def stop(self) -> Captured:
        captured: Captured = self._call("stop", within_s=FILE_S)
        self._line.forget(self._number)
        content = self._line.call(agent.HOST, "taken", self._there, within_s=FILE_S)
        if content is not None:
            self._file.write_bytes(content)
        return captured


class RemotePsrecord(Staying):
    """A Psrecord, whose log is brought home when it is stopped."""

    def __init__(self, line: Caller, made: tuple[str, int], there: str, file: Path) -> None:
        super().__init__(line, made)
        self._there, self._file = there, file

    def freeze(self) -> None:
        self._call("freeze")

    def thaw(self) -> None:
        self._call("thaw")

    def stop(self) -> None:
        self._call("stop", within_s=2 * CALL_S)
        content = self._line.call(agent.HOST, "read", self._there)
        if content is not None:
            self._file.write_bytes(content)

    def peaks(self) -> tuple[float, int] | None:
        found = self._call("peaks")
        return None if found is None else (found[0], found[1])


class RemoteTrips(Staying):
    """Trips from that host."""

    def trips_ms(self, number: int) -> list[float]:
        found: list[float] = self._call("trips_ms", number, within_s=TRIPS_S)
        return found

    def close(self) -> None:
        self._call("close")
        self._line.forget(self._number)


class Remote:
    """See tandem.hosts.host.Host for what each member says. Its moments are this machine's time, by `clock`.

    Raises TandemError where its clock cannot be known to CLOCK_ERROR_MOST_S.
    """

    def __init__(self, line: Caller, now_s: Callable[[], float] = time.time) -> None:
        self.line, self._now_s = line, now_s
        self.name = line.name
        self.clock = ClockOffset(0.0, float("inf"))
        self.measure_clock()

    def measure_clock(self) -> ClockOffset:
        """Asks again what time it is there. The quickest answer counts: of the others nobody knows where they waited."""
        looks = []
        for _ in range(CLOCK_TRIES):
            asked_s = self._now_s()
            told_s = float(self._ask("time_s"))
            looks.append(offset(asked_s, told_s, self._now_s()))
        best = min(looks, key=lambda look: look.error_s)
        if best.error_s > CLOCK_ERROR_MOST_S:
            raise TandemError(
                f"host {self.name}: its clock can only be known to within {best.error_s * 1e3:.1f} ms, because an answer takes"
                f" {best.round_trip_s * 1e3:.1f} ms; at most {CLOCK_ERROR_MOST_S * 1e3:.0f} ms is allowed: measure from a machine nearer to it"
            )
        self.clock = best
        return best

    def to_ours(self, moment_s: float) -> float:
        """A moment of that host's clock, by this machine's."""
        return moment_s - self.clock.ahead_s

    def handshake_s(self, address: str, port: int) -> float:
        """The quickest of some TCP handshakes from there. Raises OSError."""
        return float(self._ask("handshake_s", address, port))

    @property
    def cpus(self) -> int:
        return int(self._ask("cpus"))

    def describe(self) -> dict[str, str | int | float | None]:
        found: dict[str, str | int | float | None] = self._ask("describe")
        return found

    def mitigations(self) -> str:
        return str(self._ask("mitigations"))

    def limits(self) -> KernelLimits:
        found: KernelLimits = self._ask("limits")
        return found

    def free_bytes(self) -> int:
        return int(self._ask("free_bytes"))

    def cgroups_readable(self) -> bool:
        return bool(self._ask("cgroups_readable"))

    def can_be_realtime(self) -> bool:
        return bool(self._ask("can_be_realtime"))

    def can_capture(self) -> bool:
        return bool(self._ask("can_capture"))

    def read_cpu(self) -> HostCpu:
        found: HostCpu = self._ask("read_cpu")
        return found

    def clocks(self) -> Clocks:
        found: Clocks = self._ask("clocks")
        return replace(found, wall_s=self.to_ours(found.wall_s))

    def swapped(self) -> int | None:
        found: int | None = self._ask("swapped")
        return found

    def hiccup_meter(self, cpus: list[int] | None) -> HiccupMeter:
        return RemoteMeter(self.line, self._ask("hiccup_meter", cpus), self.to_ours)

    def cgroup(self, pid: int) -> Cgroup:
        return RemoteCgroup(self.line, self._ask("cgroup", pid), pid)

    def usages(self, groups: Mapping[str, Cgroup]) -> tuple[float, dict[str, Usage]]:
        """One question for all; the moment is that of the reading there."""
        pids = {role: group.pid for role, group in groups.items() if isinstance(group, RemoteCgroup)}
        if len(pids) < len(groups):
            raise ValueError(f"host {self.name} is asked for groups of another host")
        at_s, found = self._ask("usages_of", pids)
        return self.to_ours(at_s), found

    def harness_cgroup(self) -> Cgroup:
        return self.cgroup(int(self._ask("pid")))

    def is_harness(self, container: str) -> bool:
        return False

    def alive(self, pid: int) -> bool:
        return bool(self._ask("alive", pid))

    def stopped(self, pid: int) -> list[str] | None:
        found: list[str] | None = self._ask("stopped", pid)
        return found

    def threads(self, pid: int) -> int:
        return int(self._ask("threads", pid))

    def signal(self, pid: int, number: int) -> None:
        self._ask("signal", pid, int(number))

    def psrecord(self, pid: int, file: Path) -> Psrecord:
        there = str(self._ask("new_file"))
        return RemotePsrecord(self.line, self._ask("psrecord_into", pid, there), there, file)

    def capture(self, interface: int, expression: str, packets: int, snap_bytes: int, file: Path) -> Capture:
        there = str(self._ask("new_file"))
        made = self._ask("capture_into", interface, expression, packets, snap_bytes, there)
        return RemoteCapture(self.line, made, there, file)

    def trips(self, address: str, port: int, password: str) -> Trips:
        made = self._ask("trips", address, port, password, within_s=TRIPS_S)
        return RemoteTrips(self.line, made)

    def listen_overflows(self, pid: int) -> int | None:
        found: int | None = self._ask("listen_overflows", pid)
        return found

    def established(self, pid: int, *, local_port: int | None = None, remote_port: int | None = None) -> int:
        return int(self._ask("established", pid, local_port=local_port, remote_port=remote_port))

    def _ask(self, member: str, *given: object, **named: Any) -> Any:
        return self.line.call(agent.HOST, member, *given, **named)


class AgentContainer:
    """The agent's container on an engine; it ends by itself when nobody is connected to it any more.

    docker: of the engine, at `url`. image: that the engine has. Raises TandemError.
    """

    def __init__(self, name: str, docker: DockerClient, url: str, image: str) -> None:
        self._docker, self._group = docker, execnet.Group()
        try:
            self.container = docker.container.create(
                image,
                ["-u", "-c", BOOTSTRAP],
                entrypoint="python3",
                interactive=True,
                remove=True,
                pid="host",
                cgroupns="host",
                networks=["host"],
                cap_add=["SYS_NICE", "NET_RAW"],
                volumes=[("/sys/fs/cgroup", "/sys/fs/cgroup", "ro")],
                labels=dict([LABEL.split("=")]),
                envs={"PYTHONPATH": THERE, "PYTHONDONTWRITEBYTECODE": "1"},
            )
            try:
                self._begin(name, url)
            except BaseException:
                self.close()
                raise
        except DockerException as error:
            raise TandemError(
                f"host {name}: its agent does not start: {(error.stderr or str(error)).strip()}"
            ) from None

    def _begin(self, name: str, url: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(
                SOURCE / "hosts", Path(folder) / "tandem/hosts", ignore=shutil.ignore_patterns("__pycache__")
            )
            shutil.copy(SOURCE / "__init__.py", Path(folder) / "tandem")
            self._docker.container.copy(folder, (self.container, THERE))
        spec = execnet.XSpec("popen//execmodel=thread")
        said = self._said = tempfile.NamedTemporaryFile("r", prefix="agent-")  # noqa: SIM115
        """It ends with this object."""
        attached = shlex.join(["docker", "-H", url, "start", "-ai", self.container.id])
        # What execnet appends is for a Python; what Docker says when the container is removed is for nobody. Ctrl-C is the
        # harness's alone: in a session of its own the attached Docker does not get it.
        spec.python = shlex.join(["sh", "-c", f"exec setsid {attached} 2>{shlex.quote(said.name)}", "agent"])
        with ThreadPoolExecutor(1) as waiting:
            begun = waiting.submit(self._group.makegateway, spec)
            try:
                self._gateway = begun.result(START_S)
            except (NotInTimeError, execnet.HostNotFound, EOFError, OSError):
                self.close()  # ends the container, and with it the wait
                why = said.read().strip()[-300:] or f"nothing within {START_S:.0f} s"
                raise TandemError(f"host {name}: its agent does not answer: {why}") from None

    def line(self, name: str) -> Caller:
        """To the agent. name: of the host."""
        return Caller(name, lambda: self._gateway.remote_exec(SERVE))

    def close(self) -> None:
        """Ends it; a second time it does nothing."""
        self._group.terminate(timeout=1.0)
        with suppress(DockerException):
            self._docker.container.remove(self.container, force=True, volumes=True)
