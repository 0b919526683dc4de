"""The contract itself: its document is valid, and its golden files are what the seeded database says."""

import statistics

import pytest

from contract_checks import golden, golden_files, openapi
from contract_checks.stack import Stack


def test_openapi_document_is_valid() -> None:
    openapi.load("http://127.0.0.1", examples=1)


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
