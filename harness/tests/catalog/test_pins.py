"""tandem.catalog.pins: what the lock files of this repository pin, and what has moved since."""

from pathlib import Path

import pytest

from tandem.catalog.catalog import Catalog
from tandem.catalog.pins import moved, pins_of

DEPENDS = {
    "falcon-sync": {"falcon", "granian", "psycopg"},
    "rust-async": {"axum", "tokio", "tokio-postgres"},
    "node": {"fastify", "pg"},
    "go": {"github.com/jackc/pgx/v5"},
    "fastapi-threads": {"fastapi", "sqlalchemy", "psycopg"},
    "java-virtual": {"postgresql", "HikariCP"},
    "cpp-sync": set(),
}


@pytest.mark.parametrize("name", DEPENDS)
def test_what_an_implementation_names_is_pinned(root: Path, name: str) -> None:
    found = pins_of(root, name)
    assert DEPENDS[name] <= found.keys()
    assert not {"common", "shared", "pytest", "golang.org/x/text"} & found.keys()


def test_every_version_is_one(real: Catalog) -> None:
    for name in real.implementations:
        assert all(version[:1].isdigit() for version in pins_of(real.root, name).values()), name


def test_a_crate_of_several_versions(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/Cargo.lock").write_text(
        '[[package]]\nname = "a"\nversion = "0"\ndependencies = ["rand 0.9.1"]\n'
        + '[[package]]\nname = "rand"\nversion = "0.8.5"\n[[package]]\nname = "rand"\nversion = "0.9.1"\n'
    )
    assert pins_of(tmp_path, "a") == {"rand": "0.9.1"}


def test_a_minor_version_moves_and_a_patch_does_not() -> None:
    before = {"a": "1.2.3", "b": "1.2.3", "c": "1.2.3", "gone": "1.0.0"}
    now = {"a": "1.2.9", "b": "1.3.0", "c": "2.0.0", "new": "1.0.0"}
    assert moved(before, now) == ["b 1.2.3, now 1.3.0", "c 1.2.3, now 2.0.0"]
