"""Reads what doctor says of a lab: each host over its engine, and the network between those that talk, measured from containers
on them: round trips by sockperf, bandwidth by iperf3."""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from python_on_whales import DockerClient, DockerException

from tandem.catalog.labs import HERE as ON_THIS_ENGINE
from tandem.catalog.labs import Lab, LabHost
from tandem.errors import TandemError
from tandem.hosts import HERE, Host
from tandem.hosts.engine import Engine
from tandem.judge.fitness import Between, Link, Machine, Readings
from tandem.lab.images import build_image, taken
from tandem.lab.lab_hosts import AGENT_IMAGE, build_agent, destination
from tandem.lab.stack import LABEL, engine_versions, side_by_side, tail

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
    engine = None
    try:
        engine = Engine(host.name, *destination(host))
        engine.expect_free()
        for image in (AGENT_IMAGE, NETWORK_IMAGE):
            engine.send(image)
    except (TandemError, DockerException, OSError) as error:
        if engine is not None:
            engine.close()
        return _Seen(_said(host, error))
    return _Seen(Machine(host), engine.docker, engine)


def _read(seen: _Seen) -> _Seen:
    if seen.docker is None:
        return seen
    try:
        if seen.engine is None:
            host: Host = HERE
            version, ahead_s, error_s = engine_versions()["docker"], 0.0, 0.0
        else:
            host = remote = seen.engine.start_agent(AGENT_IMAGE)
            version, ahead_s, error_s = seen.engine.version, remote.clock.ahead_s, remote.clock.error_s
        files, free = host.limits().open_files, host.free_bytes()
        told = Readings(version, ahead_s * 1e3, error_s * 1e3, host.cpus, files, free)
        return replace(seen, machine=replace(seen.machine, told=told))
    except (TandemError, DockerException, OSError) as error:
        return _Seen(_said(seen.machine.host, error), None, seen.engine)


@contextmanager
def _seen(lab: Lab) -> Iterator[dict[str, _Seen]]:
    """All hosts; what was reached is let go of at the end."""
    found = side_by_side(_reach, lab.hosts.values())
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
        measured = measure_network(asking.docker, asked.docker, asked.machine.host.address)
    except (TandemError, DockerException) as error:
        return Link(*pair, used, problem=str(error))
    return Link(*pair, used, measured)


def look(lab: Lab, root: Path) -> tuple[list[Machine], list[Link]]:
    """Hosts and links of a lab. Pairs of hosts are measured one after the other: they would take each other's
    network. Raises TandemError where an image that this needs does not build here."""
    build_agent(root)
    if taken(root, NETWORK_IMAGE, DOCKERFILE, "", {}) is None:
        build_image(root, NETWORK_IMAGE, DOCKERFILE, "network")
    with _seen(lab) as seen:
        links = [_link(lab, pair, seen[pair[0]], seen[pair[1]]) for pair in lab.links()]
    return [one.machine for one in seen.values()], links


NETWORK_IMAGE, DOCKERFILE = "tandem/network", "harness/network/Dockerfile"
OWN = f"{LABEL}=network"
"""Label of its containers."""
ROUND_TRIPS_PORT, BANDWIDTH_PORT = 21_111, 21_112
MEASURED_S = 1
"""Seconds of round trips, of one direction, of the other."""
LISTENING_S = 10.0
DEADLINE_S = 30.0
"""Deadline of one container, however it is reached. Containers of a host that is lost end by themselves after that."""

LISTEN = (
    f"sockperf server --tcp -i {{address}} -p {ROUND_TRIPS_PORT} &"
    f" exec timeout {DEADLINE_S:.0f} iperf3 --server --bind {{address}} --port {BANDWIDTH_PORT}"
)
ASK = (
    f"timeout 10 sockperf ping-pong --tcp -i {{address}} -p {ROUND_TRIPS_PORT} -t {MEASURED_S} --full-rtt;"
    f" timeout 10 iperf3 --client {{address}} --port {BANDWIDTH_PORT} --time {MEASURED_S} --json;"
    f" timeout 10 iperf3 --client {{address}} --port {BANDWIDTH_PORT} --time {MEASURED_S} --json --reverse"
)
"""One container does all three: to start one on another host takes as long as to measure."""


def read_network(printed: str) -> Between:
    """The figures of what ASK printed. Raises ValueError, with what a tool complained of, where one is missing."""
    median, p99 = (re.search(rf"percentile {share}\.000 = +([\d.]+)", printed) for share in (r"50", r"99"))
    if not (median and p99):
        raise ValueError(tail(printed, 1) or "no round trips")
    rates, decoder, at = [], json.JSONDecoder(), printed.find("{\n")
    while at >= 0:
        told, end = decoder.raw_decode(printed, at)
        if "error" in told:
            raise ValueError(str(told["error"]))
        rates.append(float(told["end"]["sum_received"]["bits_per_second"]))
        at = printed.find("{\n", end)
    there, back = rates
    return Between(float(median[1]) / 1e3, float(p99[1]) / 1e3, there, back)


def _run(docker: DockerClient, script: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in a container on the host's own network, so that what lies between is the network alone. Raises TandemError
    where it does not end in time."""
    ours = ["--rm", "--network", "host", "--label", OWN, "--cap-drop", "ALL", *options]
    command = [*map(str, docker.client_config.docker_cmd), "run", *ours, NETWORK_IMAGE, "sh", "-c", script]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    except subprocess.TimeoutExpired:
        raise TandemError(f"no answer within {DEADLINE_S:.0f} s") from None


def measure_network(one: DockerClient, other: DockerClient, address: str) -> Between:
    """One host asks the other at an address of it. Both must have NETWORK_IMAGE. Raises TandemError."""
    begun = _run(other, LISTEN.format(address=address), "--detach")
    if begun.returncode:
        raise TandemError(f"its container does not start: {tail(begun.stderr, 1)}")
    container = begun.stdout.strip()
    deadline = time.monotonic() + LISTENING_S
    try:
        while True:
            asked = _run(one, ASK.format(address=address))
            try:
                return read_network(asked.stdout + asked.stderr)
            except ValueError as error:
                if time.monotonic() > deadline:
                    raise TandemError(f"{address} cannot be asked from there: {error}") from None
    finally:
        with suppress(DockerException):
            other.container.remove(container, force=True)
