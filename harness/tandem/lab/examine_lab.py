"""Reads what doctor says of a lab: each host over its engine, and the network between those that talk."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from python_on_whales import DockerClient, DockerException

from tandem.catalog.labs import HERE as ON_THIS_ENGINE
from tandem.catalog.labs import Lab, LabHost
from tandem.errors import TandemError
from tandem.hosts import HERE, Host
from tandem.hosts.engine import Engine
from tandem.judge.fitness import Link, Machine, Readings
from tandem.lab import network
from tandem.lab.lab_hosts import AGENT_IMAGE, build_agent, destination
from tandem.lab.stack import engine_versions

AT_ONCE = 4
"""Hosts that are read side by side: a clock is known the better the sooner this machine hears the answer."""


@dataclass(frozen=True)
class _Seen:
    """docker: of a host that was reached. engine: of one that is not this machine."""

    machine: Machine
    docker: DockerClient | None = None
    engine: Engine | None = None


def _said(host: LabHost, error: Exception) -> Machine:
    return Machine(host, problem=" ".join(str(error).split()).removeprefix(f"host {host.name}: "))


def _reach(host: LabHost) -> _Seen:
    """Reach a host. A failure is kept and ends nothing: the other hosts are looked at as well."""
    if host.engine == ON_THIS_ENGINE:
        return _Seen(Machine(host), DockerClient())
    try:
        engine = Engine(host.name, *destination(host))
    except (TandemError, DockerException, OSError) as error:
        return _Seen(_said(host, error))
    try:
        engine.expect_free()
        for image in (AGENT_IMAGE, network.IMAGE):
            engine.send(image)
    except (TandemError, DockerException, OSError) as error:
        engine.close()
        return _Seen(_said(host, error))
    return _Seen(Machine(host), engine.docker, engine)


def _readings(engine: Engine | None) -> Readings:
    """engine: None is this machine's. Raises TandemError, DockerException, OSError."""
    if engine is None:
        host: Host = HERE
        version, ahead_s, error_s = engine_versions()["docker"], 0.0, 0.0
    else:
        host = remote = engine.start_agent(AGENT_IMAGE)
        version, ahead_s, error_s = engine.version, remote.clock.ahead_s, remote.clock.error_s
    files, free = host.limits().open_files, host.free_bytes()
    return Readings(version, ahead_s * 1e3, error_s * 1e3, host.cpus, files, free)


def _read(seen: _Seen) -> _Seen:
    if seen.docker is None:
        return seen
    try:
        return replace(seen, machine=replace(seen.machine, told=_readings(seen.engine)))
    except (TandemError, DockerException, OSError) as error:
        return _Seen(_said(seen.machine.host, error), None, seen.engine)


@contextmanager
def _seen(lab: Lab) -> Iterator[dict[str, _Seen]]:
    """All hosts; what was reached is let go of at the end."""
    with ThreadPoolExecutor(len(lab.hosts)) as threads:
        found = list(threads.map(_reach, lab.hosts.values()))
    try:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            yield dict(zip(lab.hosts, threads.map(_read, found), strict=True))
    finally:
        for one in found:
            if one.engine:
                one.engine.close()


def _link(lab: Lab, pair: tuple[str, str], asking: _Seen, asked: _Seen) -> Link:
    used = tuple(lab.links()[pair])
    if asking.docker is None or asked.docker is None:
        return Link(*pair, used)
    try:
        measured = network.measure(asking.docker, asked.docker, asked.machine.host.address)
    except (TandemError, DockerException) as error:
        return Link(*pair, used, problem=str(error))
    return Link(*pair, used, measured)


def look(lab: Lab, root: Path) -> tuple[list[Machine], list[Link]]:
    """Hosts and links of a lab. Pairs of hosts are measured one after the other: they would take each other's
    network. Raises TandemError where an image that this needs does not build here."""
    build_agent(root)
    network.build(root)
    with _seen(lab) as seen:
        links = [_link(lab, pair, seen[pair[0]], seen[pair[1]]) for pair in lab.links()]
    return [one.machine for one in seen.values()], links
