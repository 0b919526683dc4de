"""The engines of a lab: reached, given an agent each, and let go of. Imported only where a lab is named."""

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from python_on_whales import DockerException

from tandem.catalog.labs import CONTEXT, ROLES, SSH, Lab, LabHost, Role, resolve
from tandem.catalog.labs import HERE as ON_THIS_ENGINE
from tandem.catalog.ranges import expand
from tandem.errors import TandemError, UsageError
from tandem.hosts.engine import Engine, remove_agents
from tandem.hosts.host import Machines
from tandem.hosts.remote import Remote
from tandem.hosts.several import SeveralHosts
from tandem.lab.images import BUILT, build_image
from tandem.lab.sites import FAULTS, PORTS, EngineSite, Local, Sites, as_role, home, overlay
from tandem.lab.stack import remove_leftovers, side_by_side

AGENT_IMAGE: Final = "tandem/agent"
CONTEXT_S: Final = 10
SSH_PORT: Final = 22
ASKED_OF: Final[dict[Role, tuple[Role, ...]]] = {
    "loadgen": ("proxy",),
    "app": ("pgbouncer", "db"),
    "pgbouncer": ("db",),
}
"""Who asks whom of those that are up before an application is."""


class LabSites(Sites):
    """The engines of a lab, with an agent on each; `close` lets go of them."""

    lab: Lab

    def __init__(self, lab: Lab, sites: Mapping[str, EngineSite]) -> None:
        """sites: by the name of the lab's host."""
        super().__init__(list(sites.values()))
        self.lab, self._sites = lab, dict(sites)
        self._machines = SeveralHosts([site.host for site in sites.values()])
        self._first_cpu, first = dict[str, int](), 0
        for name, site in self._sites.items():
            self._first_cpu[name] = first
            first += site.host.cpus

    def of(self, service: str) -> EngineSite:
        return self._sites[home(self.lab, service).name]

    @property
    def machines(self) -> Machines:
        return self._machines

    def cpuset(self, service: str, told: str) -> str:
        site = self.of(service)
        own = expand(told) or range(site.host.cpus)
        return ",".join(str(self._first_cpu[site.name] + cpu) for cpu in own)

    def settings(self) -> dict[str, str]:
        of_services = {service: as_role(service) for service in (*ROLES, FAULTS)}
        return {
            f"{service.upper()}_CPUSET": self.lab.host_of(role).cpus.get(role, "")
            for service, role in of_services.items()
        }

    def overlay(self, site: EngineSite, variables: Mapping[str, str]) -> dict[str, Any]:
        return overlay(self.lab, site.name, variables)

    def seen_from(self, service: str, inside: str, by: str) -> str:
        site = self.of(service)
        return inside if site is self.of(by) else site.address or inside

    def outside(self, service: str, asked_by: Sequence[str]) -> str | None:
        own = home(self.lab, service)
        askers = {host.name for asker in asked_by for host in self.lab.hosts_of(as_role(asker))}
        return own.address if askers - {own.name} else None

    def look_at_clocks(self) -> None:
        for site in self.all:
            if isinstance(site.host, Remote):
                site.host.measure_clock()

    @property
    def described(self) -> list[str]:
        out = []
        for name, site in self._sites.items():
            host, roles = site.host, ", ".join(self.lab.hosts[name].roles)
            told = f"host {name}: {roles}; {host.cpus} CPUs"
            if isinstance(host, Remote):
                clock = host.clock
                told += f", clock {clock.ahead_s * 1e3:+.1f} ± {clock.error_s * 1e3:.1f} ms from ours"
            out.append(told)
        return out

    def record(self) -> dict[str, dict[str, Any]]:
        out = dict[str, dict[str, Any]]()
        for name, site in self._sites.items():
            host, roles = site.host, self.lab.hosts[name].roles
            out[name] = {"roles": ", ".join(roles), **host.describe()}
            if isinstance(host, Remote):
                clock = host.measure_clock()
                out[name]["clock_ahead_ms"] = clock.ahead_s * 1e3
                out[name]["clock_error_ms"] = clock.error_s * 1e3
                out[name]["asked_round_trip_ms"] = clock.round_trip_s * 1e3
                for asker, asked in ((role, other) for role in roles for other in ASKED_OF.get(role, ())):
                    other = self.of(asked)
                    if other.address is not None and other.host is not host:
                        with suppress(OSError):  # not in this topology's path
                            took_s = host.handshake_s(other.address, PORTS[asked][0])
                            out[name][f"handshake_{asker}_to_{asked}_ms"] = took_s * 1e3
        return out

    def close(self) -> None:
        self._machines.close()
        for site in self.all:
            site.close()


def destination(host: LabHost) -> tuple[str, int | None]:
    """user@host and port of a host that is not this machine. Raises UsageError for a Docker context that does not
    lead to one."""
    told, context = host.engine, CONTEXT.fullmatch(host.engine)
    if context:
        ask = ["docker", "context", "inspect", context["name"], "--format", "{{.Endpoints.docker.Host}}"]
        done = subprocess.run(ask, capture_output=True, text=True, check=False, timeout=CONTEXT_S)
        if done.returncode:
            raise UsageError(
                f"host {host.name}: there is no Docker context {context['name']}: see docker context ls"
            )
        told = done.stdout.strip()
    found = SSH.fullmatch(told)
    if not found:
        raise UsageError(
            f"host {host.name}: its engine is at {told}: a lab's engines are reached over SSH, ssh://user@host"
        )
    user = f"{found['user']}@" if found["user"] else ""
    return f"{user}{found['host']}", int(found["port"]) if found["port"] else None


def machines(lab: Lab) -> set[str]:
    """The machines of a lab's engines, whatever the file calls them: address and SSH port. Raises UsageError for a Docker context
    that leads nowhere."""
    found = set()
    for host in lab.hosts.values():
        if host.engine == ON_THIS_ENGINE:
            found.add(host.engine)
        else:
            where, port = destination(host)
            name = where.rpartition("@")[2].lower()
            found.add(f"{next(iter(resolve(name)), name)}:{port or SSH_PORT}")
    return found


def connect(lab: Lab) -> dict[str, EngineSite]:
    """Every engine of a lab, side by side. Raises TandemError, and lets go of the others, where one is not reached."""

    def one(host: LabHost) -> EngineSite | TandemError:
        if host.engine == ON_THIS_ENGINE:
            return Local(host.name, host.address)
        try:
            return Engine(host.name, *destination(host), host.address)
        except TandemError as error:
            return error

    found = dict(zip(lab.hosts, side_by_side(one, lab.hosts.values()), strict=True))
    sites = {name: site for name, site in found.items() if not isinstance(site, TandemError)}
    for error in found.values():
        if isinstance(error, TandemError):
            for site in sites.values():
                site.close()
            raise error
    return sites


def clean_lab(lab: Lab, root: Path, env_file: Path) -> list[str]:
    """Removes whatever is ours on every host of a lab; a sentence for each. Raises TandemError where one is not reached."""
    sites, told = connect(lab), []
    try:
        for name, site in sites.items():
            found = []
            if isinstance(site, Engine) and (agents := remove_agents(site)):
                found.append(f"{len(agents)} of our probes")
            if remove_leftovers(root, env_file, Sites([site])):
                found.append("the containers of a measurement")
            if isinstance(site, Engine) and (images := remove_images(site)):
                found.append(f"{images} images")
            told.append(f"host {name}: removed {', '.join(found) if found else 'nothing: it was clean'}")
    finally:
        for site in sites.values():
            site.close()
    return told


def remove_images(engine: Engine) -> int:
    """Remove the images that were copied there, by their label; returns how many."""
    images = engine.docker.image.list(filters=[("label", BUILT)])
    for image in images:
        with suppress(DockerException):  # somebody else's container may be made of it
            image.remove(force=True)
    return len(images)


def open_lab(lab: Lab, root: Path) -> LabSites:
    """A lab whose hosts can be read. root: of the repository. Raises TandemError, UsageError; nothing stays open then."""
    sites = connect(lab)
    try:
        if engines := [site for site in sites.values() if isinstance(site, Engine)]:
            build_agent(root)
            side_by_side(_start_agent, engines)
        found = LabSites(lab, sites)
        for name, host in lab.hosts.items():
            have = sites[name].host.cpus
            highest = max((cpu for cpuset in host.cpus.values() for cpu in expand(cpuset)), default=-1)
            if highest >= have:
                raise UsageError(f"lab {lab.name}: {name} has {have} CPUs, but its file names CPU {highest}")
        return found
    except BaseException:
        for site in sites.values():
            site.close()
        raise


def build_agent(root: Path) -> None:
    """Build the agent's image on this machine's engine. root: of the repository. Raises TandemError."""
    build_image(root, AGENT_IMAGE, "harness/Dockerfile", "agent", target="agent")


def _start_agent(site: Engine) -> None:
    site.expect_free()
    site.send(AGENT_IMAGE)
    site.start_agent(AGENT_IMAGE)
