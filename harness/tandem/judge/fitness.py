"""What this machine, or a lab of several, is fit for: from what doctor read of hosts and of the network between them. Pure."""

from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Literal

from tandem.catalog.labs import Lab, LabHost, Role
from tandem.catalog.ranges import expand
from tandem.record.store import NEEDED_BYTES

TEN_THOUSAND_CONNECTIONS = 20_100
"""HAProxy needs two descriptors for each connection."""
OFFSET_LARGE_MS = 100.0
"""Offset from which on a clock is not synchronized: such a clock drifts while a study runs."""
ROUND_TRIP_LONG_MS = 1.0
"""Hosts of one rack are below 0.2 ms apart, those of one region mostly below this."""
NARROW_BPS = 0.9e9
"""The part of 1 Gbit/s that TCP leaves."""
ANSWER_BYTES = 10_000
PATH: tuple[Role, ...] = ("loadgen", "proxy", "app", "pgbouncer", "db")
"""Roles on the path of a request with a query: each asks the next."""

State = Literal["good", "limited", "bad"]


@dataclass(frozen=True)
class Readings:
    """Readings of a host that was reached."""

    engine: str
    """Version of Docker's engine."""
    offset_ms: float
    """The host's clock less this machine's."""
    bound_ms: float
    """Largest error of the offset, either way."""
    cpus: int
    open_files: int
    """Open files that a container of the host may have."""
    free_bytes: int


@dataclass(frozen=True)
class Machine:
    """A host of a lab, and what it told, or why it told nothing: not reached, too old, a clock that cannot be known."""

    host: LabHost
    told: Readings | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Between:
    """The network between two hosts, measured from containers on them."""

    round_trip_ms: float
    """Median round trip of a TCP connection."""
    round_trip_p99_ms: float
    there_bps: float
    back_bps: float


@dataclass(frozen=True)
class Link:
    """Two hosts that talk. used: who asks, whom. network: None where it could not be measured, or a host was not
    reached."""

    one: str
    other: str
    used: tuple[tuple[Role, Role], ...]
    network: Between | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. about: a host of a lab, or two; None: this machine."""

    name: str
    state: State
    found: str
    means: str
    about: str | None = None


def offset(told: Readings) -> str:
    """The offset for people: +0.1 ± 0.2 ms; nothing is behind by 0.0."""
    return f"{round(told.offset_ms, 1) + 0.0:+.1f} ± {told.bound_ms:.1f} ms"


def _clock(told: Readings, about: str) -> Check:
    found = offset(told)
    if abs(told.offset_ms) - told.bound_ms > OFFSET_LARGE_MS:
        means = "corrected and recorded, but not synchronized: run an NTP client (chrony) on it and on this machine"
        return Check("clock", "limited", found, means, about)
    return Check("clock", "good", found, "corrected and recorded", about)


def _cpus(host: LabHost, told: Readings) -> Check:
    found = str(told.cpus)
    for role, cpuset in host.cpus.items():
        if (highest := max(expand(cpuset))) >= told.cpus:
            means = f"the lab file gives {role} CPU {highest}, but the last CPU there is {told.cpus - 1}"
            return Check("cpus", "bad", found, means, host.name)
    if len(host.roles) > 1 and not host.cpus:
        means = f"{' and '.join(host.roles)} share them, so they compete for CPU time"
        return Check("cpus", "limited", found, means, host.name)
    return Check("cpus", "good", found, "every role has CPUs of its own", host.name)


def files(most: int, about: str | None = None) -> Check:
    """The connections that so many open files are enough for. most: the hard limit, to which the programs raise theirs."""
    if most >= TEN_THOUSAND_CONNECTIONS:
        enough = "the hard limit counts: enough for 10,000 connections through HAProxy"
        return Check("open files", "good", f"{most:,}", enough, about)
    enough = f"the hard limit counts: enough for {max(0, most // 2 - 100):,} connections through HAProxy, not 10,000"
    return Check("open files", "limited", f"{most:,}", enough, about)


def disk(free_bytes: int, about: str | None = None) -> Check:
    """Whether a study fits."""
    fits = free_bytes > NEEDED_BYTES
    means = f"images, data and raw files need {NEEDED_BYTES / 1e9:.0f} GB: {'they fit' if fits else 'make room there'}"
    return Check("disk", "good" if fits else "bad", f"{free_bytes / 1e9:.0f} GB free", means, about)


def of_machine(machine: Machine) -> list[Check]:
    """What one host's readings say."""
    name, told = machine.host.name, machine.told
    if told is None:
        return [Check("host", "bad", "cannot be used", machine.problem or "no answer", name)]
    return [
        Check("engine", "good", told.engine, "runs the stack", name),
        _clock(told, name),
        _cpus(machine.host, told),
        files(told.open_files, name),
        disk(told.free_bytes, name),
    ]


def of_link(link: Link) -> list[Check]:
    """What the network between two hosts is good for."""
    about, network = f"{link.one} - {link.other}", link.network
    if network is None:
        return [Check("network", "bad", "not measured", link.problem, about)] if link.problem else []
    far, means = False, "included in every figure, the same for all implementations"
    if network.round_trip_ms > ROUND_TRIP_LONG_MS:
        far, means = True, "added to each request and each query: is this the intended network?"
    least_bps = min(network.there_bps, network.back_bps)
    narrow = least_bps < NARROW_BPS
    answers = f"carries {least_bps / 8 / ANSWER_BYTES:,.0f} answers of {ANSWER_BYTES // 1000} kB a second"
    answers += ": it may be the limit before an application is" if narrow else ""
    return [
        Check("round trip", "limited" if far else "good", f"{network.round_trip_ms:.2f} ms", means, about),
        Check("bandwidth", "limited" if narrow else "good", bits(least_bps), answers, about),
    ]


def bits(bps: float) -> str:
    """A bandwidth for people: 9.41 Gbit/s, 94.1 Mbit/s."""
    return f"{bps / 1e9:.3g} Gbit/s" if bps >= 1e9 else f"{bps / 1e6:.3g} Mbit/s"


def checks(machines: list[Machine], links: list[Link]) -> list[Check]:
    """All that was looked at, the hosts first."""
    return [*chain.from_iterable([*map(of_machine, machines), *map(of_link, links)])]


def _between(lab: Lab, links: list[Link], asking: Role, asked: Role) -> float | None:
    """Median round trip of two roles in ms, the longest where a role is on several hosts: 0 on one host. None: not
    measured."""
    trips = {frozenset((link.one, link.other)): link.network.round_trip_ms for link in links if link.network}
    other = lab.host_of(asked)
    found = [trips.get(frozenset((one.name, other.name))) for one in lab.hosts_of(asking) if one is not other]
    known = [trip for trip in found if trip is not None]
    return max(known, default=0.0) if len(known) == len(found) else None


def fit(lab: Lab, found: list[Check], links: list[Link]) -> list[str]:
    """Conclusions, in sentences: whether it is fit at all, what the network is of a response, what limits it."""
    if bad := sorted({f"{one.about} ({one.name})" for one in found if one.state == "bad"}):
        return [f"not fit for measuring: {', '.join(bad)}"]
    out = ["fit for every plan: all hosts answer, their clocks are known, and every role has CPUs of its own"]
    if sharing := [str(one.about) for one in found if one.state == "limited" and one.name == "cpus"]:
        out = [
            f"fit for smoke and quick; on {', '.join(sharing)} roles share CPUs, so absolute figures also depend on the hosts"
        ]
    ways = [_between(lab, links, asking, asked) for asking, asked in pairwise(PATH)]
    trips = [trip for trip in ways if trip is not None]
    if len(trips) == len(ways) and sum(trips) > 0:
        out.append(
            f"{sum(trips):.2f} ms of a response with one query are round trips between hosts (topology full)"
        )
    if narrow := [one for one in found if one.state == "limited" and one.name == "bandwidth"]:
        out.append(f"not fit for large answers: {narrow[0].about} {narrow[0].means}")
    return out


def fit_here(found: list[Check]) -> list[str]:
    """Conclusions for the plans on this machine, in sentences."""
    states = {check.name: check.state for check in found}
    if bad := [name for name, state in states.items() if state == "bad"]:
        return [f"not fit for measuring: {', '.join(bad)}"]
    out = ["fit for smoke and quick: absolute figures of this machine, each with its bottleneck"]
    if "limited" in (states["cpus"], states["steal"], states["foreign CPU"]):
        out.append(
            "not fit for small differences (below about 25 % between two separate sessions) or response times under 3 ms"
        )
    return out
