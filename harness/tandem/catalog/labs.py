"""Which machine has which role: the types of loadgen/labs/*.toml. Starts nothing; it may ask what a host name means."""

import re
import socket
from collections.abc import Callable
from functools import cached_property
from ipaddress import IPv4Address
from itertools import combinations
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from tandem.catalog.ranges import expand
from tandem.catalog.scenario import Entry
from tandem.errors import UsageError

Role = Literal["db", "pgbouncer", "app", "proxy", "loadgen"]
ROLES: tuple[Role, ...] = get_args(Role)

TALKS: tuple[tuple[Role, Role], ...] = (
    ("loadgen", "proxy"),
    ("loadgen", "app"),
    ("proxy", "app"),
    ("app", "pgbouncer"),
    ("app", "db"),
    ("pgbouncer", "db"),
)
"""Who asks whom, in one topology or another."""

HERE = "here"
OF_A_LAB = "shared"
"""The placement in the request of a lab: none of its own."""
SSH = re.compile(r"ssh://(?:(?P<user>[\w.-]+)@)?(?P<host>[\w.-]+)(?::(?P<port>\d{1,5}))?")
CONTEXT = re.compile(r"context:(?P<name>[a-zA-Z0-9][\w.+-]*)")
CPU_SET = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


class LabHost(BaseModel):
    """A machine with a Docker engine."""

    model_config = ConfigDict(extra="forbid", frozen=True, ignored_types=(cached_property,))
    name: str
    engine: str
    """How its engine is reached: `here`, `ssh://user@host[:port]`, or `context:NAME` of a Docker context."""
    address: str
    """Address on the network that requests travel over: an IPv4 address, or a host name that has one."""
    roles: Annotated[tuple[Role, ...], Field(min_length=1)]
    cpus: dict[Role, str] = {}
    """The CPU set of each role, such as "0,2-3". Without any its roles share all CPUs."""

    @field_validator("engine")
    @classmethod
    def _is_reachable(cls, engine: str) -> str:
        ssh = SSH.fullmatch(engine)
        if engine == HERE or CONTEXT.fullmatch(engine) or (ssh and 0 < int(ssh["port"] or 22) < 65_536):
            return engine
        raise ValueError(f"an engine is 'here', 'ssh://user@host[:port]' or 'context:NAME', not '{engine}'")

    @field_validator("address")
    @classmethod
    def _is_a_name_or_number(cls, address: str) -> str:
        if not re.fullmatch(r"[a-zA-Z0-9]([\w.-]*\w)?", address):
            raise ValueError(f"an address is an IPv4 address or a host name, not '{address}'")
        return address

    @field_validator("cpus")
    @classmethod
    def _are_cpu_sets(cls, cpus: dict[Role, str]) -> dict[Role, str]:
        for role, cpuset in cpus.items():
            if not CPU_SET.fullmatch(cpuset) or not all(map(expand, cpuset.split(","))):
                raise ValueError(f"{role} has the CPU set '{cpuset}'; write it as in \"0,2-3\"")
        return cpus

    @model_validator(mode="after")
    def _shares_no_cpu_by_mistake(self) -> Self:
        if len(set(self.roles)) < len(self.roles):
            raise ValueError("a role is named twice")
        if strangers := sorted(self.cpus.keys() - set(self.roles)):
            raise ValueError(f"cpus names {strangers[0]}, which is not among its roles")
        if self.cpus and (without := [role for role in self.roles if role not in self.cpus]):
            raise ValueError(
                f"{without[0]} has no CPU set and would use CPUs of {next(iter(self.cpus))}: give every role one, or none"
            )
        for one, other in combinations(self.cpus, 2):
            if both := sorted({*expand(self.cpus[one])} & {*expand(self.cpus[other])}):
                raise ValueError(f"{one} and {other} both have CPU {both[0]}")
        return self

    @cached_property
    def engine_key(self) -> str:
        """A key for all ways to write one engine: the user of an SSH address is left out, its port is not."""
        ssh = SSH.fullmatch(self.engine)
        return f"{ssh['host'].lower()}:{int(ssh['port'] or 22)}" if ssh else self.engine


def resolve(name: str) -> list[str]:
    """The IPv4 addresses of a host name, none where it has none."""
    try:
        found = socket.getaddrinfo(name, None, socket.AF_INET, socket.SOCK_STREAM)
    except OSError:
        return []
    return [str(address[0]) for *_, address in found]


class Lab(Entry):
    """The machines of one laboratory. `loadgen` is on one host or several, every other role on exactly one."""

    hosts: dict[str, LabHost]
    purpose: str = ""

    @model_validator(mode="before")
    @classmethod
    def _hosts_have_names(cls, told: Any) -> Any:
        """Each host's table gets its own name. What is no table is told by the field's own check."""
        if not isinstance(told, dict) or not isinstance(hosts := told.get("hosts"), dict):
            return told
        named = {}
        for name, table in hosts.items():
            if isinstance(table, dict) and "name" in table:
                raise ValueError(f"hosts -> {name} -> name: comes from the table and cannot be given")
            named[name] = {**table, "name": name} if isinstance(table, dict) else table
        return {**told, "hosts": named}

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        for role in ROLES:
            having = [host.name for host in self.hosts.values() if role in host.roles]
            if not having:
                raise ValueError(f"no host has the role {role}: add it to the roles of one")
            if len(having) > 1 and role != "loadgen":
                raise ValueError(
                    f"{role} is on {' and '.join(having)}: only loadgen may be on more than one host"
                )
        for one, other in combinations(self.hosts.values(), 2):
            if one.engine_key == other.engine_key:
                raise ValueError(f"{one.name} and {other.name} have the same engine: make them one host")
            if one.address == other.address:
                raise ValueError(f"{one.name} and {other.name} have the same address, {one.address}")
        return self

    def hosts_of(self, role: Role) -> list[LabHost]:
        """The hosts that have a role, in the file's order; at least one."""
        return [host for host in self.hosts.values() if role in host.roles]

    def host_of(self, role: Role) -> LabHost:
        """The host that has a role; of loadgen the first."""
        return self.hosts_of(role)[0]

    def links(self) -> dict[tuple[str, str], list[tuple[Role, Role]]]:
        """The pairs of hosts that talk over the network, each once, and which roles do: who asks, whom."""
        found: dict[tuple[str, str], list[tuple[Role, Role]]] = {}
        for asking, asked in TALKS:
            for one in self.hosts_of(asking):
                if (other := self.host_of(asked)) is not one:
                    back = other.name, one.name
                    pair = back if back in found else (one.name, other.name)
                    found.setdefault(pair, []).append((asking, asked))
        return found

    def resolved(self, ask: Callable[[str], list[str]] = resolve) -> "Lab":
        """The lab with numbers for addresses. ask: the IPv4 addresses of a name or a number.

        Raises UsageError where a name means nothing or no address that another host could reach, and where two hosts
        have one address.
        """
        numbers: dict[str, str] = {}
        for host in self.hosts.values():
            if not (found := ask(host.address)):
                raise UsageError(
                    f"lab {self.name}: {host.name}: {host.address} is neither an IPv4 address nor a name that has one"
                )
            number = IPv4Address(found[0])
            if number.is_loopback or number.is_unspecified or number.is_multicast:
                means = "" if found[0] == host.address else f" ({number})"
                raise UsageError(
                    f"lab {self.name}: {host.name}: no other host can reach {host.address}{means}:"
                    " give the address on the network that the hosts share"
                )
            numbers[host.name] = str(number)
        for one, other in combinations(numbers, 2):
            if numbers[one] == numbers[other]:
                raise UsageError(f"lab {self.name}: {one} and {other} have the same address, {numbers[one]}")
        named = self.hosts.items()
        hosts = {name: host.model_copy(update={"address": numbers[name]}) for name, host in named}
        return self.model_copy(update={"hosts": hosts})
