"""The laboratory of the program in `file-io/`: one container with new files of its own for each trial."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import cast
from uuid import uuid4

from python_on_whales import DockerClient, DockerException, Image
from python_on_whales.exceptions import NoSuchContainer, NoSuchVolume

from tandem.catalog.catalog import Catalog
from tandem.errors import TandemError
from tandem.hosts import HERE, Host
from tandem.judge import file_io
from tandem.judge.file_io import PROGRAM
from tandem.judge.judge import verdict
from tandem.lab.images import build_image, identity, keep_programs, origins, taken
from tandem.lab.laboratory import Work, refuse_or_clean_up
from tandem.lab.live import View
from tandem.lab.provenance import TANDEM_VERSION, hashes
from tandem.lab.sources import git, has_changes
from tandem.lab.stack import LABEL, engine_versions, tail, to_its_end
from tandem.record.request import Variant
from tandem.record.result import Environment
from tandem.record.trial import Phase, Start, Trial, TrialSpec
from tandem.record.window import Finding, Verdict

IMAGE, DOCKERFILE = "tandem/file-io", "file-io/Dockerfile"
OWN = {LABEL: "files"}
"""Label of its containers and volumes."""
FOLDER = "/data/sample"
DOCUMENT = "asynctest.json"
"""The raw file of a start: what the program said."""


def measures_itself(variants: Iterable[Variant]) -> bool:
    """Whether the variants are of the program that measures itself, which has a laboratory of its own."""
    return any(variant.implementation == PROGRAM for variant in variants)


class FileIoContainer:
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
        """The image, which must have been built."""
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
        """Output and errors of a container."""
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


@dataclass
class FileIoLab:
    """Lab of file-io, called and used as tandem.lab.laboratory.Laboratory is."""

    catalog: Catalog
    results: Path
    view: View
    work: Work
    host: Host = HERE
    make_container: Callable[[Path], FileIoContainer] = FileIoContainer
    environments: dict[str, Environment] = field(init=False, default_factory=dict)
    """One environment, of the program: all rows are the same."""
    phases_s: dict[str, float] = field(init=False, default_factory=dict)
    _container: FileIoContainer = field(init=False)

    @contextmanager
    def up(self) -> Iterator[None]:
        root = self.catalog.root
        refuse_or_clean_up(root, self.results, self.view.note)
        self._container = self.make_container(root)
        self._container.remove_leftovers()
        self.view.phase("build", None)
        self.phases_s["build"] = self._container.build()
        keep_programs(self.work.folder, {IMAGE: identity(self._container.image())})
        images = {PROGRAM: str(self._container.image().id)}
        self.environments[PROGRAM] = Environment(
            tandem_version=TANDEM_VERSION,
            git_commit=git(root, "rev-parse", "HEAD"),
            git_dirty=has_changes(root),
            host=self.host.describe(),
            images=images,
            taken=origins(images),
            versions=engine_versions(),
            settings={},
            variables={},
            hashes=hashes(root),
        )
        yield

    def visit(self, spec: TrialSpec, script: object, folder: Path) -> Trial:
        """Makes new files and counts them once in the way of each variant, in random order. script: has no windows."""
        asked = {
            one.label: file_io.WaySettings.model_validate(one.settings)
            for one in self.work.variants
            if one.label in spec.variants
        }
        case, ways = next(iter(asked.values())).case, [one.way for one in asked.values()]
        trial = Trial(spec=spec, started_at=datetime.now(UTC), verdict=Verdict.FAILED)
        self.view.phase(f"{case.files} files, {case.lines:,} lines, {case.cache}", spec.expected_s)
        began, cpu = time.monotonic(), self.host.read_cpu()
        try:
            text = self._container.run(case.arguments(ways, f"{self.work.request.seed} {spec.block}"))
            (folder / DOCUMENT).write_text(text)
            found = file_io.read(text)
        except (TandemError, OSError) as error:
            trial.findings.append(Finding.of("failed", "invalid", str(error)))
            return trial
        took_s, spent = time.monotonic() - began, self.host.read_cpu().since(cpu)
        for label, one in asked.items():
            counted, findings = file_io.counting(found, case, one.way)
            trial.facts[label] = counted.model_dump(mode="json")
            trial.starts[label] = Start(findings=findings)
        trial.findings = file_io.disturbance(spent.steal_s / spent.total_s)
        trial.verdict = verdict(list(trial.all_findings()))
        measuring_s = found.measuring_s(ways)
        trial.phases = [
            Phase(name="measuring", duration_s=measuring_s),
            Phase(name="making files", duration_s=found.made_s),
            Phase(name="cache, loops, processes", duration_s=found.took_s - found.made_s - measuring_s),
            Phase(name="container", duration_s=took_s - found.took_s),
        ]
        self.environments[PROGRAM].versions |= found.versions
        return trial
