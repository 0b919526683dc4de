"""checks.code_lines: what counts as a line of code, and that no program has more than its limit."""

import subprocess

import pytest
from harness_places import ROOT

from checks.code_lines import LIMITS, code_lines, counted, excesses

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
    assert code_lines(text, ending) == lines


def test_no_program_has_more_than_its_limit() -> None:
    try:
        found = excesses(counted(ROOT))
    except subprocess.CalledProcessError:
        pytest.skip("not a clone: git does not say which files there are")
    assert found == []


def test_a_program_that_grew_is_named() -> None:
    assert len(excesses({"node": LIMITS["node"] + 1, "go": LIMITS["go"]})) == 1
