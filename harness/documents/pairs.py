"""What differs between two implementations that are compared: read from their sources, so that it cannot be said otherwise."""

import os
import re
import tomllib
from difflib import SequenceMatcher
from pathlib import Path

from documents.records import Records
from tandem.catalog.catalog import Catalog, Implementation
from tandem.errors import UsageError
from tandem.report.markdown import table

PAIRS = (
    ("cpp-sync", "cpp-async"),
    ("rust-sync", "rust-async"),
    ("falcon-sync", "falcon-async"),
    ("python-sync", "python-async"),
    ("python-async", "starlette-psycopg"),
    ("starlette-psycopg", "starlette-threads"),
    ("python-sync", "django-async"),
    ("starlette-threads", "django-async"),
)
"""The baseline first, as in a comparison. Another pair is another line."""
COMMON = "common"
"""Folder of what the implementations of a language share: common/<language>."""
NOT_SOURCES = {"README.md", "bench.toml", "uv.lock", "Cargo.lock", "package-lock.json"}
"""Prose, what the first table shows, and what tools write."""
BUILT = {"target", "node_modules", "dist", "build", "__pycache__"}
NAME = re.compile(r"[A-Za-z0-9_.-]+")


def _files(folder: Path) -> dict[str, Path]:
    """Its source files by their path within it."""
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [part for part in folders if part not in BUILT and not part.startswith(".")]
        for file in sorted({*files} - NOT_SOURCES):
            found[Path(place, file).relative_to(folder).as_posix()] = Path(place, file)
    return found


def _borrowed(folder: Path) -> dict[str, Path]:
    """The files of other implementations that its Dockerfile lays below its own, by their path within its image's folder."""
    root, found = folder.parent, dict[str, Path]()
    dockerfile = folder / "Dockerfile"
    for line in dockerfile.read_text().splitlines() if dockerfile.is_file() else ():
        name, *words = line.split() or [""]
        if name != "COPY" or words[0].startswith("--"):
            continue
        *copied, to = words
        for source in map(Path, copied):
            if source.parts[0] == folder.name or not (root / source.parts[0] / "bench.toml").is_file():
                continue
            if (root / source).is_dir():
                found |= {(Path(to) / file).as_posix(): path for file, path in _files(root / source).items()}
            else:
                found[(Path(to) / source.name).as_posix()] = root / source
    return found


def sources(folder: Path) -> dict[str, list[str]]:
    """What it is made of by the path within the folder, as lines without the empty ones: a bridge's own files lie over others'."""
    found = {}
    for file, path in {**_borrowed(folder), **_files(folder)}.items():
        try:
            text = path.read_text()
        except UnicodeDecodeError:  # no text, so it has no lines
            continue
        name = path.relative_to(folder.parent).parts[0]
        own = "|".join(map(re.escape, (name, name.replace("-", "_"))))
        lines = [line.rstrip() for line in re.sub(own, "NAME", text).splitlines()]
        found[file] = [line for line in lines if line]
    return found


def lines(root: Path, one: str, other: str) -> tuple[int, int, int]:
    """Lines that both have, that only the one has, that only the other has. Empty lines do not count; a program's own name is no
    difference."""
    left, right = sources(root / one), sources(root / other)
    both = 0
    for file in left.keys() & right.keys():
        blocks = SequenceMatcher(None, left[file], right[file], autojunk=False).get_matching_blocks()
        both += sum(block.size for block in blocks)
    only, other_only = (sum(map(len, each.values())) - both for each in (left, right))
    return both, only, other_only


def dependencies(folder: Path) -> set[str]:
    """Names of the libraries in its manifest; empty for a language whose manifest is not read here."""
    cargo, python = folder / "Cargo.toml", folder / "pyproject.toml"
    if cargo.is_file():
        return {*tomllib.loads(cargo.read_text()).get("dependencies", {})}
    if python.is_file():
        asked = tomllib.loads(python.read_text()).get("project", {}).get("dependencies", [])
        return {match[0] for text in asked if (match := NAME.match(text))}
    return set()


def _common(root: Path, pair: tuple[Implementation, Implementation]) -> str | None:
    """The folder of shared code that both are built with, if there is one."""
    folder = f"{COMMON}/{pair[0].language}"
    dockerfiles = [root / one.name / "Dockerfile" for one in pair]
    used = all(file.is_file() and folder in file.read_text() for file in dockerfiles)
    return folder if (root / folder).is_dir() and used else None


def _described(root: Path, name: str) -> Implementation:
    catalog = Catalog(root)
    if name not in catalog.implementations:
        raise UsageError(f"the list of pairs in documents/pairs.py names '{name}', which has no bench.toml")
    return catalog.implementations[name]


def _declared(root: Path, one: Implementation) -> dict[str, set[str]]:
    """What bench.toml and the manifest say, by kind. The reasons are in bench.toml."""
    further = [f"{name} {', '.join(values)}" for name, values in one.further_values.items()]
    return {
        "stack": {*one.stack},
        "defaults": {f"`{name}={value}`" for name, value in one.defaults.items()},
        "further values": {f"`{text}`" for text in further},
        "settings that it lacks": {f"`{name}`" for name in one.unsupported.settings},
        "scenarios that it lacks": {f"`{name}`" for name in one.unsupported.scenarios},
        "checks that it fails": {f"`{name}`" for name in one.unsupported.checks},
        "libraries": {f"`{name}`" for name in dependencies(root / one.name)},
        "pool": {"reports the wait"} if one.pool_tells else set(),
    }


def row(root: Path, one: str, other: str) -> tuple[str, ...]:
    """One pair: how many lines differ, and what is declared of only one of the two."""
    pair = (_described(root, one), _described(root, other))
    both, *only = lines(root, one, other)
    common = _common(root, pair)
    shared = f" and {sum(map(len, sources(root / common).values())):,} of `{common}`" if common else ""
    first, second = (_declared(root, each) for each in pair)

    def told(own: dict[str, set[str]], others: dict[str, set[str]]) -> str:
        parts = ((kind, ", ".join(sorted(own[kind] - others[kind]))) for kind in own)
        return "; ".join(f"{kind}: {names}" for kind, names in parts if names)

    return (
        f"`{one}`, `{other}`",
        f"{both:,}{shared}",
        f"{only[0]:,} lines; {told(first, second)}",
        f"{only[1]:,} lines; {told(second, first)}",
    )


def all_pairs(records: Records) -> str:
    """Every pair of the list."""
    heads = ("pair", "lines in both", "only the first", "only the second")
    return table(heads, [row(records.root, one, other) for one, other in PAIRS])
