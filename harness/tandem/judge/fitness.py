"""What a lab of several machines is fit for: from what doctor read of its hosts and of the network between them. Pure."""

from dataclasses import dataclass
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

State = Literal["good", "limited", "bad"]


@dataclass(frozen=True)
class Readings:
    """Readings of a host that was reached."""

    engine: str
    """Version of Docker's engine."""
    offset_ms: float
    """The host's clock less this machine's."""
    bound_ms: float
    """The offset is known to so much, either way."""
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
    """Median, of a TCP connection."""
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
class Remark:
    """About a host, or two: one thing that was looked at."""

    about: str
    name: str
    state: State
    found: str
    means: str


def offset(told: Readings) -> str:
    """+0.1 ± 0.2 ms; nothing is behind by 0.0."""
    return f"{round(told.offset_ms, 1) + 0.0:+.1f} ± {told.bound_ms:.1f} ms"


def _clock(name: str, told: Readings) -> Remark:
    found = offset(told)
    if abs(told.offset_ms) - told.bound_ms > OFFSET_LARGE_MS:
        means = "corrected and recorded, but not synchronized: run an NTP client (chrony) on it and on this machine"
        return Remark(name, "clock", "limited", found, means)
    return Remark(name, "clock", "good", found, "corrected and recorded")


def _cpus(host: LabHost, told: Readings) -> Remark:
    found = str(told.cpus)
    for role, cpuset in host.cpus.items():
        if (highest := max(expand(cpuset))) >= told.cpus:
            means = f"the lab file gives {role} CPU {highest}, but the last CPU there is {told.cpus - 1}"
            return Remark(host.name, "cpus", "bad", found, means)
    if len(host.roles) > 1 and not host.cpus:
        means = f"{' and '.join(host.roles)} share them, so they compete for CPU time"
        return Remark(host.name, "cpus", "limited", found, means)
    return Remark(host.name, "cpus", "good", found, "every role has CPUs of its own")


def _files(name: str, told: Readings) -> Remark:
    found = f"{told.open_files:,}"
    if told.open_files >= TEN_THOUSAND_CONNECTIONS:
        return Remark(name, "open files", "good", found, "enough for 10,000 connections through HAProxy")
    most = max(0, told.open_files // 2 - 100)
    return Remark(
        name, "open files", "limited", found, f"enough for {most:,} connections through HAProxy, not 10,000"
    )


def _disk(name: str, told: Readings) -> Remark:
    enough = told.free_bytes > NEEDED_BYTES
    return Remark(
        name,
        "disk",
        "good" if enough else "bad",
        f"{told.free_bytes / 1e9:.0f} GB free",
        f"images, data and raw files need {NEEDED_BYTES / 1e9:.0f} GB: {'they fit' if enough else 'make room there'}",
    )


def of_machine(machine: Machine) -> list[Remark]:
    """Remarks about one host's readings."""
    name, told = machine.host.name, machine.told
    if told is None:
        return [Remark(name, "host", "bad", "cannot be used", machine.problem or "no answer")]
    return [
        Remark(name, "engine", "good", told.engine, "runs the stack"),
        _clock(name, told),
        _cpus(machine.host, told),
        _files(name, told),
        _disk(name, told),
    ]


def of_link(link: Link) -> list[Remark]:
    """Remarks about the network between two hosts."""
    about, network = f"{link.one} - {link.other}", link.network
    if network is None:
        return [Remark(about, "network", "bad", "not measured", link.problem)] if link.problem else []
    trip = f"{network.round_trip_ms:.2f} ms"
    long = network.round_trip_ms > ROUND_TRIP_LONG_MS
    least_bps = min(network.there_bps, network.back_bps)
    answers = f"carries {least_bps / 8 / ANSWER_BYTES:,.0f} answers of {ANSWER_BYTES // 1000} kB a second"
    narrow = least_bps < NARROW_BPS
    return [
        Remark(
            about,
            "round trip",
            "limited" if long else "good",
            trip,
            "added to each request and each query: is this the intended network?"
            if long
            else "included in every figure, the same for all implementations",
        ),
        Remark(
            about,
            "bandwidth",
            "limited" if narrow else "good",
            bits(least_bps),
            f"{answers}: it may be the limit before an application is" if narrow else answers,
        ),
    ]


def bits(bps: float) -> str:
    """9.41 Gbit/s, 94.1 Mbit/s."""
    return f"{bps / 1e9:.3g} Gbit/s" if bps >= 1e9 else f"{bps / 1e6:.3g} Mbit/s"


def remarks(machines: list[Machine], links: list[Link]) -> list[Remark]:
    """All that was looked at, the hosts first."""
    return [
        *(one for machine in machines for one in of_machine(machine)),
        *(one for link in links for one in of_link(link)),
    ]


def _between(lab: Lab, links: list[Link], asking: Role, asked: Role) -> float | None:
    """Median round trip of two roles in ms, the longest where a role is on several hosts: 0 on one host. None: not
    measured."""
    longest = 0.0
    for one in lab.hosts_of(asking):
        other = lab.host_of(asked)
        if one is not other:
            trips = [
                link.network.round_trip_ms
                for link in links
                if link.network and {link.one, link.other} == {one.name, other.name}
            ]
            if not trips:
                return None
            longest = max(longest, trips[0])
    return longest


def fit(lab: Lab, found: list[Remark], links: list[Link]) -> list[str]:
    """Conclusions, in sentences: whether it is fit at all, what the network is of a response, what limits it."""
    if bad := sorted({f"{one.about} ({one.name})" for one in found if one.state == "bad"}):
        return [f"not fit for measuring: {', '.join(bad)}"]
    out = ["fit for every plan: all hosts answer, their clocks are known, and every role has CPUs of its own"]
    if sharing := [one.about for one in found if one.state == "limited" and one.name == "cpus"]:
        out = [
            f"fit for smoke and quick; on {', '.join(sharing)} roles share CPUs, so absolute figures also depend on the hosts"
        ]
    way: list[tuple[Role, Role]] = [
        ("loadgen", "proxy"),
        ("proxy", "app"),
        ("app", "pgbouncer"),
        ("pgbouncer", "db"),
    ]
    trips = [trip for pair in way if (trip := _between(lab, links, *pair)) is not None]
    if len(trips) == len(way) and sum(trips) > 0:
        out.append(
            f"{sum(trips):.2f} ms of a response with one query are round trips between hosts (topology full)"
        )
    if narrow := [one for one in found if one.state == "limited" and one.name == "bandwidth"]:
        out.append(f"not fit for large answers: {narrow[0].about} {narrow[0].means}")
    return out
