"""Several hosts counted as one machine: what is read of each is summed. Their CPUs are numbered through, in their order."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tandem.hosts.host import Cgroup, Host, HostCpu, Usage
from tandem.hosts.remote import Remote, RemoteCgroup


def summed_cpu(parts: Sequence[HostCpu]) -> HostCpu:
    """processes_s: None where one of them does not tell."""
    known = [part.processes_s for part in parts if part.processes_s is not None]
    return HostCpu(
        sum(part.busy_s for part in parts),
        sum(part.softirq_s for part in parts),
        sum(part.steal_s for part in parts),
        sum(part.total_s for part in parts),
        sum(known) if len(known) == len(parts) else None,
    )


def summed_usage(parts: Sequence[Usage]) -> Usage:
    system = [part.system_s for part in parts if part.system_s is not None]
    return Usage(
        sum(part.cpu_s for part in parts),
        sum(part.throttled_s for part in parts),
        sum(part.anonymous_bytes for part in parts),
        sum(system) if len(system) == len(parts) else None,
    )


@dataclass(frozen=True)
class Parts:
    """A Cgroup: what belongs to one role and runs on several hosts, at most once on each."""

    of: list[Cgroup]

    def usage(self) -> Usage:
        return summed_usage([part.usage() for part in self.of])

    def resident_bytes(self) -> int:
        return sum(part.resident_bytes() for part in self.of)

    def _no_number(self, *_: object) -> Any:
        raise ValueError("threads and processes have numbers of one host each")

    thread_cpu_s = thread_switches = processes = _no_number


class Together:
    """tandem.hosts.host.Machines, of several hosts; each is asked by a thread of its own, so that all are read at about one
    moment. Each of them knows its moment, and their middle counts: they lie apart by less than a round trip."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self._hosts = list(hosts)
        self._threads = ThreadPoolExecutor(len(self._hosts), thread_name_prefix="host")

    @property
    def cpus(self) -> int:
        return sum(host.cpus for host in self._hosts)

    def read_cpu(self) -> HostCpu:
        return summed_cpu(list(self._threads.map(lambda host: host.read_cpu(), self._hosts)))

    def usages(self, groups: Mapping[str, Cgroup]) -> tuple[float, dict[str, Usage]]:
        """A role's group may be Parts."""
        own: list[dict[str, Cgroup]] = [{} for _ in self._hosts]
        for role, group in groups.items():
            for part in group.of if isinstance(group, Parts) else [group]:
                own[self._index(part)][role] = part
        asked = [(host, mine) for host, mine in zip(self._hosts, own, strict=True) if mine]
        told = list(self._threads.map(lambda one: one[0].usages(one[1]), asked))
        found = {role: [usage[role] for _, usage in told if role in usage] for role in groups}
        at_s = sum(moment for moment, _ in told) / len(told)
        return at_s, {
            role: parts[0] if len(parts) == 1 else summed_usage(parts) for role, parts in found.items()
        }

    def harness_cgroup(self) -> Cgroup:
        """One of Parts, which `usages` takes apart."""
        return Parts([host.harness_cgroup() for host in self._hosts])

    def _index(self, group: Cgroup) -> int:
        for index, host in enumerate(self._hosts):
            if isinstance(host, Remote) and isinstance(group, RemoteCgroup):
                if group.of_line(host.line):
                    return index
            elif not isinstance(host, Remote) and not isinstance(group, RemoteCgroup):
                return index
        raise ValueError("a control group is of none of these hosts")

    def close(self) -> None:
        self._threads.shutdown(wait=False)
