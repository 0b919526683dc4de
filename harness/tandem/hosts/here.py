"""The machine that this process runs on, as a Host. It needs the machine's PID and cgroup namespaces (harness/run)."""

import os
import re
import resource
import shutil
import socket
import time
from collections.abc import Mapping
from itertools import pairwise
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
from tandem.hosts.topology import read_topology

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
        cpus, line = self._sys / description.CPU, description.first_line
        governors = {line(file) or "" for file in cpus.glob("cpu*/cpufreq/scaling_governor")}
        counts = [line(file) for file in cpus.glob("cpu*/thermal_throttle/core_throttle_count")]
        battery = psutil.sensors_battery()
        return {
            "governor": ", ".join(sorted(governors)) or None,
            "turbo": description.turbo(self._sys),
            "battery": None if battery is None else "charging" if battery.power_plugged else "discharging",
            "throttled": sum(int(count or 0) for count in counts) if counts else None,
        }

    def mitigations(self) -> str:
        files = sorted((self._sys / description.CPU / "vulnerabilities").glob("*"))
        return "\n".join(f"{file.name}: {description.first_line(file)}" for file in files)

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

    def read_cpu(self) -> HostCpu:
        # A guest's time is in the user time too: https://docs.kernel.org/filesystems/proc.html, 1.7
        at = psutil.cpu_times()
        busy = at.user + at.nice + at.system
        total = busy + at.idle + at.iowait + at.irq + at.softirq + at.steal
        processes_s = processes_cpu_s(self._sys / "fs/cgroup")
        return HostCpu(busy, at.irq + at.softirq, at.steal, total, processes_s)

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
        fields = dict(line.split() for line in (self._proc / "vmstat").read_text().splitlines())
        pages = [int(fields[name]) for name in ("pswpin", "pswpout") if name in fields]
        return sum(pages) if len(pages) == 2 else None

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
        tables = (folder / "netstat").read_text() + (folder / "snmp").read_text()
        for names, values in pairwise(line.split() for line in tables.splitlines()):
            if name in names:
                return int(values[names.index(name)])
        return None

    def established(self, pid: int, *, local_port: int | None = None, remote_port: int | None = None) -> int:
        # Over ten thousand connections psutil's net_connections would make an object of each.
        ends = (b"[0-9A-F]{4}" if port is None else b"%04X" % port for port in (local_port, remote_port))
        row = re.compile(rb"[0-9A-F]:%b [0-9A-F]+:%b 01 " % tuple(ends))
        tables = [self._proc / str(pid) / "net" / name for name in ("tcp", "tcp6")]
        return sum(len(row.findall(table.read_bytes())) for table in tables if table.is_file())
