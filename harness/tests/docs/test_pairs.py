"""documents.pairs: two small folders whose differences are known."""

from pathlib import Path

import pytest

from documents.pairs import PAIRS, dependencies, row
from tandem.catalog.catalog import Catalog
from tandem.errors import UsageError

BENCH = """
title = "X, {model}"
language = "x"
model = "{model}"
stack = ["web", "{driver}"]
[defaults]
WORKERS = "{workers}"
THREADS = "32"
[unsupported.settings]
"""


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    for name, model, driver, workers in (
        ("x-sync", "sync", "d", "1"),
        ("x-async", "async", "d-async", "cpus"),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "bench.toml").write_text(BENCH.format(model=model, driver=driver, workers=workers))
        (folder / "Cargo.toml").write_text(f'[dependencies]\nserde = "1"\n{driver} = "2"\n')
    with (tmp_path / "x-async/bench.toml").open("a") as bench:
        bench.write('OFFLOAD = "a reason"\n')
    return tmp_path


def test_a_row_has_what_only_one_declares(pair: Path) -> None:
    assert row(pair, "x-sync", "x-async") == (
        "`x-sync`, `x-async`",
        "stack: d; defaults: `WORKERS=1`; libraries: `d`",
        "stack: d-async; defaults: `WORKERS=cpus`; settings that it lacks: `OFFLOAD`; libraries: `d-async`",
    )
    with pytest.raises(UsageError, match="names 'x-none', which has no bench"):
        row(pair, "x-sync", "x-none")


def test_dependencies_of_a_python_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["falcon==4.0", "psycopg[c]==3.3"]\n')
    assert dependencies(tmp_path) == {"falcon", "psycopg"}


def test_the_pairs_are_implementations(real: Catalog) -> None:
    assert {name for pair in PAIRS for name in pair} <= real.implementations.keys()
    assert len({*PAIRS}) == len(PAIRS)
