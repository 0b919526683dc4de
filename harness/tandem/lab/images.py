"""Images: built from a folder or taken from a registry, kept under tags of their own, told apart, removed."""

import io
import json
import os
import re
import subprocess
import tarfile
import tempfile
import time
import tomllib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path, PurePosixPath

from python_on_whales import DockerClient, DockerException, Image

from tandem.errors import TandemError, UsageError
from tandem.history.night import FrozenStack, Program, StackImage
from tandem.hosts.docker import FULL_DISK, complaint, with_remedy
from tandem.lab.sources import git, has_changes
from tandem.lab.stack import BENCH_PROJECT, KEPT, LABEL, LOG_TAIL, Stack, tail
from tandem.record.store import write_atomically

BUILT = f"{LABEL}.built"
"""Label of every image that is built here, and of no other."""
CONTENT = f"{LABEL}.content"
"""Label of a published image: the digest of what it was made of."""
CONTENT_DIGITS, TAG_DIGITS = 20, 12
"""Digits of a digest: in a published image's tag and label, and in a kept image's tag."""
OWN = "tandem/"
"""Beginning of the names of all images on this machine."""

# ---- what an image is made of, and what it runs ----


def context(root: Path, dockerfile: str) -> list[str]:
    """The files that a build is sent, and the Dockerfile, in order. The last pattern of the ignore file that fits a
    file or a folder above it decides: https://docs.docker.com/build/concepts/context/#dockerignore-files"""
    lines = [line.strip() for line in (root / f"{dockerfile}.dockerignore").read_text().splitlines()]
    patterns = [line for line in lines if line and not line.startswith("#")]
    found = {dockerfile}
    for pattern in patterns:
        if not pattern.startswith("!"):
            continue
        place = root / pattern[1:]
        files = place.rglob("*") if place.is_dir() else [place]
        names = [file.relative_to(root) for file in files if file.is_symlink() or file.is_file()]
        found |= {name.as_posix() for name in names if not _ignored(PurePosixPath(name), patterns)}
    return sorted(found)


def _ignored(file: PurePosixPath, patterns: list[str]) -> bool:
    ignored = False
    for pattern in patterns:
        wanted = pattern.removeprefix("!").strip("/")
        if any(one.full_match(wanted) for one in (file, *file.parents[:-1])):
            ignored = not pattern.startswith("!")
    return ignored


def content(
    root: Path, dockerfile: str, target: str = "", arguments: Mapping[str, str | None] | None = None
) -> str:
    """The digest of what an image is made of: the files as they are now, committed or not, the target, the arguments.

    harness/run computes the same with sha256sum for the image in which this runs.
    """
    lines = [_line(root, name) for name in context(root, dockerfile)]
    if target:
        lines.append(f"target {target}")
    lines += [f"argument {name}={value}" for name, value in sorted((arguments or {}).items()) if value]
    return sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()[:CONTENT_DIGITS]


def _line(root: Path, name: str) -> str:
    file = root / name
    if file.is_symlink():
        return f"link to {file.readlink()}  {name}"
    mark = "*" if file.stat().st_mode & 0o100 else " "
    return f"{sha256(file.read_bytes()).hexdigest()} {mark}{name}"


def identity(image: Image) -> str:
    """Tells what an image runs from anything else: a digest of its files and of how they are started. Its id would not
    do: Compose labels an image with the project that built it last."""
    config = image.config
    started = [config.entrypoint, config.cmd, config.env, str(config.working_dir), config.user]
    return sha256(json.dumps([image.root_fs.layers, *started]).encode()).hexdigest()


def base_of(image: Image) -> str | None:
    """The digest of its lowest layer, which is that of its base image; None for an image of no layer."""
    return next(iter(image.root_fs.layers or []), None)


# ---- published images ----

REGISTRY_FILE = "compose/images.toml"
SWITCH = "TANDEM_IMAGES"
"""`build`, or the folder of a registry, in place of what REGISTRY_FILE says."""
FOLDER = re.compile(r"[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+")
"""A registry's folder: its host, and a path. https://distribution.github.io/distribution/spec/api/#overview"""
DIGEST = re.compile(r"(?m)^Digest: +(sha256:[0-9a-f]{64})$")


def registry(root: Path, environment: Mapping[str, str] = os.environ) -> str | None:
    """The registry's folder that images are taken from; None where all are built. Raises UsageError."""
    file = root / REGISTRY_FILE
    named = tomllib.loads(file.read_text())["registry"] if file.is_file() else ""
    said = environment.get(SWITCH) or named
    if said in ("", "build"):
        return None
    if not FOLDER.fullmatch(said):
        raise UsageError(
            f"{SWITCH} or {REGISTRY_FILE} must be 'build' or the folder of a registry such as ghcr.io/owner/tandem, not '{said}'"
        )
    return str(said)


def take(image: str, wanted: str, folder: str) -> str | None:
    """Gives this machine the published image of this content, under its own name, such as tandem/db or tandem/node:TAG.

    Returns where it came from, with the digest; None where the registry has none. The image is fetched by its digest, so
    the engine checks every byte. Raises TandemError where it says of itself that it is made of something else, and where the
    disk is full.
    """
    docker = DockerClient()
    if docker.image.exists(image):
        there = docker.image.inspect(image)
        if _content_of(there) == wanted and (known := origin(there)) is not None:
            return known
    place = f"{folder}/{image.removeprefix(OWN).partition(':')[0]}"
    digest = _digest(f"{place}:{wanted}")
    if digest is None:
        return None
    try:
        docker.image.pull(f"{place}@{digest}", quiet=True)
        found = docker.image.inspect(f"{place}@{digest}")
    except DockerException as error:
        if FULL_DISK in (told := complaint(error)):  # a build would need more of it
            raise TandemError(f"{place} cannot be taken: {told}") from None
        return None  # such as an image for another kind of CPU
    made_of = _content_of(found)
    if made_of != wanted:
        docker.image.remove(f"{place}@{digest}")
        raise TandemError(
            f"{place}:{wanted} ({digest}) says that it is made of {made_of or 'nothing known'}, so it is not used."
            f" {SWITCH}=build builds it here."
        )
    found.tag(image)
    return f"{place}@{digest}"


def _content_of(image: Image) -> str | None:
    return (image.config.labels or {}).get(CONTENT)


def _digest(name: str) -> str | None:
    """The digest that a tag of a registry stands for; None where there is no such tag, or no registry."""
    command = ["docker", "buildx", "imagetools", "inspect", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # Not by --format: Debian's buildx 0.13 prints everything for one of its own.
    found = DIGEST.search(done.stdout)
    return found[1] if done.returncode == 0 and found else None


def origin(image: Image) -> str | None:
    """The place that an image was taken from, with its digest; None for one that was built here."""
    if _content_of(image) is None:
        return None
    return next((name for name in image.repo_digests or [] if not name.startswith(OWN)), None)


def origins(images: Mapping[str, str]) -> dict[str, str]:
    """Role -> where its image was taken from, of those that were. images: role -> image id."""
    docker = DockerClient()
    found = {role: origin(docker.image.inspect(name)) for role, name in images.items()}
    return {role: place for role, place in found.items() if place is not None}


def taken(
    root: Path, image: str, dockerfile: str, target: str, arguments: Mapping[str, str | None]
) -> str | None:
    """`take`, if images are taken at all."""
    folder = registry(root)
    if folder is None or not (root / f"{dockerfile}.dockerignore").is_file():
        return None
    return take(image, content(root, dockerfile, target, arguments), folder)


# ---- building ----

TOLD_FROM_S = 5.0
"""Builds that come from the cache are not worth a line."""
STILL_S = 30.0
"""Silence after which it is told what is still being built or taken."""


def build_image(context: Path, image: str, dockerfile: str, built: str, target: str = "") -> None:
    """Builds it on this machine's engine. context: the folder that is sent. built: what its label says it is for.
    target: a stage of the Dockerfile; its last one where it is empty.

    Raises TandemError with the end of the output.
    """
    options = ["--load", "--label", f"{BUILT}={built}", "--tag", image, "--file", str(context / dockerfile)]
    if target:
        options += ["--target", target]
    command = ["docker", "buildx", "build", *options, str(context)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TandemError(f"the image {image} does not build:\n{with_remedy(tail(done.stderr))}")


def content_of(stack: Stack, service: str) -> str:
    """The digest of what a service's image is made of: the sources, not what the build gets from elsewhere."""
    return content(stack.root, *stack.recipe(service))


def build(stack: Stack, service: str) -> str | None:
    """Makes a service's image: takes it from the registry, if one is named and has the same content, else builds it.

    Returns where it was taken from; None if it was built. Raises TandemError with the end of the output.
    """
    if found := taken(stack.root, stack.image_name(service), *stack.recipe(service)):
        return found
    said: deque[str] = deque(maxlen=LOG_TAIL)
    try:
        for _, line in stack.docker.compose.build([service], progress="plain", stream_logs=True) or ():
            said.append(line.decode(errors="replace").rstrip())
    except DockerException:
        what = f"{service} ({stack.variables['IMPL']})" if service == "app" else service
        raise TandemError(f"the image of {what} does not build:\n{with_remedy('\n'.join(said))}") from None
    return None


def build_side_by_side(jobs: dict[str, tuple[Stack, str]], note: Callable[[str], None]) -> None:
    """Builds images at the same time, or takes them from a registry, and tells what is done.

    jobs: name for people -> (stack, service). Raises the TandemError of the first that does not build.
    """
    if not jobs:
        return
    began = time.monotonic()
    place = registry(next(iter(jobs.values()))[0].root)
    doing = "building" if place is None else f"taking from {place}, or building what it lacks:"
    note(f"images: {doing} {', '.join(jobs)} (the first time this takes minutes)")
    with ThreadPoolExecutor(len(jobs)) as pool:
        running = {pool.submit(build, stack, service): name for name, (stack, service) in jobs.items()}
        left = set(running)
        try:
            while left:
                ended, left = wait(left, STILL_S, FIRST_COMPLETED)
                lasted_s = time.monotonic() - began
                for job in ended:
                    place = job.result()
                    if place or lasted_s >= TOLD_FROM_S:
                        note(
                            f"  {running[job]}: {f'taken from {place} in ' if place else ''}{lasted_s:.0f} s"
                        )
                if not ended:
                    note(f"  after {lasted_s:.0f} s still: {', '.join(sorted(running[job] for job in left))}")
        except TandemError:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


# ---- the programs of one folder of measurements ----

PROGRAMS_FILE = "programs.json"


def keep_programs(folder: Path, found: dict[str, str]) -> None:
    """Keeps which programs a folder's measurements are of, or compares with what was kept.

    found: name of an image -> its identity. Raises TandemError for one that is not the one that the folder was
    begun with, or where the file cannot be read.
    """
    file = folder / PROGRAMS_FILE
    try:
        kept: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    except (ValueError, OSError) as error:
        raise TandemError(f"{file} cannot be read: {error}. Start again, without --resume.") from None
    changed = sorted(name for name in found if kept.get(name, found[name]) != found[name])
    if changed:
        raise TandemError(
            f"{folder.name} was started with other programs: {', '.join(changed)} changed since, or was rebuilt"
            " from scratch. One result must not mix two: start again, without --resume, or restore those sources."
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps({**kept, **found}, indent=1, sort_keys=True) + "\n")


# ---- images that outlive the next build: each program that a night measured has a tag, and so has a commit's ----

HASH = re.compile(r"[0-9a-f]{7,40}")
"""Hash of a commit, or its beginning."""


def reference(implementation: str, tag: str) -> str:
    return f"tandem/{implementation}:{tag}"


def tag_of(image: Image) -> str:
    """The tag of a kept image: the first digits of the digest of what it runs."""
    return identity(image)[:TAG_DIGITS]


def as_here(implementation: str, program: Program) -> Program:
    """A kept image as this machine has it: one that was built again runs something else, under the same tag."""
    image = DockerClient().image.inspect(reference(implementation, program.tag))
    return program.model_copy(update={"tag": tag_of(image), "base": base_of(image)})


def keep(implementation: str, program: Program) -> Program:
    """Gives an image of this machine, whatever its tag, the one that says what it runs."""
    found = as_here(implementation, program)
    DockerClient().image.tag(reference(implementation, program.tag), reference(implementation, found.tag))
    return found


def build_today(
    root: Path, implementations: Sequence[str], note: Callable[[str], None]
) -> dict[str, Program]:
    """Builds the implementations' folders and tags what comes out. Raises TandemError for one that does not build."""
    built = Program(tag="latest", commit=git(root, "rev-parse", "HEAD"), dirty=bool(has_changes(root)))
    with tempfile.TemporaryDirectory() as folder:
        stacks = {
            name: Stack(root, BENCH_PROJECT, {"IMPL": name}, Path(folder, f"{name}.env"))
            for name in implementations
        }
        build_side_by_side({name: (stack, "app") for name, stack in stacks.items()}, note)
    return {name: keep(name, built) for name in implementations}


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
        wanted = {role: (stack.image_name(role), content_of(stack, role)) for role in KEPT}
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
        build_side_by_side({role: (stack, role) for role in missing}, note)
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
    found = keep(implementation, new)
    DockerClient().image.remove(reference(implementation, new.tag))  # this name of it alone
    return found


def rebuild(root: Path, implementation: str, program: Program, remedy: str = "", taken: bool = True) -> None:
    """Builds an image that is missing from its commit, or takes the published one of that content, and gives it its tag.
    remedy: for where that cannot be done. taken: whether a published one will do.

    Raises TandemError where no commit has its sources, this clone does not have that commit, or it does not build.
    """
    name = reference(implementation, program.tag)
    remedy = remedy or "Freeze today's image in its place: add --freeze to the command"
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
        place = registry(root) if taken else None
        if place is not None and take(name, content(Path(folder), dockerfile), place) is not None:
            return
        try:
            build_image(Path(folder), name, dockerfile, "stack")
        except TandemError as error:
            missing = f"the image {name} is missing and does not build from {program.commit}. {remedy}"
            raise TandemError(f"{missing}\n{error}") from None


# ---- images of earlier builds: each build that changes something leaves the one before without a tag ----


def untagged() -> list[Image]:
    """Images of this project that no tag leads to. Raises DockerException where the engine does not answer."""
    return DockerClient().image.list(filters=[("dangling", "true"), ("label", BUILT)])


def held(images: list[Image]) -> str:
    """Number and space of images, in words; what several share takes space once."""
    return f"{len(images)} untagged images, up to {sum(image.size for image in images) / 1e9:.1f} GB"


def remove(images: list[Image]) -> int:
    """Removes those that no container uses; returns how many."""
    removed = 0
    for image in images:
        with suppress(DockerException):
            image.remove()
            removed += 1
    return removed
