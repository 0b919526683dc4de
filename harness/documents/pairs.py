"""What differs between two implementations that are compared: read from what they declare, so that it cannot be said otherwise."""

import re
import tomllib
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
NAME = re.compile(r"[A-Za-z0-9_.-]+")


def dependencies(folder: Path) -> set[str]:
    """Names of the libraries in its manifest; empty for a language whose manifest is not read here."""
    cargo, python = folder / "Cargo.toml", folder / "pyproject.toml"
    if cargo.is_file():
        return {*tomllib.loads(cargo.read_text()).get("dependencies", {})}
    if python.is_file():
        asked = tomllib.loads(python.read_text()).get("project", {}).get("dependencies", [])
        return {match[0] for text in asked if (match := NAME.match(text))}
    return set()


def _declared(root: Path, one: Implementation) -> dict[str, set[str]]:
    """What bench.toml and the manifest say, by kind. The reasons are in bench.toml."""
    return {
        "stack": {*one.stack},
        "defaults": {f"`{name}={value}`" for name, value in one.defaults.items()},
        "further values": {f"`{name} {', '.join(values)}`" for name, values in one.further_values.items()},
        "settings that it lacks": {f"`{name}`" for name in one.unsupported.settings},
        "scenarios that it lacks": {f"`{name}`" for name in one.unsupported.scenarios},
        "checks that it fails": {f"`{name}`" for name in one.unsupported.checks},
        "libraries": {f"`{name}`" for name in dependencies(root / one.name)},
        "pool": {"reports the wait"} if one.pool_tells else set(),
    }


def row(root: Path, one: str, other: str) -> tuple[str, str, str]:
    """One pair: what only the one declares, and what only the other."""
    known = Catalog(root).implementations
    if missing := [name for name in (one, other) if name not in known]:
        raise UsageError(
            f"the list of pairs in documents/pairs.py names '{missing[0]}', which has no bench.toml"
        )
    first, second = (_declared(root, known[name]) for name in (one, other))

    def only(own: dict[str, set[str]], others: dict[str, set[str]]) -> str:
        parts = ((kind, ", ".join(sorted(own[kind] - others[kind]))) for kind in own)
        return "; ".join(f"{kind}: {names}" for kind, names in parts if names) or "–"

    return f"`{one}`, `{other}`", only(first, second), only(second, first)


def all_pairs(records: Records) -> str:
    """Every pair of the list."""
    heads = ("pair", "only the first", "only the second")
    return table(heads, [row(records.root, one, other) for one, other in PAIRS])
