"""A Docker engine on another host: reached through one SSH connection, given images by content, asked by an agent."""

import itertools
import json
import random
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from python_on_whales import DockerClient, DockerException

from tandem.errors import TandemError
from tandem.hosts.agent_container import LABEL, AgentContainer
from tandem.hosts.docker import complaint, docker_client
from tandem.hosts.remote import Remote
from tandem.hosts.ssh import Connection

SOCKET: Final = "/var/run/docker.sock"
OLDEST: Final = (20, 10)
"""The oldest engine that will do: the first with `--cgroupns`, which the agent needs."""
COPY_S: Final = 1800
ADDRESSES: Final = 256 * 254
LOOPBACK: Final = "127.84.{}.{}"
"""Addresses of forwarded services on this machine: one for each service, so that each keeps its port."""


def version(told: str) -> tuple[int, ...]:
    """The first two numbers of an engine's version, such as 20.10.24+dfsg1. Raises ValueError for anything else."""
    return tuple(int(part) for part in told.split(".")[:2])


def content(docker: DockerClient, image: str) -> str | None:
    """The content of an image, alike in every store; None where the engine has no such image. An id is not enough: an engine with
    containerd's store makes another of the same image."""
    try:
        if not docker.image.exists(image):
            return None
        found = docker.image.inspect(image)
    except DockerException:
        return None
    layers, begins = found.root_fs.layers, found.config
    settings = [begins.env, begins.cmd, begins.entrypoint, begins.user, str(begins.working_dir)]
    return json.dumps([found.architecture, layers, settings])


class Engine:
    """A reached engine. `close` ends whatever it has; without it, the end of its SSH connection does.

    Raises TandemError where it cannot be reached, is too old, or is measured on by somebody else.
    """

    _addresses = itertools.count(random.randrange(ADDRESSES))
    """A random start: another command may have forwards of its own."""

    def __init__(
        self, name: str, destination: str, port: int | None = None, address: str | None = None
    ) -> None:
        """name: of the host, for people. destination, port: as ssh takes them. address: on the measured network."""
        self.name, self.address = name, address
        self.connection = Connection(destination, port)
        self._agent: AgentContainer | None = None
        self._host: Remote | None = None
        self._forwarded: dict[str, tuple[str, set[int]]] = {}
        try:
            here = self.connection.folder / "docker"
            self.connection.forward(str(here), SOCKET)
            self.url = f"unix://{here}"
            self.docker = docker_client(self.url)
            self._look()
        except BaseException:
            self.close()
            raise

    def _look(self) -> None:
        try:
            told = self.docker.version().server
        except DockerException as error:
            raise TandemError(
                f"host {self.name}: its Docker engine does not answer: {complaint(error).splitlines()[-1]}."
                " Is it running, and is the user in its group 'docker'?"
            ) from None
        self.version = (told.version if told else None) or "0.0"
        if version(self.version) < OLDEST:
            raise TandemError(
                f"host {self.name}: its Docker engine {self.version} is too old: {'.'.join(map(str, OLDEST))} or newer is needed"
            )

    @property
    def agents(self) -> list[str]:
        """Names of the agents' containers on it."""
        found = self.docker.container.list(all=True, filters=[("label", LABEL)])
        return [container.name for container in found]

    def expect_free(self) -> None:
        """Raises TandemError where somebody measures on it: copying images would disturb that."""
        if others := self.agents:
            raise TandemError(
                f"host {self.name}: another measurement is running on it (container {others[0]}): wait for it, or stop it with"
                " just down --lab"
            )

    def start_agent(self, image: str) -> Remote:
        """Begins to read its machine. image: the agent's, which the engine must have. Raises TandemError."""
        self.expect_free()
        self._agent = AgentContainer(self.name, self.docker, self.url, image)
        self._host = Remote(self._agent.line(self.name))
        return self._host

    @property
    def host(self) -> Remote:
        """Its machine, once `start_agent` was called."""
        assert self._host is not None
        return self._host

    def send(self, image: str) -> bool:
        """Gives it an image of this machine's engine, unless it has one of the same name and content. Returns whether it had to
        be copied. Raises TandemError."""
        wanted = content(DockerClient(), image)
        if wanted is None:
            raise TandemError(f"there is no image {image} to send to host {self.name}")
        if content(self.docker, image) == wanted:
            return False
        self._copy(image)
        if content(self.docker, image) != wanted:
            raise TandemError(
                f"host {self.name}: the image {image} did not arrive complete, or its CPU has another architecture"
            )
        return True

    def _copy(self, image: str) -> None:
        saving = subprocess.Popen(
            ["docker", "save", image], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        try:
            done = subprocess.run(
                ["docker", "-H", self.url, "load", "-q"],
                stdin=saving.stdout,
                capture_output=True,
                text=True,
                timeout=COPY_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TandemError(f"host {self.name}: copying {image} took longer than {COPY_S} s") from None
        finally:
            saving.kill()
            saving.wait()
            assert saving.stdout is not None
            saving.stdout.close()
        if done.returncode:
            raise TandemError(
                f"host {self.name}: {image} cannot be copied to it: {done.stderr.strip()[-300:]}"
            )

    def reach(self, address: str, ports: Sequence[int]) -> str:
        """The address at which this machine reaches a service of that host: one of the loopback interface, with the same ports.
        address: as that host knows it, which it stays where there are no ports. Raises TandemError."""
        if not ports:
            return address
        if address in self._forwarded:
            here, known = self._forwarded[address]
        else:
            number = next(Engine._addresses)
            high, low = divmod(number % ADDRESSES, 254)
            here, known = LOOPBACK.format(high, low + 1), set()
            self._forwarded[address] = (here, known)
        for port in ports:
            if port not in known:
                self.connection.forward(f"{here}:{port}", f"{address}:{port}")
                known.add(port)
        return here

    def close(self) -> None:
        """Ends whatever it has; a second time it does nothing."""
        with suppress(DockerException, OSError):
            if self._agent is not None:
                self._agent.close()
        with suppress(DockerException, OSError):
            self.connection.close()


def remove_agents(engine: Engine) -> list[str]:
    """Ends whatever agents there are on it, whoever started them; returns their names."""
    names = engine.agents
    if names:
        engine.docker.container.remove(names, force=True, volumes=True)
    return names
