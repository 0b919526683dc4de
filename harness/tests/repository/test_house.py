"""checks.house: the parts of the repository stay within their limits, and a limit moves only with the changelog."""

import subprocess
from pathlib import Path

import pytest
from harness_places import ROOT

from checks import house

LIMIT = {"files in results": 1}


def test_every_part_is_within_its_limit() -> None:
    try:
        found = house.excesses(ROOT)
    except subprocess.CalledProcessError:
        pytest.skip("not a clone: git does not say which files there are")
    assert found == []


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two results where one is allowed."""
    monkeypatch.setattr(house, "BUDGET", LIMIT)
    monkeypatch.setattr(
        house, "measured", lambda root: {"files in results": len(house.tracked(root, "results/*"))}
    )
    (tmp_path / "results").mkdir()
    (tmp_path / "results/a").touch()
    (tmp_path / "results/b").touch()
    for command in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_what_is_too_large_is_named(small: Path) -> None:
    (small / "CHANGELOG.md").write_text("- Budget: 1 files in results.\n")
    assert house.excesses(small) == ["2 files in results: the limit is 1"]


def test_a_limit_that_the_changelog_does_not_have_is_named(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house, "BUDGET", {"files in results": 2})
    (small / "CHANGELOG.md").write_text("- Budget: 1 files in results.\n")
    assert len(house.excesses(small)) == 1
    (small / "CHANGELOG.md").write_text("- Budget: 2 files in results. Why.\n- Budget: 1 files in results.\n")
    assert house.excesses(small) == []


def test_a_limit_is_read_to_its_end() -> None:
    text = "- Budget: 1,200 lines in harness/tests, 30 lines in harness/tandem/page.\n"
    assert house.announced(text) == {"lines in harness/tests": 1200}
