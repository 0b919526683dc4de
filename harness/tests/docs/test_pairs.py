"""documents.pairs: two small folders whose differences are known."""

from pathlib import Path

import pytest

from documents.pairs import PAIRS, dependencies, lines, row
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
CARGO = """
[package]
name = "{name}"
[dependencies]
serde = "1"
{library} = "2"
"""


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    for name, model, driver, workers, library in (
        ("x-sync", "sync", "d", "1", "left"),
        ("x-async", "async", "d-async", "cpus", "right"),
    ):
        folder = tmp_path / name
        (folder / "src").mkdir(parents=True)
        (folder / "bench.toml").write_text(BENCH.format(model=model, driver=driver, workers=workers))
        (folder / "Cargo.toml").write_text(CARGO.format(name=name, library=library))
        (folder / "README.md").write_text(name * 3)
        (folder / "src/main.x").write_text(f"use {name.replace('-', '_')}\n\nstart\nserve({model})\n")
        (folder / "src/same.x").write_text(f"one\n  two of {name}\n")
        (folder / "target").mkdir()
        (folder / "target/built").write_text(model)
    (tmp_path / "x-sync/src/threads.x").write_text("a\nb\n\n")
    (tmp_path / "x-async/src/loop.bin").write_bytes(b"\xff\xfe\n")
    with (tmp_path / "x-async/bench.toml").open("a") as bench:
        bench.write('OFFLOAD = "a reason"\n')
    return tmp_path


def test_lines_that_only_one_has(pair: Path) -> None:
    assert lines(pair, "x-sync", "x-async") == (8, 4, 2)


def test_the_row_of_a_pair(pair: Path) -> None:
    assert row(pair, "x-sync", "x-async") == (
        "`x-sync`, `x-async`",
        "8",
        "4 lines; stack: d; defaults: `WORKERS=1`; libraries: `left`",
        "2 lines; stack: d-async; defaults: `WORKERS=cpus`; settings that it lacks: `OFFLOAD`; libraries: `right`",
    )


def test_common_code_counts_where_both_are_built_with_it(pair: Path) -> None:
    (pair / "common/x/src").mkdir(parents=True)
    (pair / "common/x/src/lib.x").write_text("a\nb\nc\n")
    for name in ("x-sync", "x-async"):
        assert "common/x" not in row(pair, "x-sync", "x-async")[1]
        (pair / name / "Dockerfile").write_text("COPY common/x common/x\n")
    assert row(pair, "x-sync", "x-async")[1].endswith(" and 3 of `common/x`")


def test_a_bridge_is_made_of_others_below_its_own(pair: Path) -> None:
    bridge = pair / "x-bridge"
    (bridge / "src").mkdir(parents=True)
    (bridge / "src/main.x").write_text("use x_bridge\nstart\nserve(threads)\n")
    (bridge / "Dockerfile").write_text(
        "FROM base AS sources\nCOPY contract/sql sql\nCOPY x-async/src src\nCOPY x-sync/src/threads.x src/\n"
        "COPY x-bridge/src src\nCOPY --from=sources /app /app\n"
    )
    # main.x: two of three; same.x: both; threads.x and the Dockerfile: the bridge's; Cargo.toml: the other's.
    assert lines(pair, "x-async", "x-bridge") == (4, 6, 9)


def test_dependencies_of_a_python_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["falcon==4.0", "psycopg[c]==3.3"]\n')
    assert dependencies(tmp_path) == {"falcon", "psycopg"}


def test_a_pair_that_is_none(pair: Path) -> None:
    with pytest.raises(UsageError, match="names 'x-none', which has no bench"):
        row(pair, "x-sync", "x-none")


def test_the_pairs_are_implementations(real: Catalog) -> None:
    assert {name for pair in PAIRS for name in pair} <= real.implementations.keys()
    assert len({*PAIRS}) == len(PAIRS)
