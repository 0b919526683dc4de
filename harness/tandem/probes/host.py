"""What the whole host did: CPU time by kind from /proc/stat, and its description."""

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

PROC_STAT = Path("/proc/stat")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class HostCpu:
    """CPU-seconds of all CPUs together since boot."""

    busy_s: float
    """User and system time, without interrupts."""
    softirq_s: float
    steal_s: float
    total_s: float

    def since(self, earlier: "HostCpu") -> "HostCpu":
        return HostCpu(
            self.busy_s - earlier.busy_s,
            self.softirq_s - earlier.softirq_s,
            self.steal_s - earlier.steal_s,
            self.total_s - earlier.total_s,
        )


def parse_stat(text: str, ticks_per_s: int = TICKS_PER_S) -> HostCpu:
    """Reads the first line of /proc/stat. https://docs.kernel.org/filesystems/proc.html"""
    user, nice, system, idle, iowait, irq, softirq, steal = (int(v) / ticks_per_s for v in text.split()[1:9])
    busy = user + nice + system
    return HostCpu(busy, irq + softirq, steal, busy + idle + iowait + irq + softirq + steal)


def read_cpu() -> HostCpu:
    return parse_stat(PROC_STAT.read_text())


def _first(path: str, key: str | None = None) -> str | None:
    try:
        for line in Path(path).read_text().splitlines():
            if key is None:
                return line.strip()
            if line.startswith(key):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return None


CLOCK_SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
VMSTAT = Path("/proc/vmstat")
CLOCK_TRIES, CLOCK_FINE_S = 10, 0.001


@dataclass(frozen=True)
class Clocks:
    """Wall and monotonic clock at one moment."""

    wall_s: float
    monotonic_s: float
    source: str | None


def read_clocks() -> Clocks:
    """Reads both clocks within a millisecond of each other, where the machine lets it: the best of a few tries."""
    best, apart = (0.0, 0.0), float("inf")
    for _ in range(CLOCK_TRIES):
        before, wall, after = time.monotonic(), time.time(), time.monotonic()
        if after - before < apart:
            best, apart = (wall, (before + after) / 2), after - before
        if apart < CLOCK_FINE_S:
            break
    return Clocks(*best, _first(str(CLOCK_SOURCE)))


def parse_swapped(vmstat: str) -> int | None:
    """Pages swapped in and out since boot, from /proc/vmstat; None where the kernel counts none."""
    fields = dict(line.split() for line in vmstat.splitlines())
    if "pswpin" not in fields or "pswpout" not in fields:
        return None
    return int(fields["pswpin"]) + int(fields["pswpout"])


def parse_listen_overflows(netstat: str) -> int | None:
    """TcpExt's ListenOverflows, from /proc/PID/net/netstat, which has pairs of lines: names, values."""
    lines = [line.split() for line in netstat.splitlines() if line.startswith("TcpExt:")]
    if len(lines) != 2 or "ListenOverflows" not in lines[0]:
        return None
    return int(lines[1][lines[0].index("ListenOverflows")])


def read_swapped() -> int | None:
    return parse_swapped(VMSTAT.read_text())


def read_listen_overflows(pid: int) -> int | None:
    """Of the network namespace that a process is in."""
    return parse_listen_overflows(Path(f"/proc/{pid}/net/netstat").read_text())


def _kib(text: str | None) -> int | None:
    return int(text.split()[0]) * 1024 if text else None


def kernel_parameters(command_line: str | None) -> str | None:
    """What of the kernel's command line is for the kernel: what names or follows the first process is not."""
    if command_line is None:
        return None
    words = command_line.partition(" -- ")[0].split()
    return " ".join(word for word in words if not word.startswith(("init=", "rdinit=")))


def _turbo() -> str | None:
    """`on` or `off`; None where the kernel does not say."""
    for path, on in (("cpufreq/boost", "1"), ("intel_pstate/no_turbo", "0")):
        found = _first(f"/sys/devices/system/cpu/{path}")
        if found is not None:
            return "on" if found == on else "off"
    return None


def mitigations() -> str:
    """What the kernel does about each flaw of the CPU: a line each."""
    files = sorted(Path("/sys/devices/system/cpu/vulnerabilities").glob("*"))
    return "\n".join(f"{file.name}: {_first(str(file))}" for file in files)


def describe() -> dict[str, str | int | float | None]:
    """The host, for the record."""
    return {
        "cpus": os.cpu_count(),
        "cpu_model": _first("/proc/cpuinfo", "model name"),
        "memory_bytes": _kib(_first("/proc/meminfo", "MemTotal")),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "clock_source": _first(str(CLOCK_SOURCE)),
        "cgroup_version": 2 if Path("/sys/fs/cgroup/cgroup.controllers").exists() else 1,
        "open_files_limit": os.sysconf("SC_OPEN_MAX"),
        "kernel_command_line": kernel_parameters(_first("/proc/cmdline")),
        "governor": _first("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "turbo": _turbo(),
        "swap_bytes": _kib(_first("/proc/meminfo", "SwapTotal")),
        "smt": _first("/sys/devices/system/cpu/smt/active"),
        "transparent_hugepage": _first("/sys/kernel/mm/transparent_hugepage/enabled"),
    }
