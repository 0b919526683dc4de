"""The contract itself: its document is valid, and its golden files are what the seeded database says."""

import statistics

import pytest
import yaml

from contract_checks import catalog, golden, golden_files, openapi, paths
from contract_checks.needs import name_of
from contract_checks.registry import CHECKS
from contract_checks.stack import Stack

SCENARIOS = {scenario for path in paths.PATHS for scenario in path.scenarios}


def test_openapi_document_is_valid() -> None:
    openapi.load("http://127.0.0.1", examples=1)


def test_every_scenario_has_its_operations() -> None:
    document = yaml.safe_load(openapi.DOCUMENT.read_text())
    operations = [
        part for path in document["paths"].values() for part in path.values() if isinstance(part, dict)
    ]
    tags = {tag for operation in operations for tag in operation.get("tags", ())}
    # The operations of these are those of index and work.
    assert tags | {"idle", "work-large"} == SCENARIOS


def test_checks_have_names_of_their_own() -> None:
    assert len(set(map(name_of, CHECKS))) == len(CHECKS)


@pytest.mark.parametrize("name", [*catalog.names(), "contract/broken"])
def test_what_is_declared_exists(name: str) -> None:
    """A misspelled name under [unsupported] would excuse nothing, or be believed to."""
    implementation = catalog.load(name)
    assert implementation.settings.keys() <= catalog.settings().keys()
    assert implementation.scenarios.keys() <= SCENARIOS
    assert implementation.checks.keys() <= set(map(name_of, CHECKS))
    reasons = [
        *implementation.settings.values(),
        *implementation.scenarios.values(),
        *implementation.checks.values(),
    ]
    assert all(reason.strip() for reason in reasons)


def test_median_body_is_as_published() -> None:
    sizes = [entry.bytes for key, entry in golden.table().items() if key % 25]
    assert 3.4 <= statistics.median(sizes) / 1024 <= 3.8


@pytest.mark.docker
@pytest.mark.timeout(300)
def test_golden_files_are_what_the_database_says(stack: Stack) -> None:
    stale = golden_files.stale(stack)
    assert not stale, f"{stale}: contract/tests/contract_checks/golden_files.py writes them anew"


@pytest.mark.docker
@pytest.mark.timeout(300)
def test_changed_data_makes_golden_files_stale(stack: Stack) -> None:
    change = "update core_step set text = text || %s where recipe_id = 2 returning 1"
    stack.query(change, "!")
    try:
        assert golden_files.stale(stack) == ["recipe-2.json", "recipes.tsv"]
    finally:
        stack.query("update core_step set text = rtrim(text, '!') where recipe_id = 2 returning 1")
    assert golden_files.stale(stack) == []
