"""What differs between two implementations that are compared: read from their sources, so that it cannot be said otherwise."""

import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
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
REQUIREMENT = re.compile(r"([A-Za-z0-9_.-]+)(.*)")


@dataclass(frozen=True)
class Difference:
    """One file of a pair. Lines that are empty do not count; the implementation's own name is no difference."""

    file: str
    both: int
    one: int
    other: int


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


def differences(root: Path, one: str, other: str) -> list[Difference]:
    """Every file of either, the most different first."""
    left, right = sources(root / one), sources(root / other)
    found = []
    for file in left.keys() | right.keys():
        a, b = left.get(file, []), right.get(file, [])
        both = sum(block.size for block in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks())
        found.append(Difference(file, both, len(a) - both, len(b) - both))
    return sorted(found, key=lambda file: (-file.one - file.other, file.file))


def dependencies(folder: Path) -> dict[str, str]:
    """What its manifest asks for by name, with the version; empty for a language whose manifest is not read here."""
    cargo, python = folder / "Cargo.toml", folder / "pyproject.toml"
    if cargo.is_file():
        asked = tomllib.loads(cargo.read_text()).get("dependencies", {})
        return {name: _version(wanted) for name, wanted in asked.items()}
    if python.is_file():
        texts = tomllib.loads(python.read_text()).get("project", {}).get("dependencies", [])
        matches = [match for text in texts if (match := REQUIREMENT.fullmatch(text))]
        return {match[1]: match[2].strip() for match in matches}
    return {}


def _version(wanted: object) -> str:
    if not isinstance(wanted, dict):
        return str(wanted)
    features = wanted.get("features", [])
    return " ".join([str(wanted.get("version", wanted.get("path", ""))), *(f"+{name}" for name in features)])


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


def _declared(root: Path, pair: tuple[Implementation, Implementation]) -> Iterator[tuple[str, str, str]]:
    """What bench.toml and the manifests say, where the two say something else."""

    def rows(one: Implementation) -> dict[str, str]:
        no = one.unsupported
        return {
            "stack": ", ".join(one.stack),
            "`/pool` reports the wait": "yes" if one.pool_tells else "no",
            **{f"default of `{name}`": value for name, value in one.defaults.items()},
            **{f"further values of `{name}`": ", ".join(more) for name, more in one.further_values.items()},
            **{f"setting `{name}`": f"no: {reason}" for name, reason in no.settings.items()},
            **{f"scenario `{name}`": f"no: {reason}" for name, reason in no.scenarios.items()},
            **{f"check `{name}`": f"fails: {reason}" for name, reason in no.checks.items()},
            **{f"library `{name}`": version for name, version in dependencies(root / one.name).items()},
        }

    left, right = map(rows, pair)
    for what in dict.fromkeys([*left, *right]):
        if left.get(what) != right.get(what):
            yield what, left.get(what, "–"), right.get(what, "–")


def section(root: Path, one: str, other: str) -> str:
    """One pair: a sentence, what is declared, and the files."""
    pair = (_described(root, one), _described(root, other))
    files = differences(root, one, other)
    both, left, right = (sum(getattr(file, which) for file in files) for which in ("both", "one", "other"))
    common = _common(root, pair)
    shared = sum(map(len, sources(root / common).values())) if common else 0
    more = f", and {shared:,} lines of `{common}`" if common else ""
    told = f"In both: {both:,} lines{more}. Only in `{one}`: {left:,}. Only in `{other}`: {right:,}."
    same = [f"`{file.file}`" for file in files if not file.one + file.other]
    parts = [f"### {pair[0].title} and {pair[1].title}", told, table(["", one, other], _declared(root, pair))]
    rows = [
        (f"`{file.file}`", f"{file.both:,}", f"{file.one:,}", f"{file.other:,}")
        for file in files
        if file.one + file.other
    ]
    parts.append(table(["file, lines", "both>", f"only {one}>", f"only {other}>"], rows))
    return "\n\n".join([*parts, *([f"The same in both: {', '.join(same)}."] if same else [])])


def all_pairs(records: Records) -> str:
    """Every pair of the list."""
    return "\n\n".join(section(records.root, one, other) for one, other in PAIRS)
