"""Where each service of a stack runs: all on this machine's engine, or on the engines of a lab."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from tandem.catalog.labs import ROLES, Lab, LabHost, Role
from tandem.errors import UsageError
from tandem.hosts import HERE, Host
from tandem.hosts.host import Machines
from tandem.load.dealing import is_generator
from tandem.load.dealing import number as generator_number
from tandem.probes.haproxy import RUNTIME_PORT, SLOTS_FROM_PORT

PORTS: Final[Mapping[str, tuple[int, ...]]] = {
    "db": (5432,),
    "pgbouncer": (6432,),
    "app": (8080,),
    "proxy": (8080, 8081, 8404),
    "faults": (8474, 6432),
}
"""What the harness asks of each service."""
APP_PORT: Final = 8080
APP_SLOTS_FROM_PORT: Final = 8200
"""Where one application among several is asked from another host; HAProxy's own ports for them are below."""


def ports_asked(service: str, variables: Mapping[str, str]) -> tuple[int, ...]:
    """What the harness asks of a service of a stack with these variables."""
    own = PORTS.get(service, ())
    return (*own, RUNTIME_PORT, *slot_ports(variables)) if service == "proxy" else own


def slot_ports(variables: Mapping[str, str]) -> list[int]:
    """HAProxy's ports for applications that are up side by side; none where one is up."""
    return [SLOTS_FROM_PORT + number for number in range(1, int(variables.get("SLOTS", "0")) + 1)]


class Place(Protocol):
    """One engine, with the machine that it runs on."""

    @property
    def name(self) -> str: ...

    @property
    def host(self) -> Host: ...

    @property
    def url(self) -> str | None:
        """Of the engine; None: Docker's own choice, on this machine."""

    @property
    def address(self) -> str | None:
        """On the measured network; None where there is one machine."""

    def reach(self, address: str, ports: Sequence[int]) -> str:
        """Where this process reaches a service, at these ports. address: of its container."""

    def send(self, image: str) -> bool:
        """Gives the engine an image that was built here; returns whether it had to be copied."""

    def close(self) -> None: ...


@dataclass(frozen=True)
class Local:
    """This machine's engine."""

    name: str = "here"
    address: str | None = None
    url: str | None = None

    @property
    def host(self) -> Host:
        return HERE

    def reach(self, address: str, ports: Sequence[int]) -> str:
        return address

    def send(self, image: str) -> bool:
        return False

    def close(self) -> None: ...


class Sites:
    """One site for all services, or one for each role of a lab."""

    @property
    def all(self) -> Sequence[Place]:
        return [HERE_ALONE]

    def of(self, service: str) -> Place:
        return HERE_ALONE

    @property
    def machines(self) -> Machines:
        """All hosts, counted together."""
        return HERE

    def cpuset(self, service: str, told: str) -> str:
        """The CPUs of a service, numbered through over all hosts. told: by its container, "" for all of its host."""
        return told

    def settings(self) -> dict[str, str]:
        """The variables of compose/stack.yaml that a lab decides in place of the placement."""
        return {}

    def overlay(self, site: Place, variables: Mapping[str, str]) -> dict[str, Any] | None:
        """What Compose is told on this site besides compose.yaml; None: nothing."""
        return None

    def seen_from(self, service: str, inside: str, by: str) -> str:
        """The address of a service as another one sees it. inside: of its container."""
        return inside

    def outside(self, service: str, asked_by: Sequence[str]) -> str | None:
        """The address of a service's host, where one of those that ask it is on another host."""
        return None

    def look_at_clocks(self) -> None:
        """How far they are from this machine's. Raises TandemError where one cannot be known well enough."""

    @property
    def described(self) -> list[str]:
        """A sentence for each host of a lab."""
        return []

    def record(self) -> dict[str, dict[str, Any]]:
        """Each host of a lab, for the record; empty without one."""
        return {}

    def close(self) -> None: ...


HERE_ALONE: Final[Place] = Local()
ALONE: Final = Sites()


def asked_by(variables: Mapping[str, str]) -> dict[str, dict[str, tuple[int, ...]]]:
    """Service -> who asks it -> at which ports, in the topology of these variables."""
    load, database = variables["LOAD_ADDRESS"], variables["DATABASE_ADDRESS"]
    asked: dict[str, dict[str, tuple[int, ...]]] = {role: {} for role in ROLES}
    asked["db"]["pgbouncer"] = PORTS["db"]
    asked["app"]["proxy"] = PORTS["app"]
    slots = slot_ports(variables)
    asked["proxy"]["loadgen"] = (8080, 8081, *slots) if load.startswith("proxy:8080") else (8081,)
    if load.startswith("app:"):
        asked["app"]["loadgen"] = PORTS["app"]
    service = database.partition(":")[0]
    asked[service]["app"] = PORTS[service]
    return asked


def as_role(service: str) -> Role:
    """Whose host a service runs on: the latency proxy's is the pooler's; each generator is on one of the generators'."""
    if is_generator(service):
        return "loadgen"
    return "pgbouncer" if service == "faults" else cast(Role, service)


def home(lab: Lab, service: str) -> LabHost:
    """The host that a service runs on. Generators are dealt out to the hosts that have some, in the file's order."""
    hosts = lab.hosts_of(as_role(service))
    return hosts[(generator_number(service) - 1) % len(hosts) if is_generator(service) else 0]


def overlay(lab: Lab, name: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """Compose's overlay for one host of a lab: each service is published for those elsewhere that ask it, on the host's
    address on the measured network alone, at its own port; and it knows those elsewhere that it asks by their usual names.

    Raises UsageError where two services of a host would have to have one port."""
    own, services = lab.hosts[name], dict[str, dict[str, Any]]()
    for role in own.roles:
        services[role] = {"ports": [], "extra_hosts": []}
    taken: dict[int, str] = {}
    for service, askers in asked_by(variables).items():
        at = lab.host_of(as_role(service))
        ports = set[int]()
        for asker, asked in askers.items():
            for host in lab.hosts_of(as_role(asker)):
                if host.name == at.name:
                    continue
                ports |= set(asked)
                if host.name == name and asker in services:
                    services[asker]["extra_hosts"].append(f"{service}:{at.address}")
        if at.name != name:
            continue
        for port in sorted(ports):
            if port in taken:
                raise UsageError(
                    f"lab {lab.name}: {taken[port]} and {service} on {name} would both have port {port}: with this topology"
                    " give them a host each"
                )
            taken[port] = service
            services[service]["ports"].append(f"{at.address}:{port}:{port}")
    if "loadgen" in services:
        # compose/stack.yaml has one CPU set for all generators: that of the first one's host.
        services["loadgen"]["cpuset"] = own.cpus.get("loadgen", "")
        services["loadgen"]["volumes"] = [
            "/raw"
        ]  # files are copied: no folder of this machine is mounted there
    if "proxy" in services and lab.host_of("app").name != name:
        # HAProxy asks Docker's name server, which does not know extra_hosts.
        services["proxy"]["environment"] = {"APP_AT": f"{lab.host_of('app').address}:{PORTS['app'][0]}"}
    return {
        "services": {
            role: {key: value for key, value in one.items() if value} for role, one in services.items()
        }
    }
