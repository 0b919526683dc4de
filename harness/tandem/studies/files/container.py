"""asynctest in its container: built, run, and removed with its volume whatever happens."""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import cast
from uuid import uuid4

from python_on_whales import DockerClient, DockerException, Image
from python_on_whales.exceptions import NoSuchContainer, NoSuchVolume

from tandem.errors import TandemError
from tandem.lab.images import build_image, taken
from tandem.lab.stack import LABEL, tail, to_its_end

IMAGE, DOCKERFILE = "tandem/file-io", "file-io/Dockerfile"
OWN = {LABEL: "files"}
"""Label of its containers and volumes."""
FOLDER = "/data/sample"


class FilesContainer:
    """The image `tandem/file-io`. tmpfs_options: of a disk in memory in place of a volume, for tests."""

    def __init__(self, root: Path, tmpfs_options: str | None = None) -> None:
        self.root, self.tmpfs_options = root, tmpfs_options
        self.docker = DockerClient()

    def build(self) -> float:
        """Returns the seconds that it took. Raises TandemError with the end of the output."""
        began = time.monotonic()
        if taken(self.root, IMAGE, DOCKERFILE, "", {}) is None:
            build_image(self.root, IMAGE, DOCKERFILE, "files")
        return time.monotonic() - began

    def image(self) -> Image:
        """It must have been built."""
        image: Image = self.docker.image.inspect(IMAGE)
        return image

    def run(self, arguments: Sequence[str]) -> str:
        """Runs asynctest with FOLDER before the arguments; returns what it printed.

        It may use all CPUs. It has no network and no capability. The engine's seccomp filter is off: recent ones
        refuse io_uring, and here the kernel shall decide. Raises TandemError with what it said if it fails.
        """
        name = f"tandem-files-{uuid4().hex[:12]}"
        mounts = [] if self.tmpfs_options else [(name, "/data")]
        try:
            # Interrupted in the midst of either, it would stay: what it returns is what it is known by.
            if mounts:
                to_its_end(partial(self.docker.volume.create, name, labels=OWN))
            create = partial(
                self.docker.container.create,
                IMAGE,
                [FOLDER, *arguments],
                name=name,
                labels=OWN,
                networks=["none"],
                cap_drop=["ALL"],
                security_options=["no-new-privileges", "seccomp=unconfined"],
                volumes=mounts,
                tmpfs=[f"/data:{self.tmpfs_options}"] if self.tmpfs_options else [],
            )
            container = to_its_end(create)
            container.start()
            status = self.docker.container.wait(container)
            printed, said = self._logs(container.id)
        except DockerException as error:
            raise TandemError(f"file-io cannot be run:\n{tail(error.stderr or str(error))}") from None
        finally:
            with suppress(NoSuchContainer):
                self.docker.container.remove(name, force=True, volumes=True)
            with suppress(NoSuchVolume):
                self.docker.volume.remove(name)
        if status != 0:
            raise TandemError(f"asynctest ended with status {status}: {tail(said, 3)}")
        return printed

    def _logs(self, container: str) -> tuple[str, str]:
        """What a container wrote to its output and to its errors."""
        found: dict[str, list[bytes]] = {"stdout": [], "stderr": []}
        lines = self.docker.container.logs(container, stream=True)
        for stream, line in cast("Iterator[tuple[str, bytes]]", lines):
            found[stream].append(line)
        printed, said = (b"".join(found[name]).decode(errors="replace") for name in ("stdout", "stderr"))
        return printed, said

    def remove_leftovers(self) -> None:
        """Removes what a killed run left behind, by its label."""
        label = f"{LABEL}={OWN[LABEL]}"
        for container in self.docker.container.list(all=True, filters=[("label", label)]):
            container.remove(force=True, volumes=True)
        for volume in self.docker.volume.list(filters={"label": label}):
            volume.remove()
