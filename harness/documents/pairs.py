"""What differs between two implementations that are compared: read from what they declare, so that it cannot be said otherwise."""

from checks.code_lines import LIMITS, counted
from documents.records import Records
from tandem.catalog.catalog import Catalog, Implementation
from tandem.report.markdown import table

PAIRS = (
    ("cpp-sync", "cpp-async"),
    ("rust-sync", "rust-async"),
    ("falcon-sync", "falcon-async"),
    ("falcon-async", "falcon-asyncpg"),
    ("python-sync", "python-async"),
    ("python-async", "starlette-psycopg"),
    ("starlette-psycopg", "starlette-threads"),
    ("python-sync", "django-async"),
    ("starlette-threads", "django-async"),
    ("python-async", "fastapi"),
    ("fastapi-threads", "fastapi"),
    ("python-sync", "django-orm"),
    ("django-orm", "django-orm-async"),
)
"""The baseline first, as in a comparison. Another pair is another line."""


def _declared(one: Implementation) -> dict[str, set[str]]:
    """What bench.toml says, by kind. The reasons are there."""
    return {
        "stack": {*one.stack},
        "defaults": {f"`{name}={value}`" for name, value in one.defaults.items()},
        "further values": {f"`{name} {', '.join(values)}`" for name, values in one.further_values.items()},
        "settings of its own": {f"`{name}`" for name in one.settings},
        "statements of its own": {f"`{name}`" for name in one.statements},
        "settings that it lacks": {f"`{name}`" for name in one.unsupported.settings},
        "scenarios that it lacks": {f"`{name}`" for name in one.unsupported.scenarios},
    }


def row(catalog: Catalog, one: str, other: str) -> tuple[str, str, str]:
    """One pair: what only the one declares, and what only the other. Raises KeyError for one that has no bench.toml."""
    first, second = (_declared(catalog.implementations[name]) for name in (one, other))

    def only(own: dict[str, set[str]], others: dict[str, set[str]]) -> str:
        parts = ((kind, ", ".join(sorted(own[kind] - others[kind]))) for kind in own)
        return "; ".join(f"{kind}: {names}" for kind, names in parts if names) or "–"

    return f"`{one}`, `{other}`", only(first, second), only(second, first)


def all_pairs(records: Records) -> str:
    """Every pair of the list."""
    rows = [row(records.catalog(), one, other) for one, other in PAIRS]
    return table(("pair", "only the first", "only the second"), rows)


def code_lines(records: Records) -> str:
    """The lines of code of the programs that have a limit."""
    heads = ("program", "lines of code>", "aim>")
    sizes = counted(records.root).items()
    return table(heads, [(f"`{name}`", f"{size:,}", f"{LIMITS[name]:,}") for name, size in sizes])
