"""documents.pairs: two small folders whose differences are known."""

from pathlib import Path

import pytest

from documents.pairs import PAIRS, Difference, dependencies, differences, section
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
driver = {{ version = "{version}", features = ["{feature}"] }}
"""


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    for name, model, driver, workers, version in (
        ("x-sync", "sync", "d", "1", "2"),
        ("x-async", "async", "d-async", "cpus", "3"),
    ):
        folder = tmp_path / name
        (folder / "src").mkdir(parents=True)
        (folder / "bench.toml").write_text(BENCH.format(model=model, driver=driver, workers=workers))
        (folder / "Cargo.toml").write_text(CARGO.format(name=name, version=version, feature=model))
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
    assert differences(pair, "x-sync", "x-async") == [
        Difference("Cargo.toml", 4, 1, 1),
        Difference("src/main.x", 2, 1, 1),
        Difference("src/threads.x", 0, 2, 0),
        Difference("src/same.x", 2, 0, 0),
    ]


def test_the_section_of_a_pair(pair: Path) -> None:
    text = section(pair, "x-sync", "x-async")
    assert text.startswith(
        "### X, sync and X, async\n\nIn both: 8 lines. Only in `x-sync`: 4. Only in `x-async`: 2.\n"
    )
    assert "| stack | web, d | web, d-async |" in text
    assert "| default of `WORKERS` | 1 | cpus |" in text
    assert "THREADS" not in text
    assert "| setting `OFFLOAD` | – | no: a reason |" in text
    assert "| library `driver` | 2 +sync | 3 +async |" in text
    assert "serde" not in text
    assert "| `src/threads.x` | 0 | 2 | 0 |" in text
    assert text.endswith("The same in both: `src/same.x`.")


def test_common_code_counts_where_both_are_built_with_it(pair: Path) -> None:
    (pair / "common/x/src").mkdir(parents=True)
    (pair / "common/x/src/lib.x").write_text("a\nb\nc\n")
    for name in ("x-sync", "x-async"):
        assert "common/x" not in section(pair, "x-sync", "x-async")
        (pair / name / "Dockerfile").write_text("COPY common/x common/x\n")
    assert "and 3 lines of `common/x`." in section(pair, "x-sync", "x-async")


def test_a_bridge_is_made_of_others_below_its_own(pair: Path) -> None:
    bridge = pair / "x-bridge"
    (bridge / "src").mkdir(parents=True)
    (bridge / "src/main.x").write_text("use x_bridge\nstart\nserve(threads)\n")
    (bridge / "Dockerfile").write_text(
        "FROM base AS sources\nCOPY contract/sql sql\nCOPY x-async/src src\nCOPY x-sync/src/threads.x src/\n"
        "COPY x-bridge/src src\nCOPY --from=sources /app /app\n"
    )
    assert differences(pair, "x-async", "x-bridge") == [
        Difference("Dockerfile", 0, 0, 6),
        Difference("Cargo.toml", 0, 5, 0),
        Difference("src/main.x", 2, 1, 1),
        Difference("src/threads.x", 0, 0, 2),
        Difference("src/same.x", 2, 0, 0),
    ]


def test_dependencies_of_a_python_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["falcon==4.0", "psycopg[c]==3.3"]\n')
    assert dependencies(tmp_path) == {"falcon": "==4.0", "psycopg": "[c]==3.3"}


def test_a_pair_that_is_none(pair: Path) -> None:
    with pytest.raises(UsageError, match="names 'x-none', which has no bench"):
        section(pair, "x-sync", "x-none")


def test_the_pairs_are_implementations(real: Catalog) -> None:
    assert {name for pair in PAIRS for name in pair} <= real.implementations.keys()
    assert len({*PAIRS}) == len(PAIRS)
