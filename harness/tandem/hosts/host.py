"""The interface to a host, and the values that cross it. Nothing here reads anything."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class Usage:
    """Of a control group. CPU-seconds and throttled seconds since its start; anonymous memory now."""

    cpu_s: float
    throttled_s: float
    anonymous_bytes: int
    system_s: float | None = None
    """What of the CPU time the kernel used for it; the kernel's estimate, by ticks. None where it does not tell."""


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
    """What all processes together used by the clock that control groups are charged by; None where the kernel does not
    tell. Unlike `busy_s` it contains, as every group's own time does, the interrupts that came while a process ran."""

    def since(self, earlier: "HostCpu") -> "HostCpu":
        pairs = zip(vars(self).values(), vars(earlier).values(), strict=True)
        since: list[Any] = [None if None in pair else pair[0] - pair[1] for pair in pairs]
        return HostCpu(*since)


@dataclass(frozen=True)
class Clocks:
    """Wall and monotonic clock at one moment."""

    wall_s: float
    monotonic_s: float
    source: str | None
    """The kernel's; None where it does not tell."""


@dataclass(frozen=True)
class Oversleep:
    """What hiccup meters noted: parallel columns, of all CPUs together."""

    realtime: bool
    cpu_cores: float
    """What the meters themselves used."""
    at_s: array[float]
    """time.time() at the end of each sleep."""
    longer_s: array[float]


@dataclass(frozen=True)
class KernelLimits:
    """What a container that Compose starts may have: the engine's defaults, which the harness's container has too."""

    open_files: int
    """Of one process, the hard limit."""
    threads: int
    """Of all processes together."""
    pids: int
    """The number above the highest; threads have one each."""
    mappings: int
    """Areas of memory of one process."""


OTHER_END = "/sys/class/net/eth0/iflink"
"""In a container: the number of the interface, in the network namespace of the engine's host, that its own leads to."""


@dataclass(frozen=True)
class Captured:
    """What a capture came to."""

    packets: int
    dropped: int
    """Because its buffer was full."""
    cpu_s: float
    problem: str | None
    """What it said where it could not capture; None where it could."""


class Cgroup(Protocol):
    """The control group of a container. Everything raises OSError once the container is gone."""

    def usage(self) -> Usage: ...

    def thread_cpu_s(self) -> dict[int, float]:
        """CPU-seconds since its start of every living thread in the group, by thread id."""

    def thread_switches(self) -> dict[int, int]:
        """How often each living thread in the group gave up its CPU by itself since its start, by thread id."""

    def processes(self, name: str | None = None) -> list[int]:
        """PIDs in the group, of all or of those with this name (the kernel's: 15 characters at most)."""

    def resident_bytes(self) -> int:
        """Resident memory summed over the processes, as psrecord does: shared pages count more than once."""


class HiccupMeter(Protocol):
    """Notes how much longer than asked its sleeps last; a process for each CPU. `start`, then `stop`."""

    def start(self) -> None: ...

    def stop(self) -> Oversleep | None:
        """Ends the meter; None if a process of it broke."""


class Capture(Protocol):
    """Packets on their way into a file, from its making to its end."""

    @property
    def ended(self) -> bool:
        """Whether it has as many packets as it was made for, or broke."""

    def stop(self) -> Captured: ...


class RoundTrips(Protocol):
    """The administrator's connection to the database, from its making to `close`."""

    def trips_ms(self, number: int) -> list[float]:
        """How long so many round trips took from there, one after the other: `select 1` each."""

    def close(self) -> None: ...


class Psrecord(Protocol):
    """psrecord, attached to a process and its children: a line per second."""

    def freeze(self) -> None:
        """It looks no more until `thaw`."""

    def thaw(self) -> None: ...

    def stop(self) -> None:
        """It ends by itself when the process does; this makes sure."""

    def peaks(self) -> tuple[float, int] | None:
        """The most CPU in percent of a core within a second, and the most resident memory in bytes, both summed over the
        processes. To be asked once it is stopped. None where it has no line."""


class Machines(Protocol):
    """One host or several: what is counted of all of it."""

    @property
    def cpus(self) -> int:
        """How many CPUs are online, at least 1."""

    def read_cpu(self) -> HostCpu: ...

    def usages(self, groups: Mapping[str, Cgroup]) -> tuple[float, dict[str, Usage]]:
        """Of groups of this host, as nearly at one moment as it can, and that moment (time.time() of this process). Raises
        OSError once one of them is gone."""

    def harness_cgroup(self) -> Cgroup:
        """Of the part of the harness that runs there."""


class Host(Machines, Protocol):
    """One machine with a Docker engine. PIDs are those of its own namespace, as its engine tells them."""

    # ---- what it is ----

    def describe(self) -> dict[str, str | int | float | None]:
        """For the record. None: the kernel does not tell."""

    def mitigations(self) -> str:
        """What the kernel does about each flaw of the CPU: a line each."""

    def limits(self) -> KernelLimits: ...

    def free_bytes(self) -> int:
        """Of the disk that the engine keeps containers and volumes on."""

    def cgroups_readable(self) -> bool:
        """Whether `cgroup` can work at all."""

    def can_be_realtime(self) -> bool:
        """Whether a hiccup meter would get real-time priority; tried in a process that ends at once."""

    def can_capture(self) -> bool:
        """Whether `capture` may read packets."""

    # ---- what it did as a whole ----

    def to_ours(self, moment_s: float) -> float:
        """A moment of its wall clock (a program's that runs there), as time.time() of this process."""

    def clocks(self) -> Clocks:
        """Both clocks within a millisecond of each other where the machine lets it."""

    def swapped(self) -> int | None:
        """Pages swapped in and out since boot; None where the kernel counts none."""

    def hiccup_meter(self, cpus: list[int] | None) -> HiccupMeter:
        """One that is not started. cpus: their numbers, or None for a meter that is not pinned."""

    # ---- control groups and processes ----

    def cgroup(self, pid: int) -> Cgroup:
        """Of a process, usually a container's first one. Raises FileNotFoundError if there is no such process."""

    def is_harness(self, container: str) -> bool:
        """Whether this very process runs in the container. container: its full id."""

    def alive(self, pid: int) -> bool:
        """Whether there is such a process."""

    def stopped(self, pid: int) -> list[str] | None:
        """The command of a process that a signal has stopped; None of one that runs, or is gone."""

    def threads(self, pid: int) -> int:
        """How many threads a process has. Raises OSError if it is gone."""

    def signal(self, pid: int, number: int) -> None:
        """Sends a signal. Raises OSError if the process is gone."""

    def psrecord(self, pid: int, file: Path) -> Psrecord:
        """Starts one. file: its log, in psrecord's own format."""

    # ---- the network ----

    def capture(self, interface: int, expression: str, packets: int, snap_bytes: int, file: Path) -> Capture:
        """Begins to write packets of an interface of the host (by its number, OTHER_END) to a file in pcap's form, until
        it has so many. expression: which ones, in pcap's language. snap_bytes: so much of each. Raises OSError."""

    def round_trips(self, address: str, port: int, password: str) -> RoundTrips:
        """A connection to the database, or to what stands before it, as this host reaches it. What it raises is an OSError
        or a psycopg.Error."""

    def handshake_s(self, address: str, port: int) -> float:
        """The quickest of some TCP handshakes. Raises OSError."""

    # ---- the network namespace that a process is in ----

    def listen_overflows(self, pid: int) -> int | None:
        """Connections dropped since its beginning because a listener's queue was full; None where the kernel counts
        none. Raises OSError if the process is gone."""

    def established(self, pid: int, *, local_port: int | None = None, remote_port: int | None = None) -> int:
        """Established TCP connections by the port of this end, of the other end, or both; None: any port. 0 if the
        process is gone. A table of ten thousand costs kernel and reader some 50 ms together."""
