"""The interface to a host, and the values that cross it. Nothing here reads anything."""

import socket
import sys
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class Usage:
    """Counters of a control group: CPU-seconds and throttled seconds since its start, memory now."""

    cpu_s: float
    throttled_s: float
    memory_bytes: int
    """All that it holds, less clean file cache: private and shared memory, and the kernel's for it."""
    system_s: float | None = None
    """The part of the CPU time that the kernel used for it: the kernel's estimate, by ticks. None where it has none."""


@dataclass(frozen=True)
class HostCpu:
    """CPU-seconds of all CPUs together since boot."""

    busy_s: float
    """User and system time, without interrupts."""
    softirq_s: float
    """Hardware and software interrupts."""
    steal_s: float
    total_s: float
    processes_s: float | None = None
    """CPU time of all processes, by the clock that control groups are charged by; None where the kernel has none. Like a group's
    time and unlike `busy_s`, it contains the interrupts that came while a process ran."""

    def since(self, earlier: "HostCpu") -> "HostCpu":
        """The difference of each counter."""
        pairs = zip(vars(self).values(), vars(earlier).values(), strict=True)
        since: list[Any] = [None if None in pair else pair[0] - pair[1] for pair in pairs]
        return HostCpu(*since)


@dataclass(frozen=True)
class Clocks:
    """Wall and monotonic clock at one moment."""

    wall_s: float
    monotonic_s: float
    source: str | None
    """The kernel's source of time; None where it has none to show."""


@dataclass(frozen=True)
class Oversleep:
    """The notes of hiccup meters: parallel columns, of all CPUs together."""

    realtime: bool
    cpu_cores: float
    """CPU time of the meters themselves."""
    at_s: array[float]
    """time.time() at the end of each sleep."""
    longer_s: array[float]


@dataclass(frozen=True)
class KernelLimits:
    """Limits of a container that Compose starts: the engine's defaults, which the harness's container has too."""

    open_files: int
    """The hard limit of one process."""
    threads: int
    """The limit of all processes together."""
    pids: int
    """The number above the highest; threads have one each."""
    mappings: int
    """Areas of memory that one process may have."""


@dataclass(frozen=True)
class Core:
    """A physical core."""

    cpus: tuple[int, ...]
    """Numbers of its CPUs that a container runs on, ascending. More than one are SMT siblings."""
    others: tuple[int, ...]
    """Siblings that are online, but not for containers: other programs may run there."""
    socket: int
    node: int
    """The NUMA node; 0 where the kernel knows none."""
    kind: int
    """0: of the fastest cores of this machine; 1: of the next slower kind, and so on."""


@dataclass(frozen=True)
class Topology:
    """CPUs by the kernel's numbers, which may have gaps."""

    cores: tuple[Core, ...]
    """Cores that a container without a CPU set runs on."""
    allowed: tuple[int, ...]
    """What a CPU set may name: CPUs of `cores`, and those that the kernel isolates."""
    barred: tuple[int, ...]
    """CPUs that are online, but not the engine's."""
    offline: tuple[int, ...]

    @property
    def places(self) -> int:
        """How many roles can be apart: physical cores. Of one core, its threads, two at most."""
        return len(self.cores) if len(self.cores) > 1 else min(2, len(self.cores[0].cpus))


TELL_ROUTES = ("sh", "-c", "cat /proc/net/route; grep . /sys/class/net/*/iflink")
"""Tells a container's routes, and the number of each interface's other end, in the host's network namespace."""


def other_end(address: str, told: str) -> int:
    """The number of the host's end of the interface by which a container reaches an address. told: by TELL_ROUTES. Raises
    ValueError where no route leads there."""
    at, found = int.from_bytes(socket.inet_aton(address), sys.byteorder), list[tuple[int, str]]()
    for line in told.splitlines():
        name, *fields = line.split()
        if len(fields) >= 7 and fields[0] != "Destination":
            network, mask = int(fields[0], 16), int(fields[6], 16)
            found += [(mask.bit_count(), name)] if at & mask == network else []
    if not found:
        raise ValueError(f"no route to {address}: {told}")
    link = f"/sys/class/net/{max(found)[1]}/iflink:"
    return next(int(line.removeprefix(link)) for line in told.splitlines() if line.startswith(link))


@dataclass(frozen=True)
class Captured:
    """The outcome of a capture."""

    packets: int
    dropped: int
    """Packets lost because its buffer was full."""
    cpu_s: float
    problem: str | None
    """Error message where it could not capture; None where it could."""


class Cgroup(Protocol):
    """The control group of a container. Each member raises OSError once the container is gone."""

    def usage(self) -> Usage: ...

    def thread_cpu_s(self) -> dict[int, float]:
        """CPU-seconds since its start of every living thread in the group, by thread id."""

    def descriptors(self) -> int | None:
        """Open file descriptors of its processes; None where the kernel does not tell (before Linux 6.2)."""

    def thread_switches(self) -> dict[int, int]:
        """How often each living thread in the group gave up its CPU by itself since its start, by thread id."""

    def processes(self, name: str | None = None) -> list[int]:
        """PIDs in the group, of all or of those with this name (the kernel's: 15 characters at most)."""

    def resident_bytes(self) -> int:
        """Resident memory summed over the processes, as psrecord does: shared pages count more than once."""


class HiccupMeter(Protocol):
    """A process for each CPU, which notes how much longer than asked its sleeps last. `start`, then `stop`."""

    def start(self) -> None: ...

    def stop(self) -> Oversleep | None:
        """Ends the meter and returns its notes; None if a process of it broke."""


class Capture(Protocol):
    """A capture of packets into a file, which has begun."""

    @property
    def ended(self) -> bool:
        """Whether it has as many packets as it was made for, or broke."""

    def stop(self) -> Captured: ...


class RoundTrips(Protocol):
    """An open connection of the administrator to the database."""

    def trips_ms(self, number: int) -> list[float]:
        """The durations of so many round trips from there, one after the other: `select 1` each."""

    def close(self) -> None: ...


class Psrecord(Protocol):
    """psrecord, attached to a process and its children: a line per second."""

    def freeze(self) -> None:
        """Stops it from looking until `thaw`."""

    def thaw(self) -> None: ...

    def stop(self) -> tuple[float, int] | None:
        """Ends it, if the end of the process has not. Returns the most CPU in percent of a core within a second, and the most
        resident memory in bytes, both summed over the processes; None where the log has no line."""


class Machines(Protocol):
    """One host or several, whose counters are read together."""

    @property
    def cpus(self) -> int:
        """How many CPUs are online, at least 1."""

    def read_cpu(self) -> HostCpu: ...

    def usages(self, groups: Mapping[str, Cgroup]) -> tuple[float, dict[str, Usage]]:
        """The usage of groups of this host, read as nearly at one moment as it can, and that moment (time.time() of this process).
        Raises OSError once one of them is gone."""

    def harness_cgroup(self) -> Cgroup:
        """The control group of the part of the harness that runs there."""


class Host(Machines, Protocol):
    """One machine with a Docker engine. PIDs are those of its own namespace, as its engine tells them."""

    # ---- what it is ----

    def describe(self) -> dict[str, str | int | float | None]:
        """The machine, for the record. None: the kernel does not tell."""

    def topology(self) -> Topology:
        """The host's physical cores; read once."""

    def power(self) -> dict[str, str | int | None]:
        """What may change its clock: the kernel's governor, turbo (on, off), the battery (charging, discharging), and how often it
        was too hot since it started. None: there is none, or the kernel does not tell."""

    def mitigations(self) -> str:
        """A line for each flaw of the CPU, with what the kernel does about it."""

    def limits(self) -> KernelLimits: ...

    def free_bytes(self) -> int:
        """Free space on the disk that has the engine's containers and volumes."""

    def can_be_realtime(self) -> bool:
        """Whether a hiccup meter would get real-time priority; tried in a process that ends at once."""

    def can_capture(self) -> bool:
        """Whether `capture` may read packets."""

    # ---- its clocks and counters ----

    def to_ours(self, moment_s: float) -> float:
        """A moment of its wall clock (a program's that runs there), as time.time() of this process."""

    def clocks(self) -> Clocks:
        """Both clocks within a millisecond of each other where the machine lets it."""

    def swapped(self) -> int | None:
        """Pages swapped in and out since boot; None where the kernel counts none."""

    def hiccup_meter(self, cpus: list[int] | None) -> HiccupMeter:
        """A meter that is not started. cpus: their numbers, or None for a meter that is not pinned."""

    # ---- control groups and processes ----

    def cgroup(self, pid: int) -> Cgroup:
        """The group of a process, usually a container's first one. Raises FileNotFoundError if there is no such process."""

    def is_harness(self, container: str) -> bool:
        """Whether this very process runs in the container. container: its full id."""

    def alive(self, pid: int) -> bool:
        """Whether there is such a process."""

    def stopped(self, pid: int) -> list[str] | None:
        """The command of a process that a signal has stopped; None of one that runs, or is gone."""

    def threads(self, pid: int) -> int:
        """The number of threads of a process. Raises OSError if it is gone."""

    def signal(self, pid: int, number: int) -> None:
        """Sends a signal. Raises OSError if the process is gone."""

    def psrecord(self, pid: int, file: Path) -> Psrecord:
        """Starts psrecord on a process. file: its log, in psrecord's own format."""

    # ---- the network ----

    def capture(self, interface: int, expression: str, packets: int, snap_bytes: int, file: Path) -> Capture:
        """Begins to write packets of an interface of the host (by its number) to a file in pcap's form, until
        it has so many. expression: which ones, in pcap's language. snap_bytes: so much of each. Raises OSError."""

    def round_trips(self, address: str, port: int, password: str) -> RoundTrips:
        """A connection to the database, or to a proxy before it, as this host reaches it. It raises OSError or psycopg.Error."""

    def handshake_s(self, address: str, port: int) -> float:
        """The quickest of some TCP handshakes. Raises OSError."""

    # ---- the network namespace that a process is in ----

    def tcp_counter(self, pid: int, name: str) -> int | None:
        """A counter by the kernel's name: ListenOverflows, the connections dropped because a listener's queue was full;
        PassiveOpens, those that others opened. None where it counts none. Raises OSError if the process is gone."""

    def established(self, pid: int, *, local_port: int | None = None, remote_port: int | None = None) -> int:
        """Established TCP connections by the port of this end, of the other end, or both; None: any port. 0 if the
        process is gone. A table of ten thousand costs kernel and reader some 50 ms together."""
