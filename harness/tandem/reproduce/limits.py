"""How many connections a host can hold at once, and how many threads: told before anything is started."""

import resource
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import UsageError

RESERVED_FILES = 100
"""What a program has open besides its connections; ours have at most a few dozen."""
PORTS = 60_999 - 32_768 + 1
"""A container's own range of source ports: so many connections can one address have to another's one port."""
RESERVED_THREADS = 2_000
"""What the rest of the host needs of the process numbers that all share."""
MAPPINGS_PER_THREAD = 2
"""Its stack and the page that guards it."""
SYSCTL = Path("/proc/sys")


@dataclass(frozen=True)
class Limits:
    """Of one container on this host."""

    open_files: int
    """The hard limit; one connection takes one in the generator and one in the application."""
    threads: int
    """Of one process."""

    @property
    def connections(self) -> int:
        """That fit without a proxy between."""
        return max(0, min(self.open_files - RESERVED_FILES, PORTS))


def read_limits(sysctl: Path = SYSCTL) -> Limits:
    """Those of this container: Compose gives the stack's containers the engine's defaults too."""
    numbers = {
        name: int((sysctl / name).read_text())
        for name in ("kernel/threads-max", "kernel/pid_max", "vm/max_map_count")
    }
    threads = min(
        numbers["kernel/threads-max"] - RESERVED_THREADS,
        numbers["kernel/pid_max"] - RESERVED_THREADS,
        numbers["vm/max_map_count"] // MAPPINGS_PER_THREAD,
    )
    return Limits(resource.getrlimit(resource.RLIMIT_NOFILE)[1], max(0, threads))


def refuse_too_many(connections: int, limits: Limits, threads: int = 0) -> None:
    """Raises UsageError, with the number that fits, where a load needs more than the host has.

    threads: those of a program that has one for each connection; 0 for the others.
    """
    if connections > limits.connections:
        raise UsageError(
            f"{connections:,} connections do not fit: the generator and the application may open"
            f" {limits.open_files:,} files each, which is enough for {limits.connections:,}."
            " Raise the engine's limit (default-ulimits: nofile, in /etc/docker/daemon.json) and the host's own"
        )
    if threads > limits.threads:
        raise UsageError(
            f"a thread for each of {threads:,} connections does not fit: this host gives one process"
            f" {limits.threads:,}. Raise kernel.threads-max, kernel.pid_max and vm.max_map_count"
        )
