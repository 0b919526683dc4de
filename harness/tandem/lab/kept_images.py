"""Images that outlive the next build: each program that a night measured has a tag of its own, and so has a commit's."""

import io
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from python_on_whales import DockerClient, Image

from tandem.errors import TandemError
from tandem.history.night import FrozenStack, Program, StackImage
from tandem.lab import published
from tandem.lab.programs import identity
from tandem.lab.provenance import git, has_changes
from tandem.lab.single_image import build_image
from tandem.lab.stack import BENCH_PROJECT, KEPT, Stack, build_side_by_side

DIGITS = 12
"""Of a digest, in a tag."""
HASH = re.compile(r"[0-9a-f]{7,40}")
"""Of a commit, or its beginning."""


def reference(implementation: str, tag: str) -> str:
    return f"tandem/{implementation}:{tag}"


def tag_of(image: Image) -> str:
    """What a kept image is called: the first digits of the digest of what it runs."""
    return identity(image)[:DIGITS]


def base_of(image: Image) -> str | None:
    """The digest of its lowest layer, which is that of its base image; None for an image of no layer."""
    return next(iter(image.root_fs.layers or []), None)


def as_here(implementation: str, program: Program) -> Program:
    """A kept image as this machine has it: one that was built again runs something else, under the same tag."""
    image = DockerClient().image.inspect(reference(implementation, program.tag))
    return program.model_copy(update={"tag": tag_of(image), "base": base_of(image)})


def build_today(
    root: Path, implementations: Sequence[str], note: Callable[[str], None]
) -> dict[str, Program]:
    """Builds the implementations' folders and tags what comes out. Raises TandemError for one that does not build."""
    note(f"images: building {', '.join(implementations)}")
    commit = git(root, "rev-parse", "HEAD")
    dirty = bool(has_changes(root))
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        stacks = {
            name: Stack(root, BENCH_PROJECT, {"IMPL": name}, Path(folder, f"{name}.env"))
            for name in implementations
        }
        taken = build_side_by_side(
            {name: (stack, "app") for name, stack in stacks.items()}, lambda name, seconds: None
        )
        for name, origin in sorted(taken.items()):
            note(f"  {name}: not built, taken from {origin}")
        for name, stack in stacks.items():
            image = stack.image("app")
            program = Program(tag=tag_of(image), commit=commit, dirty=dirty, base=base_of(image))
            image.tag(reference(name, program.tag))
            found[name] = program
    return found


def frozen_stack(
    root: Path, known: FrozenStack | None, anew: bool, note: Callable[[str], None]
) -> FrozenStack:
    """The stack that nights run on: each image that was frozen, as long as this machine has it and its sources are those of
    then, and today's, built and kept, for the others. Returns what is known where nothing had to be replaced.

    anew: replace all. Raises TandemError for one that does not build.
    """
    docker = DockerClient()
    with tempfile.TemporaryDirectory() as folder:
        stack = Stack(root, BENCH_PROJECT, {"IMPL": "none"}, Path(folder, "stack.env"))
        wanted = {role: (stack.image_name(role), stack.content(role)) for role in KEPT}
        kept = {
            role: one
            for role, one in (known.images.items() if known is not None and not anew else ())
            if role in wanted
            and one.content == wanted[role][1]
            and docker.image.exists(f"{wanted[role][0]}:{one.tag}")
        }
        missing = [role for role in KEPT if role not in kept]
        if known is not None and not missing:
            return known
        note(f"stack: freezing today's {', '.join(missing)}")
        build_side_by_side({role: (stack, role) for role in missing}, lambda name, seconds: None)
        for role in missing:
            image = stack.image(role)
            kept[role] = StackImage(tag=tag_of(image), content=wanted[role][1], base=base_of(image))
            image.tag(f"{wanted[role][0]}:{kept[role].tag}")
    return FrozenStack(images={role: kept[role] for role in KEPT}, frozen_at=datetime.now(UTC))


def present(implementation: str, tag: str) -> bool:
    """Whether this machine has the image."""
    return DockerClient().image.exists(reference(implementation, tag))


def of_commit(root: Path, implementation: str, tag: str) -> bool:
    """Builds the image of a tag that is the beginning of a commit's hash, from that commit. False where there is no such
    commit: a branch is none, because its image would be another one tomorrow. Raises TandemError if it does not build."""
    commit = (
        git(root, "rev-parse", "--verify", "--quiet", f"{tag}^{{commit}}") if HASH.fullmatch(tag) else None
    )
    if commit is None or not commit.startswith(tag):
        return False
    rebuild(root, implementation, Program(tag=tag, commit=commit), "Compare with a later commit.")
    return True


def on_todays_base(root: Path, implementation: str, program: Program) -> Program:
    """Builds the commit of an image again, on what a build gets today, and keeps the outcome under a tag of its own.

    Raises TandemError where no commit has its sources, this clone does not have that commit, or it does not build.
    """
    new = program.model_copy(update={"tag": f"{program.tag}-again"})
    rebuild(root, implementation, new, "Base and commits cannot be told apart.", taken=False)
    found = as_here(implementation, new)
    docker, built = DockerClient(), reference(implementation, new.tag)
    docker.image.tag(built, reference(implementation, found.tag))
    docker.image.remove(built)  # this name of it alone
    return found


def rebuild(root: Path, implementation: str, program: Program, remedy: str = "", taken: bool = True) -> None:
    """Builds an image that is missing from its commit, or takes the published one of that content, and gives it its tag.
    remedy: for where that cannot be done. taken: whether a published one will do.

    Raises TandemError where no commit has its sources, this clone does not have that commit, or it does not build.
    """
    name = reference(implementation, program.tag)
    remedy = remedy or f"Freeze today's image in its place: just nightly {implementation} --freeze"
    if program.commit is None or program.dirty:
        raise TandemError(f"the image {name} is missing, and no commit has its sources. {remedy}")
    archive = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", str(root), "archive", program.commit],
        capture_output=True,
        check=False,
    )
    if archive.returncode:
        raise TandemError(
            f"the image {name} is missing, and this clone does not have its commit {program.commit}. {remedy}"
        )
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as sources:
            sources.extractall(folder, filter="data")
        dockerfile = f"{implementation}/Dockerfile"
        registry = published.folder(root) if taken else None
        if registry is not None:
            content = published.content(Path(folder), dockerfile)
            if published.take(name, content, registry) is not None:
                return
        try:
            build_image(Path(folder), name, dockerfile, "stack")
        except TandemError as error:
            missing = f"the image {name} is missing and does not build from {program.commit}. {remedy}"
            raise TandemError(f"{missing}\n{error}") from None
