"""The first page and claims that people quote: a verdict where there is a record, and "not measured" elsewhere."""

from html import unescape
from pathlib import Path

from harness_experiments import experiment, reproduction, trials

from tandem.page.site import build

MEASURED, MISSING = "small-pools", "async-tails"


def first_page(root: Path, tmp_path: Path, source: str) -> str:
    """With a record of one of the claims, whose source this is said to be."""
    own = experiment(name=MEASURED, source="https://example.org", hypothesis="Async wins.", sentence="")
    found = reproduction(trials({"sync, 2 threads": 100, "async": 390, "async, ours": 389}), own)
    found.conclusions.source = source
    folder = tmp_path / "results" / MEASURED
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(found.model_dump_json())
    built = build([folder], tmp_path / "site", root, print)
    assert built.broken == []
    return unescape((tmp_path / "site/index.html").read_text())


def test_a_claim_with_a_record_has_its_verdict(root: Path, tmp_path: Path) -> None:
    text = first_page(root, tmp_path, "https://example.org/claim")
    assert "of its 2 statements 2 stand" in text
    assert "Hypothesis: Async wins." in text
    assert '<a href="https://example.org/claim">' in text
    assert f"just reproduce {MEASURED} --plan wide" not in text
    assert f"not measured, <code>just reproduce {MISSING} --plan wide</code>" in text


def test_an_address_that_is_none_is_no_link(root: Path, tmp_path: Path) -> None:
    """Records may come from anywhere; those of the repository's files are checked when they are read."""
    text = first_page(root, tmp_path, "javascript:alert(1)")
    assert "of its 2 statements 2 stand" in text
    assert "javascript:alert" not in text
