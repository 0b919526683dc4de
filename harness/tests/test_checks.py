"""tandem.checks: every test is in one session, and what measures is alone."""

from pathlib import Path

import pytest

from tandem import checks

CONTAINERS = "pytest.mark.docker"


def test_what_runs_beside_others_does_not_run_alone_as_well(root: Path) -> None:
    unit, alone, together = checks.sessions(root, weekly=False)
    tests = str(root / "harness/tests")
    assert tests in unit
    assert tests in alone
    for name in checks.BESIDE:
        file = root / "harness/tests" / name
        assert CONTAINERS in file.read_text(), "or it would run without an engine, too"
        assert alone[alone.index(str(file)) - 1] == "--ignore"
        assert together[together.index(str(file)) - 1] != "--ignore"
    for file in (root / "contract/tests").glob("test_*.py"):
        assert str(file) in together


def test_commands_that_use_the_bench_project_take_turns(root: Path) -> None:
    """The implementations' own stages use no project."""
    for name in checks.BESIDE:
        text = (root / "harness/tests" / name).read_text()
        assert ('xdist_group("commands")' in text) != ('xdist_group("stages")' in text)


@pytest.mark.parametrize(("weekly", "chosen"), [(False, "docker and not weekly"), (True, "docker")])
def test_weekly_tests_are_asked_for(root: Path, weekly: bool, chosen: str) -> None:
    _, alone, _ = checks.sessions(root, weekly)
    assert alone[alone.index("-m") + 1] == chosen
