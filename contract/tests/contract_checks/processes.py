"""The processes of a container, seen from outside."""

from contract_checks.backend import Backend
from contract_checks.docker import docker, inspect

# Open files of every process but the shell itself.
COUNT = 'n=0; for p in /proc/[0-9]*; do [ "$p" = "/proc/$$" ] || { set -- "$p"/fd/*; n=$((n+$#)); }; done; echo $n'


def pids(backend: Backend) -> set[int]:
    """The main process and its descendants, by the host's numbers. The health check's are not among them."""
    lines = docker("top", backend.container, "-eo", "pid,ppid").splitlines()[1:]
    parents = {int(pid): int(parent) for pid, parent in map(str.split, lines)}
    found = {int(inspect(backend.container)["State"]["Pid"])}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def memory(backend: Backend) -> int:
    """Resident bytes of all its processes. Cgroups also count the page cache, which says nothing here."""
    lines = docker("top", backend.container, "-eo", "pid,rss").splitlines()[1:]
    return sum(int(line.split()[1]) for line in lines) * 1024


def descriptors(backend: Backend) -> int:
    """Open files of all its processes."""
    return int(docker("exec", backend.container, "sh", "-c", COUNT))
