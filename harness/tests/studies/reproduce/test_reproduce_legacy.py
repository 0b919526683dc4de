"""Records of reproductions that an older Tandem made, and those that were converted from such."""

from pathlib import Path

import pytest

from tandem.catalog.catalog import Catalog
from tandem.record.window import Verdict
from tandem.studies.registry import read_folder
from tandem.studies.reproduce.study import Reproduce

COMMITTED = (
    "chatbot-pool",
    "chatbot-pool.wide",
    "cpp-connections",
    "hyper-delay",
    "hyper-microservice",
    "hyper-microservice.wide",
    "hyper-payload",
    "sync-to-async-python",
    "sync-to-async-python.wide",
)

CONVERTED = (
    "chatbot-pool.wide",
    "cpp-connections",
    "hyper-delay",
    "hyper-microservice",
    "hyper-payload",
    "sync-to-async-python",
)
"""Converted from such; all were made again since, so these are among the fixtures."""


@pytest.fixture
def old(fixtures: Path) -> Path:
    """`reproduce chatbot-pool --plan core`, made by the last program of schema 1; NAME.md: the tables that this program
    printed of each."""
    return fixtures / "old-records/reproduce"


def test_an_old_record_gives_the_same_tables(old: Path) -> None:
    kind, result, trials = read_folder(old)
    assert (kind, result.verdict, result.request.seed) == (Reproduce, Verdict.OK, 2026)
    assert kind.markdown(result) == (old / "chatbot-pool.md").read_text().removesuffix("\n")
    assert trials == [], "it held figures and no windows"
    assert result.trials == {Verdict.OK: 40}
    one = result.conclusions.rows[0].trials[0]
    assert (one.block, one.attempt, one.trial) == (1, 1, "raw/async-Rust-pool-4/start-1")
    assert one.evidence
    assert result.environments["rust-async"].settings["DB_POOL_MAX"]
    assert result.phases_s["window"] == 120


def test_its_request_tells_what_was_measured(old: Path) -> None:
    _, result, _ = read_folder(old)
    pools = {one.label: (one.implementation, one.settings["DB_POOL_MAX"]) for one in result.request.variants}
    assert pools == {
        "async Rust, pool 4": ("rust-async", "4"),
        "async Rust, pool 32": ("rust-async", "32"),
        "sync Rust, pool 4": ("rust-sync", "4"),
        "sync Rust, pool 32": ("rust-sync", "32"),
    }


@pytest.mark.parametrize("name", CONVERTED)
def test_a_converted_record_gives_the_tables_that_it_gave(name: str, old: Path, fixtures: Path) -> None:
    kind, result, _ = read_folder(fixtures / "converted-records" / name)
    assert kind.markdown(result) == (old / f"{name}.md").read_text().removesuffix("\n")


@pytest.mark.parametrize("name", COMMITTED)
def test_a_committed_record_could_be_made_again(name: str, root: Path, real: Catalog) -> None:
    _, result, _ = read_folder(root / "results/reference-experiments" / name)
    assert Reproduce(real, result.request).variants == result.request.variants
