"""Published images: taken from a registry where it has one of the same content, so that nothing has to be built."""

import os
import re
import subprocess
import tomllib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath

from python_on_whales import DockerClient, DockerException, Image

from tandem.errors import TandemError, UsageError

FILE = "compose/images.toml"
SWITCH = "TANDEM_IMAGES"
"""`build`, or the folder of a registry, in place of what FILE says."""
CONTENT = "dev.tandem.content"
"""Label of a published image: the digest of what it was made of."""
DIGITS = 20
FOLDER = re.compile(r"[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+")
"""Of a registry: its host, and a path. https://distribution.github.io/distribution/spec/api/#overview"""
DIGEST = re.compile(r"(?m)^Digest: +(sha256:[0-9a-f]{64})$")
OWN = "tandem/"
"""What the names of all images begin with, on this machine."""


def folder(root: Path, environment: Mapping[str, str] = os.environ) -> str | None:
    """The registry's folder that images are taken from; None where all are built. Raises UsageError."""
    file = root / FILE
    named = tomllib.loads(file.read_text())["registry"] if file.is_file() else ""
    said = environment.get(SWITCH) or named
    if said in ("", "build"):
        return None
    if not FOLDER.fullmatch(said):
        raise UsageError(
            f"{SWITCH} or {FILE} must be 'build' or the folder of a registry such as ghcr.io/owner/tandem, not '{said}'"
        )
    return str(said)


# ---- content ----


def context(root: Path, dockerfile: str) -> list[str]:
    """The files that a build is sent, and the Dockerfile, in order. The last pattern of the ignore file that fits a file or
    a folder above it decides: https://docs.docker.com/build/concepts/context/#dockerignore-files"""
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
    return sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()[:DIGITS]


def _line(root: Path, name: str) -> str:
    file = root / name
    if file.is_symlink():
        return f"link to {file.readlink()}  {name}"
    mark = "*" if file.stat().st_mode & 0o100 else " "
    return f"{sha256(file.read_bytes()).hexdigest()} {mark}{name}"


# ---- taking ----


def take(image: str, wanted: str, registry: str) -> str | None:
    """Gives this machine the published image of this content, under its own name, such as tandem/db or tandem/node:TAG.

    Returns where it came from, with the digest; None where the registry has none. The image is fetched by its digest, so the
    engine checks every byte. Raises TandemError where it says of itself that it is made of something else.
    """
    docker = DockerClient()
    if docker.image.exists(image):
        there = docker.image.inspect(image)
        if _content_of(there) == wanted and (known := origin(there)) is not None:
            return known
    place = f"{registry}/{image.removeprefix(OWN).partition(':')[0]}"
    digest = _digest(f"{place}:{wanted}")
    if digest is None:
        return None
    try:
        docker.image.pull(f"{place}@{digest}", quiet=True)
        found = docker.image.inspect(f"{place}@{digest}")
    except DockerException:
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
    found = DIGEST.search(
        done.stdout
    )  # not by --format: Debian's buildx 0.13 prints everything for one of its own
    return found[1] if done.returncode == 0 and found else None


def origin(image: Image) -> str | None:
    """Where an image was taken from, with its digest; None for one that was built here."""
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
    registry = folder(root)
    if registry is None or not (root / f"{dockerfile}.dockerignore").is_file():
        return None
    return take(image, content(root, dockerfile, target, arguments), registry)
