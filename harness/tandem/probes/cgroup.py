"""Counters of one container's control group, version 1 or 2, by the host PID of its first process."""

from dataclasses import dataclass
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
PROC = Path("/proc")


@dataclass(frozen=True)
class Usage:
    cpu_s: float
    throttled_s: float
    anonymous_bytes: int


def _fields(text: str) -> dict[str, int]:
    return {key: int(value) for key, value in (line.split()[:2] for line in text.splitlines() if " " in line)}


class Cgroup:
    """The control group of a process; raises FileNotFoundError once the container is gone."""

    def __init__(self, pid: int, cgroups: Path = CGROUPS, proc: Path = PROC) -> None:
        self.pid = pid
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
        """CPU time since the start, throttled time since the start, anonymous memory now."""
        if self.version == 1:
            return Usage(
                cpu_s=int((self._cpuacct / "cpuacct.usage").read_text()) / 1e9,
                throttled_s=_fields((self._cpu / "cpu.stat").read_text()).get("throttled_time", 0) / 1e9,
                anonymous_bytes=_fields((self._memory / "memory.stat").read_text())["total_rss"],
            )
        cpu = _fields((self._unified / "cpu.stat").read_text())
        return Usage(
            cpu_s=cpu["usage_usec"] / 1e6,
            throttled_s=cpu.get("throttled_usec", 0) / 1e6,
            anonymous_bytes=_fields((self._unified / "memory.stat").read_text())["anon"],
        )

    def processes(self) -> list[int]:
        """Processes in the group."""
        folder = self._cpuacct if self.version == 1 else self._unified
        return [int(pid) for pid in (folder / "cgroup.procs").read_text().split()]

    def thread_cpu_s(self, ticks_per_s: int) -> dict[int, float]:
        """CPU time of every thread in the group, by thread id."""
        out: dict[int, float] = {}
        for pid in self.processes():
            for stat in (self._proc / str(pid) / "task").glob("*/stat"):
                try:
                    fields = stat.read_text().rpartition(")")[2].split()
                except OSError:
                    continue  # the thread ended meanwhile
                out[int(stat.parent.name)] = (int(fields[11]) + int(fields[12])) / ticks_per_s
        return out
