"""Describes the machine that this process runs on."""

import os
import platform
from pathlib import Path

import psutil

from tandem.hosts.kernel import kernel_parameters

CPU = Path("devices/system/cpu")
CLOCK_SOURCE = Path("devices/system/clocksource/clocksource0/current_clocksource")
UNIFIED = Path("fs/cgroup/cgroup.controllers")
"""There is one where version 2 of control groups is mounted."""


def first_line(file: Path, key: str | None = None) -> str | None:
    """The first line of a file, or what follows the colon in the first that begins with `key`; None without such."""
    try:
        for line in file.read_text().splitlines():
            if key is None:
                return line.strip()
            if line.startswith(key):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return None


def _turbo(sys: Path) -> str | None:
    """`on` or `off`; None where the kernel does not say."""
    for path, on in (("cpufreq/boost", "1"), ("intel_pstate/no_turbo", "0")):
        found = first_line(sys / CPU / path)
        if found is not None:
            return "on" if found == on else "off"
    return None


def mitigations(sys: Path) -> str:
    """What the kernel does about each flaw of the CPU: a line each."""
    files = sorted((sys / CPU / "vulnerabilities").glob("*"))
    return "\n".join(f"{file.name}: {first_line(file)}" for file in files)


def describe(proc: Path, sys: Path) -> dict[str, str | int | float | None]:
    """The host, for the record."""
    return {
        "cpus": psutil.cpu_count(),
        "cpu_model": first_line(proc / "cpuinfo", "model name"),
        "memory_bytes": psutil.virtual_memory().total,
        "kernel": platform.release(),
        "machine": platform.machine(),
        "clock_source": first_line(sys / CLOCK_SOURCE),
        "cgroup_version": 2 if (sys / UNIFIED).exists() else 1,
        "open_files_limit": os.sysconf("SC_OPEN_MAX"),
        "kernel_command_line": kernel_parameters(first_line(proc / "cmdline")),
        "governor": first_line(sys / CPU / "cpu0/cpufreq/scaling_governor"),
        "turbo": _turbo(sys),
        "swap_bytes": psutil.swap_memory().total,
        "smt": first_line(sys / CPU / "smt/active"),
        "transparent_hugepage": first_line(sys / "kernel/mm/transparent_hugepage/enabled"),
    }
