"""Counters of one container's control group, version 1 or 2, by the host PID of its first process."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from tandem.hosts.host import Usage

CGROUPS = Path("/sys/fs/cgroup")
PROC = Path("/proc")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def _text(file: str) -> str:
    """A small file of the kernel's, which gives it whole, without the buffers of Path.read_text: each sample reads dozens."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return os.read(descriptor, 1 << 16).decode()
    finally:
        os.close(descriptor)


def _fields(text: str) -> dict[str, int]:
    return {key: int(value) for key, value in (line.split()[:2] for line in text.splitlines() if " " in line)}


def processes_cpu_s(cgroups: Path) -> float | None:
    """CPU time of all groups together; None where there are none.

    Version 1: the root group is charged with every process. Version 2: the root's own figure is that of /proc/stat, so its
    children are summed; processes in no group, which are the kernel's threads, are then left out.
    """
    usage = cgroups / "cpuacct/cpuacct.usage"
    if usage.is_file():
        return int(usage.read_text()) / 1e9
    children = [file.read_text() for file in cgroups.glob("*/cpu.stat")]
    return sum(_fields(text)["usage_usec"] for text in children) / 1e6 if children else None


def _held(folder: str, charged: str, prefix: str, of_file: str) -> int:
    """Memory that a group holds: all that it is charged with, less the file cache that the kernel could drop at once.

    charged: the file of that sum. prefix, of_file: of the names there. File cache on the lists of
    files excludes what is shared in memory (tmpfs, memfd, MAP_SHARED), which is no cache and stays counted.
    """
    stat = _fields(_text(f"{folder}/memory.stat"))
    cache = stat[f"{prefix}inactive_file"] + stat[f"{prefix}active_file"]
    unwritten = sum(stat.get(f"{prefix}{of_file}{kind}", 0) for kind in ("dirty", "writeback"))
    return int(_text(f"{folder}/{charged}")) - max(0, cache - unwritten)


class LocalCgroup:
    """A Cgroup: that of a process of this machine. Raises FileNotFoundError once the container is gone."""

    def __init__(self, pid: int, cgroups: Path = CGROUPS, proc: Path = PROC) -> None:
        self._proc = proc
        paths: dict[str, Path] = {}
        for line in (proc / str(pid) / "cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                paths[controller] = cgroups / controllers / path.lstrip("/")
        self.version = 1 if "cpuacct" in paths else 2
        if self.version == 1:
            self._cpuacct, self._cpu, self._memory = paths["cpuacct"], paths["cpu"], paths["memory"]
        else:
            self._unified = cgroups / paths[""].relative_to(cgroups)

    def usage(self) -> Usage:
        """CPU time since the start, throttled time since the start, memory now."""
        if self.version == 1:
            return Usage(
                cpu_s=int(_text(f"{self._cpuacct}/cpuacct.usage")) / 1e9,
                throttled_s=_fields(_text(f"{self._cpu}/cpu.stat")).get("throttled_time", 0) / 1e9,
                memory_bytes=_held(f"{self._memory}", "memory.usage_in_bytes", "total_", ""),
                system_s=_fields(_text(f"{self._cpuacct}/cpuacct.stat"))["system"] / TICKS_PER_S,
            )
        cpu = _fields(_text(f"{self._unified}/cpu.stat"))
        return Usage(
            cpu_s=cpu["usage_usec"] / 1e6,
            throttled_s=cpu.get("throttled_usec", 0) / 1e6,
            memory_bytes=_held(f"{self._unified}", "memory.current", "", "file_"),
            system_s=cpu["system_usec"] / 1e6,
        )

    def processes(self, name: str | None = None) -> list[int]:
        """Processes in the group, of all or of those with this name."""
        folder = self._cpuacct if self.version == 1 else self._unified
        pids = [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]
        return pids if name is None else [pid for pid in pids if self._name(pid) == name]

    def _name(self, pid: int) -> str | None:
        try:
            return (self._proc / str(pid) / "comm").read_text().removesuffix("\n")
        except OSError:
            return None  # it ended meanwhile

    def thread_cpu_s(self) -> dict[int, float]:
        """CPU time of every thread in the group, by thread id.

        Not by psutil's Process.threads(): it rounds user and system time each by itself, and makes an object for
        every process.
        """
        out: dict[int, float] = {}
        for thread, text in self._of_threads("stat"):
            fields = text.rpartition(")")[2].split()
            out[thread] = (int(fields[11]) + int(fields[12])) / TICKS_PER_S
        return out

    def descriptors(self) -> int | None:
        """Open file descriptors of all processes. The size of their folder is their number since Linux 6.2; to list it takes
        rights that the harness has not."""
        numbers = []
        for pid in self.processes():
            with suppress(OSError):  # it ended meanwhile
                numbers.append((self._proc / str(pid) / "fd").stat().st_size)
        return sum(numbers) or None

    def thread_switches(self) -> dict[int, int]:
        """Voluntary context switches of every thread in the group, by thread id. psutil tells those of main threads."""
        return {
            thread: int(text.rpartition("\nvoluntary_ctxt_switches:")[2].split()[0])
            for thread, text in self._of_threads("status")
        }

    def _of_threads(self, name: str) -> Iterator[tuple[int, str]]:
        """This file of every thread in the group that is there, with its id."""
        for pid in self.processes():
            for file in (self._proc / str(pid) / "task").glob(f"*/{name}"):
                try:
                    yield int(file.parent.name), file.read_text()
                except OSError:
                    continue  # the thread ended meanwhile

    def resident_bytes(self) -> int:
        """Raises ProcessLookupError if a process ends meanwhile."""
        try:
            return sum(int(psutil.Process(pid).memory_info().rss) for pid in self.processes())
        except psutil.NoSuchProcess as error:
            raise ProcessLookupError(str(error)) from None
