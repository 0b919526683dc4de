"""The processes of a container, seen from outside."""

import psutil

from contract_checks.backend import Backend
from contract_checks.docker import docker, inspect

# Open files of every process but the shell itself. Only the container may look at them.
COUNT = 'n=0; for p in /proc/[0-9]*; do [ "$p" = "/proc/$$" ] || { set -- "$p"/fd/*; n=$((n+$#)); }; done; echo $n'


def pids(backend: Backend) -> set[int]:
    """The main process and its descendants, by the host's numbers. The health check's are not among them."""
    main = psutil.Process(inspect(backend.container)["State"]["Pid"])
    return {main.pid, *(child.pid for child in main.children(recursive=True))}


def memory(backend: Backend) -> int:
    """Resident bytes of all its processes. Cgroups also count the page cache, which says nothing here."""
    return sum(psutil.Process(pid).memory_info().rss for pid in pids(backend))


def descriptors(backend: Backend) -> int:
    """Open files of all its processes."""
    return int(docker("exec", backend.container, "sh", "-c", COUNT))
