"""The agent's container on an engine of another host, and the connection of execnet to it.

That stream and all that Docker is asked go through one SSH connection, so they end with it.
"""

import shlex
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTimeError
from contextlib import suppress
from pathlib import Path
from typing import Final

import execnet
from python_on_whales import DockerClient, DockerException

import tandem
from tandem.errors import TandemError
from tandem.hosts.remote import SERVE, Caller

LABEL: Final = "dev.tandem=agent"
SOURCE: Final = Path(tandem.__file__).parent
THERE: Final = "/agent"
START_S: Final = 30.0
BOOTSTRAP: Final = "import sys;exec(eval(sys.stdin.readline()))"
"""execnet's own first line, which reads the rest."""


class AgentContainer:
    """The agent's container on an engine; it ends by itself when nobody is connected to it any more.

    docker: of the engine, at `url`. image: that the engine has. Raises TandemError.
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

    def line(self, name: str) -> Caller:
        """Calls to the agent. name: of the host."""
        return Caller(name, lambda: self._gateway.remote_exec(SERVE))

    def close(self) -> None:
        """Ends the agent; a second time it does nothing."""
        self._group.terminate(timeout=1.0)
        with suppress(DockerException):
            self._docker.container.remove(self.container, force=True, volumes=True)
