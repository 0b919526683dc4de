"""checks.house and checks.code_lines: parts and programs stay within their limits, and one of a part moves only with the changelog."""

import subprocess
from pathlib import Path

import pytest
from harness_places import ROOT

from checks import code_lines, house

PYTHON = (
    '"""Docstring\nof two lines."""\n\nimport os  # a comment\n\n# A comment.\nTEXT = """a\n# no comment"""\n'
)
RUST = """use a::b; /* a
comment */
fn quote() -> char { '"' } // "
const ADDRESS: &str = "http://here/*"; const OPEN: char = '{';

#[cfg(test)]
use c::d;
#[cfg(test)]
mod tests {
    fn one() { "}" }
}
fn last() {}
"""
TYPESCRIPT = "/** Docs. */\nexport const a = `// ${b}\n/* c */`;\n"


@pytest.mark.parametrize(
    ("ending", "text", "lines"), [(".py", PYTHON, 3), (".rs", RUST, 4), (".ts", TYPESCRIPT, 2)]
)
def test_what_runs_counts_and_what_explains_or_tests_does_not(ending: str, text: str, lines: int) -> None:
    assert code_lines.code_lines(text, ending) == lines


def test_everything_is_within_its_limit() -> None:
    try:
        found = [*house.excesses(ROOT), *code_lines.excesses(code_lines.counted(ROOT))]
    except subprocess.CalledProcessError:
        pytest.skip("not a clone: git does not say which files there are")
    assert found == []


def test_a_program_that_grew_is_named() -> None:
    most = code_lines.LIMITS
    assert len(code_lines.excesses({"node": most["node"] + 1, "go": most["go"]})) == 1


def test_what_is_too_large_and_a_limit_that_the_changelog_lacks_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a repository with two results where one is allowed, and then two."""
    kind = "files in results"
    monkeypatch.setattr(house, "measured", lambda root: {kind: len(house.tracked(root, "results/*"))})
    (tmp_path / "results").mkdir()
    for name in ("results/a", "results/b"):
        (tmp_path / name).touch()
    for command in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text("- Budget: 1 files in results.\n")
    monkeypatch.setattr(house, "BUDGET", {kind: 1})
    assert house.excesses(tmp_path) == ["2 files in results: the limit is 1"]
    monkeypatch.setattr(house, "BUDGET", {kind: 2})
    assert len(house.excesses(tmp_path)) == 1
    changelog.write_text("- Budget: 2 files in results. Why.\n- Budget: 1 files in results.\n")
    assert house.excesses(tmp_path) == []


def test_a_limit_is_read_to_its_end() -> None:
    text = "- Budget: 1,200 lines in harness/tests, 30 lines in harness/tandem/page.\n"
    assert house.announced(text) == {"lines in harness/tests": 1200}
