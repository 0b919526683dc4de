"""What the whole host did: CPU time by kind from /proc/stat, and its description."""

import os
import platform
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


def describe() -> dict[str, str | int | float | None]:
    """The host, for the record."""
    memory = _first("/proc/meminfo", "MemTotal")
    return {
        "cpus": os.cpu_count(),
        "cpu_model": _first("/proc/cpuinfo", "model name"),
        "memory_bytes": int(memory.split()[0]) * 1024 if memory else None,
        "kernel": platform.release(),
        "machine": platform.machine(),
        "clock_source": _first("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "cgroup_version": 2 if Path("/sys/fs/cgroup/cgroup.controllers").exists() else 1,
        "open_files_limit": os.sysconf("SC_OPEN_MAX"),
    }
