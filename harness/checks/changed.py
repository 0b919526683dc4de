"""Implementations that a change touches, and all images: the matrices of the workflows in .github. Pure but for reading."""

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import yaml

from tandem.catalog.catalog import Catalog
from tandem.lab.images import content
from tandem.lab.sources import git
from tandem.load.generators import GENERATORS

TOUCHES_ALL = ("bootstrap", "compose", "compose.yaml", "contract", "harness", "loadgen")
"""Paths that every implementation is built with, verified by, or run on."""
RECENT_S = 6 * 3600
BESIDES = ("contract/broken", "file-io", "harness", "harness/calibrated")
"""Folders of images that are neither implementations nor services."""


@dataclass(frozen=True)
class PublishedImage:
    """One image that is published. name: as on this machine, without `tandem/`; content: the digest of its sources, which is
    its tag."""

    name: str
    dockerfile: str
    target: str
    content: str


def within(path: str, patterns: list[str]) -> bool:
    """Whether a file is one of these, or below one of these folders."""
    return any(path == one or path.startswith(f"{one}/") or fnmatch(path, one) for one in patterns)


def sources(root: Path, dockerfile: str) -> list[str]:
    """The sources of an image: its Dockerfile, and the paths that its ignore file lets in."""
    lines = (root / f"{dockerfile}.dockerignore").read_text().splitlines()
    return [
        dockerfile,
        f"{dockerfile}.dockerignore",
        *(line[1:].strip("/") for line in lines if line.startswith("!")),
    ]


def touched(catalog: Catalog, paths: list[str]) -> list[str]:
    """The implementations that have to be built and verified again. paths: files that changed."""
    if any(within(path, [*TOUCHES_ALL]) for path in paths):
        return list(catalog.implementations)
    return [
        name
        for name in catalog.implementations
        if any(within(path, [name, *sources(catalog.root, f"{name}/Dockerfile")]) for path in paths)
    ]


def proved(catalog: Catalog, paths: list[str] | None) -> list[str]:
    """The implementations that every run of all tests proves: one that is not sync of each language, and those whose own sources
    changed. A change of what all are run on is proved by these; the weekly run proves all. paths: files that changed; None:
    that is not known, and all are proved."""
    if paths is None:
        return list(catalog.implementations)
    first: dict[str, str] = {}
    for name, found in catalog.implementations.items():
        if found.model != "sync":
            first.setdefault(found.language, name)
            if name == f"{found.language}-async":
                first[found.language] = name
    own = touched(catalog, [path for path in paths if not within(path, [*TOUCHES_ALL, "*.md"])])
    return [name for name in catalog.implementations if name in {*first.values(), *own}]


def recent(root: Path) -> list[str] | None:
    """The files that changed within six hours before the newest commit, however many commits came at once; None where the
    clone does not go back so far."""
    newest = git(root, "log", "-1", "--format=%ct")
    before = git(root, "rev-list", "-1", f"--before={int(newest) - RECENT_S}", "HEAD") if newest else None
    return since(root, before) if before else None


def since(root: Path, commit: str) -> list[str] | None:
    """The files that differ from a commit's; None where that commit is not known, such as before a first push."""
    base = git(root, "merge-base", commit, "HEAD")
    found = git(root, "diff", "--name-only", base, "HEAD") if base else None
    return None if found is None else found.splitlines()


def images(catalog: Catalog) -> list[PublishedImage]:
    """Every image that is run: those of the implementations, of the services, of the self-test, of the harness."""
    root = catalog.root
    services = yaml.safe_load((root / "compose/stack.yaml").read_text())["services"]
    found = [(name, f"{name}/Dockerfile", "") for name in (*catalog.implementations, *BESIDES)]
    for name, service in services.items():
        if name == "app":
            continue
        target = service["build"].get("target", "")
        if "LOADGEN" in target:
            found += [(f"{name}-{one}", service["build"]["dockerfile"], one) for one in (*GENERATORS, "all")]
        else:
            found.append((name, service["build"]["dockerfile"], target))
    return [PublishedImage(name, file, target, content(root, file, target)) for name, file, target in found]
