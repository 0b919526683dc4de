"""How many connections a host can hold at once, and how many threads: told before anything is started."""

import math
from dataclasses import dataclass

from tandem.errors import UsageError
from tandem.hosts.host import Host
from tandem.lab.sites import APP, Sites
from tandem.load.shares import roles

RESERVED_FILES = 100
"""Files that a program has open besides its connections; ours have at most a few dozen."""
PORTS = 65_535 - 1_024 + 1
"""The generator's source ports (compose/stack.yaml): so many connections can one address have to another's one port."""
RESERVED_THREADS = 2_000
"""Process numbers that the rest of the host needs, of those that all share."""
MAPPINGS_PER_THREAD = 2
"""Memory mappings of a thread: its stack and the page that guards it."""


@dataclass(frozen=True)
class Limits:
    """Limits of one container on a host."""

    open_files: int
    """The hard limit; one connection takes one in the generator and one in the application."""
    threads: int
    """Threads of one process."""

    @property
    def connections(self) -> int:
        """Connections that fit without a proxy between."""
        return max(0, min(self.open_files - RESERVED_FILES, PORTS))


def read_limits(host: Host) -> Limits:
    """The limits of a container of the stack on a host."""
    kernel = host.limits()
    threads = min(
        kernel.threads - RESERVED_THREADS,
        kernel.pids - RESERVED_THREADS,
        kernel.mappings // MAPPINGS_PER_THREAD,
    )
    return Limits(kernel.open_files, max(0, threads))


def refuse_on_any(connections: int, threads: int, generators: int, sites: Sites) -> None:
    """Raises UsageError, with the host and the number that fits, where a load needs more than a host has that is
    asked for it.

    threads: those of a program that has one for each connection; 0 for the others. generators: so many share the load.
    """
    for service in (*roles(generators), APP):
        place, is_app = sites.of(service), service == APP
        held = connections if is_app else math.ceil(connections / generators)
        try:
            refuse_too_many(held, read_limits(place.host), threads if is_app else 0)
        except UsageError as error:
            raise (UsageError(f"host {place.name}: {error}") if place.address else error) from None


def refuse_too_many(connections: int, limits: Limits, threads: int = 0) -> None:
    """Raises UsageError, with the number that fits, where a load needs more than a host with these limits has."""
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
