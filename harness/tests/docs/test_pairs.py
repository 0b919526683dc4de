"""documents.pairs: two small folders whose differences are known."""

from pathlib import Path

import pytest

from documents.pairs import PAIRS, row
from tandem.catalog.catalog import Catalog

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
    with (tmp_path / "x-async/bench.toml").open("a") as bench:
        bench.write('OFFLOAD = "a reason"\n')
    return tmp_path


def test_a_row_has_what_only_one_declares(pair: Path) -> None:
    assert row(Catalog(pair), "x-sync", "x-async") == (
        "`x-sync`, `x-async`",
        "stack: d; defaults: `WORKERS=1`",
        "stack: d-async; defaults: `WORKERS=cpus`; settings that it lacks: `OFFLOAD`",
    )
    with pytest.raises(KeyError, match="x-none"):
        row(Catalog(pair), "x-sync", "x-none")


def test_the_pairs_are_implementations(real: Catalog) -> None:
    assert {name for pair in PAIRS for name in pair} <= real.implementations.keys()
    assert len({*PAIRS}) == len(PAIRS)
