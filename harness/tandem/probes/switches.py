"""How often an application's threads gave up their CPU to wait: what a hand-over from thread to thread costs shows
here first."""

from collections.abc import Mapping
from dataclasses import dataclass

from tandem.hosts.host import Cgroup

SEEN_SHARE = 0.9
"""The threads that are there at both ends, or came in between, must have used so much of the application's CPU time."""


@dataclass(frozen=True)
class SwitchCounts:
    """One moment of an application."""

    cpu_s: float
    """CPU time of the whole control group, threads that ended among them."""
    threads_cpu_s: Mapping[int, float]
    switches: Mapping[int, int]
    """Thread -> how often it gave up its CPU since it began."""

    @classmethod
    def at(cls, group: Cgroup) -> "SwitchCounts":
        return cls(group.usage().cpu_s, group.thread_cpu_s(), group.thread_switches())


def between(before: SwitchCounts, after: SwitchCounts) -> int | None:
    """Context switches from one look to the other. None where threads ended that did much of the work: the kernel forgets
    their count with them, as that of the child processes of a request."""
    seen_s = sum(
        cpu_s - before.threads_cpu_s.get(thread, 0.0) for thread, cpu_s in after.threads_cpu_s.items()
    )
    if seen_s < SEEN_SHARE * (after.cpu_s - before.cpu_s):
        return None
    return sum(number - before.switches.get(thread, 0) for thread, number in after.switches.items())


@dataclass(frozen=True)
class ContextSwitches:
    """Context switches that the application's threads asked for over the whole window; None: not known."""

    number: int | None
