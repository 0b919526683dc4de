"""Published experiments and quoted claims on the first page: a verdict where there is a record, and "not measured" elsewhere."""

import json
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from harness_places import result_alone

from tandem.page.published import measured_again
from tandem.page.read import Run, find, read
from tandem.page.site import build
from tandem.studies.reproduce.experiment import read_claims

MEASURED, MISSING = "small-pools", "async-tails"


def first_page(root: Path, tmp_path: Path, **changes: Any) -> str:
    """With the record of one of the claims, changed."""
    record = result_alone(root / f"results/reference-claims/{MEASURED}")
    folder = tmp_path / "results" / MEASURED
    folder.mkdir(parents=True)
    record["conclusions"] |= changes
    (folder / "result.json").write_text(json.dumps(record))
    claims = [claim.publication for claim in read_claims(root).values()]
    assert build([folder], tmp_path / "site", root, print, claims=claims).broken == []
    text = unescape((tmp_path / "site/index.html").read_text())
    return text[text.index('id="published"') : text.index('id="data"')]


def test_a_claim_with_a_record_has_its_verdict(root: Path, tmp_path: Path) -> None:
    text = first_page(root, tmp_path, source="https://example.org/claim", hypothesis="Small wins.")
    for shown in (
        *("1 of 2 claims stand, 1 not decided", "Small wins.", '<a href="https://example.org/claim">'),
        f"not measured, <code>just reproduce {MISSING} --plan wide</code>",
    ):
        assert shown in text
    assert f"just reproduce {MEASURED} --plan wide" not in text


def test_an_address_that_is_none_is_no_link(root: Path, tmp_path: Path) -> None:
    """Records may come from anywhere; those of the repository's files are checked when they are read."""
    text = first_page(root, tmp_path, source="javascript:alert(1)")
    assert "1 of 2 claims stand" in text
    assert "javascript:alert" not in text


@pytest.mark.parametrize("folder", ["reference-claims", "reference-experiments"])
def test_each_claim_has_the_size_that_its_study_found(root: Path, folder: str) -> None:
    for header in find([root / "results" / folder], root)[0]:
        run = read(header)
        assert isinstance(run, Run)
        again = measured_again(run)
        assert again is not None
        assert [one.size for one in again.claims] == [
            one.size or "" for one in run.result.conclusions.claims
        ], header.name
