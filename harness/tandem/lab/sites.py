"""Where each service of a stack runs: all on this machine's engine, or on the engines of a lab."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from tandem.catalog.labs import ROLES, Lab, LabHost, Role
from tandem.hosts import HERE, Host
from tandem.hosts.host import Machines
from tandem.load.shares import is_generator
from tandem.load.shares import number as generator_number
from tandem.probes.haproxy import RUNTIME_PORT, SLOTS_FROM_PORT
from tandem.probes.toxiproxy import API_PORT, PROXIED_PORT

APP: Final = "app"
DATABASE: Final = "db"
POOLER: Final = "pgbouncer"
FAULTS: Final = "faults"
"""The latency proxy; it is up where a distance to the database was asked for."""
INSIDE: Final = ("app", "direct", "pool", "database", "distance", "control", "own")
"""The networks of compose/stack.yaml that no other machine reaches, unless a lab has several."""
PORTS: Final[Mapping[str, tuple[int, ...]]] = {
    DATABASE: (5432,),
    POOLER: (6432,),
    APP: (8080,),
    "proxy": (8080, 8081, 8404),
    FAULTS: (API_PORT, PROXIED_PORT),
}
"""Ports of each service that the harness asks."""
HARNESS_ASKS_AT: Final[Mapping[str, str]] = {"proxy": "edge", FAULTS: "control"}
"""The network of compose/stack.yaml on which a service listens to the harness, where that is not any of its own."""
APP_PORT: Final = 8080
"""Port of every implementation; a reader's own service has its own (APP_PORT among a stack's variables)."""
APP_OUTSIDE_PORT: Final = 8200
"""Port at which an application is asked from another host, as HAProxy beside it has 8080; of several the first has
the next one. HAProxy's own ports for several are below."""


def ports_asked(service: str, variables: Mapping[str, str]) -> tuple[int, ...]:
    """Ports that the harness asks of a service of a stack with these variables."""
    own = PORTS.get(service, ())
    return (*own, RUNTIME_PORT, *slot_ports(variables)) if service == "proxy" else own


def slot_ports(variables: Mapping[str, str]) -> list[int]:
    """HAProxy's ports for applications that are up side by side; none where one is up."""
    return [SLOTS_FROM_PORT + number for number in range(1, int(variables.get("SLOTS", "0")) + 1)]


class EngineSite(Protocol):
    """One engine, with the machine that it runs on."""

    @property
    def name(self) -> str: ...

    @property
    def host(self) -> Host: ...

    @property
    def url(self) -> str | None:
        """Address of the engine; None: Docker's own choice, on this machine."""

    @property
    def address(self) -> str | None:
        """Address on the measured network; None where there is one machine."""

    def reach(self, address: str, ports: Sequence[int]) -> str:
        """The address at which this process reaches a service, at these ports. address: of its container."""

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

    def __init__(self, sites: Sequence[EngineSite] = ()) -> None:
        self.all: Sequence[EngineSite] = sites or [HERE_ALONE]

    def of(self, service: str) -> EngineSite:
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

    def overlay(self, site: EngineSite, variables: Mapping[str, str]) -> dict[str, Any] | None:
        """Compose's overlay for this site, besides compose.yaml; None: nothing."""
        return None

    def seen_from(self, service: str, inside: str, by: str) -> str:
        """The address of a service as another one sees it. inside: of its container."""
        return inside

    def outside(self, service: str, asked_by: Sequence[str]) -> str | None:
        """The address of a service's host, where one of those that ask it is on another host."""
        return None

    def look_at_clocks(self) -> None:
        """Measure how far the clocks are from this machine's. Raises TandemError where one cannot be known well enough."""

    @property
    def described(self) -> list[str]:
        """A sentence for each host of a lab."""
        return []

    def record(self) -> dict[str, dict[str, Any]]:
        """Each host of a lab, for the record; empty without one."""
        return {}

    def close(self) -> None: ...


HERE_ALONE: Final[EngineSite] = Local()
ALONE: Final = Sites()


type Route = tuple[str, str]
"""LOAD_ADDRESS and DATABASE_ADDRESS."""


def written(routes: Iterable[Route]) -> str:
    """Routes as the value of a variable."""
    return " ".join(sorted({">".join(route) for route in routes}))


def asked_by(variables: Mapping[str, str]) -> dict[str, dict[str, set[int]]]:
    """Service -> who asks it -> at which ports, over all routes of these variables: ROUTES, else the one of this topology."""
    asked: dict[str, dict[str, set[int]]] = {role: {} for role in (*ROLES, FAULTS)}
    own = ">".join((variables["LOAD_ADDRESS"], variables["DATABASE_ADDRESS"]))

    def asks(asker: str, service: str, ports: Iterable[int]) -> None:
        asked[service].setdefault(asker, set()).update(ports)

    asks("pgbouncer", "db", PORTS["db"])
    asks("proxy", APP, [APP_PORT])
    asks("loadgen", "proxy", [8081])
    for load, _, database in (route.partition(">") for route in (variables.get("ROUTES") or own).split()):
        if load.startswith("proxy:8080"):
            asks("loadgen", "proxy", [8080, *slot_ports(variables)])
        if load.startswith(f"{APP}:"):
            asks("loadgen", APP, [APP_PORT])
        service, _, port = database.partition(":")
        asks(APP, service, [int(port)])
        if service == FAULTS:
            asks(FAULTS, "db", PORTS["db"])
    return asked


def as_role(service: str) -> Role:
    """The role whose host a service runs on: the latency proxy's is the pooler's; each generator is on one of the
    generators'."""
    if is_generator(service):
        return "loadgen"
    return "pgbouncer" if service == FAULTS else cast(Role, service)


def home(lab: Lab, service: str) -> LabHost:
    """The host that a service runs on. Generators are dealt out to the hosts that have some, in the file's order."""
    hosts = lab.hosts_of(as_role(service))
    return hosts[(generator_number(service) - 1) % len(hosts) if is_generator(service) else 0]


def overlay(lab: Lab, name: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """Compose's overlay for one host of a lab: each service is published for those elsewhere that ask it, on the host's
    address on the measured network alone; and it knows those elsewhere that it asks by their usual names."""
    own, asked = lab.hosts[name], asked_by(variables)
    services: dict[str, dict[str, Any]] = {
        service: {"ports": [], "extra_hosts": []}
        for service in (*own.roles, FAULTS)
        if service != FAULTS or (asked[FAULTS] and home(lab, FAULTS) is own)
    }
    for service, askers in asked.items():
        at = home(lab, service)
        ports = set[int]()
        for asker, its in askers.items():
            for host in lab.hosts_of(as_role(asker)):
                if host is at:
                    continue
                ports |= its
                if host is own and asker in services:
                    services[asker]["extra_hosts"].append(f"{service}:{at.address}")
        if at is own and service in services:
            services[service]["ports"] = [
                f"{at.address}:{APP_OUTSIDE_PORT if service == APP else port}:{port}"
                for port in sorted(ports)
            ]
    if "loadgen" in services:
        # compose/stack.yaml has one CPU set for all generators: that of the first one's host.
        services["loadgen"]["cpuset"] = own.cpus.get("loadgen", "")
        # Files are copied: no folder of this machine is mounted there.
        services["loadgen"]["volumes"] = ["/raw"]
    if "proxy" in services:
        # Docker may lead what is asked from another host to any of its networks.
        services["proxy"]["environment"] = {"EDGE": "0.0.0.0"}
        if (app := lab.host_of(APP)) is not own:
            # HAProxy asks Docker's name server, which does not know extra_hosts.
            services["proxy"]["environment"]["APP_AT"] = f"{app.address}:{APP_OUTSIDE_PORT}"
    whole = {role: {key: value for key, value in one.items() if value} for role, one in services.items()}
    # The ways to other hosts lead out of the networks.
    return {"services": whole, "networks": {network: {"internal": False} for network in INSIDE}}
