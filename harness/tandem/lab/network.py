"""Measures the network between two hosts of a lab, from containers on them: round trips by sockperf, bandwidth by
iperf3."""

import json
import re
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from python_on_whales import DockerClient, DockerException

from tandem.errors import TandemError
from tandem.judge.fitness import Between
from tandem.lab.images import build_image, taken
from tandem.lab.stack import LABEL, tail

IMAGE, DOCKERFILE = "tandem/network", "harness/network/Dockerfile"
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


def read(printed: str) -> Between:
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


def build(root: Path) -> None:
    """The image, on this machine's engine. Raises TandemError with the end of the output."""
    if taken(root, IMAGE, DOCKERFILE, "", {}) is None:
        build_image(root, IMAGE, DOCKERFILE, "network")


def _start(docker: DockerClient, script: str, *options: str) -> list[str]:
    """The command that starts one container on the host's own network, so that what lies between is the network alone."""
    ours = ["--rm", "--network", "host", "--label", OWN, "--cap-drop", "ALL", *options]
    return [*map(str, docker.client_config.docker_cmd), "run", *ours, IMAGE, "sh", "-c", script]


def _ran(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Raises TandemError where it does not end in time."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    except subprocess.TimeoutExpired:
        raise TandemError(f"no answer within {DEADLINE_S:.0f} s") from None


def measure(one: DockerClient, other: DockerClient, address: str) -> Between:
    """One host asks the other at an address of it. Both must have IMAGE. Raises TandemError."""
    begun = _ran(_start(other, LISTEN.format(address=address), "--detach"))
    if begun.returncode:
        raise TandemError(f"its container does not start: {tail(begun.stderr, 1)}")
    container = begun.stdout.strip()
    deadline = time.monotonic() + LISTENING_S
    try:
        while True:
            asked = _ran(_start(one, ASK.format(address=address)))
            try:
                return read(asked.stdout + asked.stderr)
            except ValueError as error:
                if time.monotonic() > deadline:
                    raise TandemError(f"{address} cannot be asked from there: {error}") from None
    finally:
        with suppress(DockerException):
            other.container.remove(container, force=True)
