"""The machine that this process runs on, as a Host. It needs the machine's PID and cgroup namespaces (harness/run)."""

import os
import resource
import shutil
import socket
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import psutil

from tandem.hosts import description
from tandem.hosts.beside import (
    LocalCapture,
    LocalMeter,
    LocalPsrecord,
    LocalRoundTrips,
    can_be_realtime,
    can_capture,
)
from tandem.hosts.cgroup import PROC, LocalCgroup, processes_cpu_s
from tandem.hosts.host import Cgroup, Clocks, HostCpu, KernelLimits, Usage
from tandem.hosts.topology import read_power, read_topology

HANDSHAKES, HANDSHAKE_S = 5, 1.0
SYS = Path("/sys")
CLOCK_TRIES, CLOCK_FINE_S = 10, 0.001
READS, READ_S = 3, 0.002
"""Reading the counters of control groups takes less than this, unless something comes in between."""


class Here:
    """See tandem.hosts.host.Host for what each member says.

    proc, sys: where the kernel's files are, for tests. What psutil reads stays at psutil.PROCFS_PATH.
    """

    # Members that are one function or class.
    can_be_realtime = staticmethod(can_be_realtime)
    can_capture = staticmethod(can_capture)
    alive = staticmethod(psutil.pid_exists)
    hiccup_meter = staticmethod(LocalMeter)
    psrecord = staticmethod(LocalPsrecord)
    capture = staticmethod(LocalCapture)
    round_trips = staticmethod(LocalRoundTrips)
    topology = staticmethod(read_topology)

    def __init__(self, proc: Path = PROC, sys: Path = SYS) -> None:
        self._proc, self._sys = proc, sys

    @property
    def cpus(self) -> int:
        return psutil.cpu_count() or 1

    def describe(self) -> dict[str, str | int | float | None]:
        return description.describe(self._proc, self._sys)

    def power(self) -> dict[str, str | int | None]:
        return read_power(self._sys)

    def mitigations(self) -> str:
        return description.mitigations(self._sys)

    def limits(self) -> KernelLimits:
        def number(name: str) -> int:
            return int((self._proc / "sys" / name).read_text())

        return KernelLimits(
            open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[1],
            threads=number("kernel/threads-max"),
            pids=number("kernel/pid_max"),
            mappings=number("vm/max_map_count"),
        )

    def free_bytes(self) -> int:
        # The harness's container stands on the engine's disk.
        return shutil.disk_usage("/").free

    def cgroups_readable(self) -> bool:
        return (self._sys / "fs/cgroup/cpuacct").exists() or (self._sys / description.UNIFIED).exists()

    def read_cpu(self) -> HostCpu:
        found = description.host_cpu(psutil.cpu_times()._asdict())
        return replace(found, processes_s=processes_cpu_s(self._sys / "fs/cgroup"))

    def to_ours(self, moment_s: float) -> float:
        return moment_s

    def clocks(self) -> Clocks:
        """The best of a few tries."""
        tries = list[tuple[float, float, float]]()
        while len(tries) < CLOCK_TRIES and not (tries and tries[-1][0] < CLOCK_FINE_S):
            before, wall_s, after = time.monotonic(), time.time(), time.monotonic()
            tries.append((after - before, wall_s, (before + after) / 2))
        _, wall_s, monotonic_s = min(tries)
        return Clocks(wall_s, monotonic_s, description.first_line(self._sys / description.CLOCK_SOURCE))

    def swapped(self) -> int | None:
        # psutil.swap_memory tells 0 where the kernel counts none, which would be a quiet host.
        return description.parse_swapped((self._proc / "vmstat").read_text())

    def cgroup(self, pid: int) -> Cgroup:
        return LocalCgroup(pid, self._sys / "fs/cgroup", self._proc)

    def usages(self, groups: Mapping[str, Cgroup]) -> tuple[float, dict[str, Usage]]:
        """The middle of the time that reading them took. They are read again where this process was preempted meanwhile: at
        two cores' use 10 ms of doubt are 1 % of a core over two seconds."""
        tries = list[tuple[float, float, dict[str, Usage]]]()
        while len(tries) < READS and not (tries and tries[-1][0] < READ_S):
            before = time.time()
            usage = {role: group.usage() for role, group in groups.items()}
            took = time.time() - before
            tries.append((took, before + took / 2, usage))
        _, at_s, usage = min(tries, key=lambda one: one[0])
        return at_s, usage

    def harness_cgroup(self) -> Cgroup:
        return self.cgroup(os.getpid())  # the host's PID namespace: its own PID is the host's

    def is_harness(self, container: str) -> bool:
        return container in (self._proc / "self/cgroup").read_text()

    def stopped(self, pid: int) -> list[str] | None:
        try:
            process = psutil.Process(pid)
            return process.cmdline() if process.status() == psutil.STATUS_STOPPED else None
        except psutil.NoSuchProcess:
            return None

    def threads(self, pid: int) -> int:
        try:
            return psutil.Process(pid).num_threads()
        except psutil.NoSuchProcess as error:
            raise ProcessLookupError(str(error)) from None

    def handshake_s(self, address: str, port: int) -> float:
        took = []
        for _ in range(HANDSHAKES):
            began = time.perf_counter()
            with socket.create_connection((address, port), timeout=HANDSHAKE_S):
                took.append(time.perf_counter() - began)
        return min(took)

    def signal(self, pid: int, number: int) -> None:
        os.kill(pid, number)

    def tcp_counter(self, pid: int, name: str) -> int | None:
        folder = self._proc / str(pid) / "net"
        return description.parse_tcp((folder / "netstat").read_text() + (folder / "snmp").read_text(), name)

    def established(self, pid: int, *, local_port: int | None = None, remote_port: int | None = None) -> int:
        # Over ten thousand connections psutil's net_connections would make an object of each.
        tables = [self._proc / str(pid) / "net" / name for name in ("tcp", "tcp6")]
        return sum(
            description.count_established(table.read_bytes(), local_port=local_port, remote_port=remote_port)
            for table in tables
            if table.is_file()
        )
