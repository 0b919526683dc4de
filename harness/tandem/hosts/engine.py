"""A Docker engine on another host: reached through one SSH connection, given images by content, asked by an agent
in a container. What execnet and Docker say goes through that connection, so it ends with it."""

import itertools
import json
import random
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTimeError
from contextlib import suppress
from pathlib import Path
from typing import Final

import execnet
from python_on_whales import DockerClient, DockerException

import tandem
from tandem.errors import TandemError
from tandem.hosts.docker import complaint, docker_client
from tandem.hosts.remote import SERVE, Caller, Remote
from tandem.hosts.ssh import Connection

LABEL: Final = "dev.tandem=agent"
SOURCE: Final = Path(tandem.__file__).parent
THERE: Final = "/agent"
START_S: Final = 30.0
BOOTSTRAP: Final = "import sys;exec(eval(sys.stdin.readline()))"
"""execnet's own first line, which reads the rest."""


class AgentContainer:
    """The agent's container on an engine; it ends by itself when nobody is connected to it any more.

    name: of the host. docker: of the engine, at `url`. image: that the engine has. Raises TandemError.
    """

    def __init__(self, name: str, docker: DockerClient, url: str, image: str) -> None:
        self._docker, self._group = docker, execnet.Group()
        try:
            self.container = docker.container.create(
                image,
                ["-u", "-c", BOOTSTRAP],
                entrypoint="python3",
                interactive=True,
                remove=True,
                pid="host",
                cgroupns="host",
                networks=["host"],
                cap_add=["SYS_NICE", "NET_RAW"],
                volumes=[("/sys/fs/cgroup", "/sys/fs/cgroup", "ro")],
                labels=dict([LABEL.split("=")]),
                envs={"PYTHONPATH": THERE, "PYTHONDONTWRITEBYTECODE": "1"},
            )
            try:
                self._begin(name, url)
            except BaseException:
                self.close()
                raise
        except DockerException as error:
            raise TandemError(
                f"host {name}: its agent does not start: {(error.stderr or str(error)).strip()}"
            ) from None

    def _begin(self, name: str, url: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(
                SOURCE / "hosts", Path(folder) / "tandem/hosts", ignore=shutil.ignore_patterns("__pycache__")
            )
            shutil.copy(SOURCE / "__init__.py", Path(folder) / "tandem")
            self._docker.container.copy(folder, (self.container, THERE))
        spec = execnet.XSpec("popen//execmodel=thread")
        said = self._said = tempfile.NamedTemporaryFile("r", prefix="agent-")  # noqa: SIM115
        """Docker's complaints, in a file that ends with this object."""
        attached = shlex.join(["docker", "-H", url, "start", "-ai", self.container.id])
        # What execnet appends is for a Python; what Docker says when the container is removed is for nobody. Ctrl-C is the
        # harness's alone: in a session of its own the attached Docker does not get it.
        spec.python = shlex.join(["sh", "-c", f"exec setsid {attached} 2>{shlex.quote(said.name)}", "agent"])
        with ThreadPoolExecutor(1) as waiting:
            begun = waiting.submit(self._group.makegateway, spec)
            try:
                self._gateway = begun.result(START_S)
            except (NotInTimeError, execnet.HostNotFound, EOFError, OSError):
                self.close()  # ends the container, and with it the wait
                why = said.read().strip()[-300:] or f"nothing within {START_S:.0f} s"
                raise TandemError(f"host {name}: its agent does not answer: {why}") from None
        self.line = Caller(name, lambda: self._gateway.remote_exec(SERVE))
        """Calls to the agent."""

    def close(self) -> None:
        """Ends the agent; a second time it does nothing."""
        self._group.terminate(timeout=1.0)
        with suppress(DockerException):
            self._docker.container.remove(self.container, force=True, volumes=True)


SOCKET: Final = "/var/run/docker.sock"
OLDEST: Final = (20, 10)
"""The oldest engine that will do: the first with `--cgroupns`, which the agent needs."""
COPY_S: Final = 1800
ADDRESSES: Final = 256 * 254
LOOPBACK: Final = "127.84.{}.{}"
"""Addresses of forwarded services on this machine: one for each service, so that each keeps its port."""


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
    host: Remote
    """The engine's machine, once `start_agent` was called."""

    def __init__(
        self, name: str, destination: str, port: int | None = None, address: str | None = None
    ) -> None:
        """name: of the host, for people. destination, port: as ssh takes them. address: on the measured network."""
        self.name, self.address = name, address
        self.connection = Connection(destination, port)
        self._agent: AgentContainer | None = None
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
        if tuple(int(part) for part in self.version.split(".")[:2]) < OLDEST:  # such as 20.10.24+dfsg1
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
        self.host = Remote(self._agent.line)
        return self.host

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
        save, load = ["docker", "save", image], ["docker", "-H", self.url, "load", "-q"]
        with subprocess.Popen(save, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as saving:
            try:
                done = subprocess.run(
                    load, stdin=saving.stdout, capture_output=True, text=True, timeout=COPY_S, check=False
                )
            except subprocess.TimeoutExpired:
                raise TandemError(f"host {self.name}: copying {image} took longer than {COPY_S} s") from None
            finally:
                saving.kill()
        if done.returncode:
            raise TandemError(
                f"host {self.name}: {image} cannot be copied to it: {done.stderr.strip()[-300:]}"
            )

    def reach(self, address: str, ports: Sequence[int]) -> str:
        """The address at which this machine reaches a service of that host: one of the loopback interface, with the same ports.
        address: as that host knows it, which it stays where there are no ports. Raises TandemError."""
        if not ports:
            return address
        if address not in self._forwarded:
            high, low = divmod(next(Engine._addresses) % ADDRESSES, 254)
            self._forwarded[address] = LOOPBACK.format(high, low + 1), set()
        here, known = self._forwarded[address]
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
