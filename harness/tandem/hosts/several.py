"""Several hosts counted as one machine: what is read of each is summed. Their CPUs are numbered through, in their order."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tandem.hosts.host import Cgroup, Host, HostCpu, Usage
from tandem.hosts.remote import line_of


def summed[T: (HostCpu, Usage)](parts: Sequence[T]) -> T:
    """The sum of each field; None where one of the parts does not tell."""
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    sums: list[Any] = [None if None in column else sum(column) for column in columns]
    return type(parts[0])(*sums)


@dataclass(frozen=True)
class SeveralCgroups:
    """A Cgroup: the part of one role on each of several hosts, at most once on each."""

    parts: list[Cgroup]

    def usage(self) -> Usage:
        return summed([part.usage() for part in self.parts])

    def resident_bytes(self) -> int:
        return sum(part.resident_bytes() for part in self.parts)

    def _no_number(self, *_: object) -> Any:
        raise ValueError("threads and processes have numbers of one host each")

    thread_cpu_s = thread_switches = descriptors = processes = _no_number


class SeveralHosts:
    """tandem.hosts.host.Machines, of several hosts; each is asked by a thread of its own, so that all are read at about one
    moment. Each of them knows its moment, and their middle counts: they lie apart by less than a round trip."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self._hosts, self._lines = list(hosts), [line_of(host) for host in hosts]
        self._threads = ThreadPoolExecutor(len(self._hosts), thread_name_prefix="host")

    @property
    def cpus(self) -> int:
        return sum(host.cpus for host in self._hosts)

    def read_cpu(self) -> HostCpu:
        parts: list[HostCpu] = list(self._threads.map(lambda host: host.read_cpu(), self._hosts))
        return summed(parts)

    def usages(self, groups: Mapping[str, Cgroup]) -> tuple[float, dict[str, Usage]]:
        """A role's group may be SeveralCgroups."""
        asked: list[dict[str, Cgroup]] = [{} for _ in self._hosts]
        for role, group in groups.items():
            for part in group.parts if isinstance(group, SeveralCgroups) else [group]:
                if line_of(part) not in self._lines:
                    raise ValueError("a control group is of none of these hosts")
                asked[self._lines.index(line_of(part))][role] = part
        jobs = [(host, own) for host, own in zip(self._hosts, asked, strict=True) if own]
        read = list(self._threads.map(lambda job: job[0].usages(job[1]), jobs))
        found = {role: summed([usage[role] for _, usage in read if role in usage]) for role in groups}
        return sum(at_s for at_s, _ in read) / len(read), found

    def harness_cgroup(self) -> Cgroup:
        return SeveralCgroups([host.harness_cgroup() for host in self._hosts])

    def close(self) -> None:
        self._threads.shutdown(wait=False)
