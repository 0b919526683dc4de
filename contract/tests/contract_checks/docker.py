"""The docker command line, with errors that show the command and its output."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

PAUSE_LIMIT_S = 2.0


class DockerFailed(Exception):
    """A docker command ended with an error; the message holds all of its output."""


def docker(*arguments: str, environment: Mapping[str, str] = {}, timeout_s: float = 900) -> str:
    """Runs `docker <arguments>` with more environment; returns standard output, or raises DockerFailed or TimeoutExpired."""
    return _run(*arguments, environment=environment, timeout_s=timeout_s).stdout


def _run(
    *arguments: str, environment: Mapping[str, str] = {}, timeout_s: float = 900
) -> subprocess.CompletedProcess[str]:
    command, own = ["docker", *arguments], {**os.environ, **environment}
    done = subprocess.run(
        command, env=own, capture_output=True, text=True, errors="replace", timeout=timeout_s
    )
    if done.returncode:
        told = f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}{done.stderr}"
        raise DockerFailed(told)
    return done


def pause(container: str) -> None:
    """Nothing in it runs any more. Docker gives up soon where many processes are about to be stopped, so it is asked more
    than once."""

    def paused() -> bool:
        with suppress(DockerFailed):
            docker("pause", container)
        return bool(inspect(container)["State"]["Paused"])

    assert wait_until(paused, PAUSE_LIMIT_S, 0.2), f"{container} cannot be paused"


def inspect(name: str) -> dict[str, Any]:
    """What the engine knows of one container, network or volume."""
    found: list[dict[str, Any]] = json.loads(docker("inspect", name))
    return found[0]


def address(container: str) -> str:
    """An address of the container: HAProxy listens on the network `edge` alone, everything else on all that it is in."""
    networks = inspect(container)["NetworkSettings"]["Networks"]
    found = str(min(networks.items(), key=lambda one: not one[0].endswith("_edge"))[1]["IPAddress"])
    assert found, f"{container} does not run; the end of its log:\n{end_of_log(container)}"
    return found


def output(container: str, since_s: float = 0) -> tuple[str, str]:
    """What the container wrote, from a time of the wall clock on: standard output and standard error."""
    done = _run("logs", "--since", f"{since_s:.3f}", container)
    return done.stdout, done.stderr


def end_of_log(container: str, lines: int = 30) -> str:
    """The end of both streams, for a message."""
    return "\n".join("".join(output(container)).splitlines()[-lines:])


def wait_until(true: Callable[[], bool], limit_s: float, pause_s: float = 0.05) -> bool:
    """Asks until it is true or the time is over; returns the last answer."""
    end = time.monotonic() + limit_s
    while not (answer := true()) and time.monotonic() < end:
        time.sleep(pause_s)
    return answer
