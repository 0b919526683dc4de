"""`tandem matrix` as a user runs it, with real containers."""

import json
import os
import shutil
import subprocess
from typing import Any

import pytest
from harness_places import ROOT

from checks import new
from tandem.catalog.catalog import Catalog

# It measures nothing, so it may run beside other tests; but one such command at a time (checks.groups).
pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]


def matrix(*names: str, fault: str = "", **variables: str) -> tuple[int, list[Any], str]:
    """Exit status, the squares on stdout, stderr."""
    done = subprocess.run(
        ["python3", "-m", "tandem", "matrix", *names, "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "FAULT": fault, **variables},
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("names", [("cpp-async", "node"), pytest.param((), marks=pytest.mark.weekly)])
def test_every_implementation_serves_what_it_does_not_decline(real: Catalog, names: tuple[str, ...]) -> None:
    status, squares, said = matrix(*names)
    wrong = [square for square in squares if square["outcome"] not in ("ok", "unsupported")]
    assert not wrong, said
    assert status == 0
    asked = {name: real.implementations[name] for name in names or real.implementations}
    alone = {name for name, scenario in real.scenarios.items() if not scenario.beside}
    assert len(squares) == len(asked) * len(alone)
    declined = {(s["implementation"], s["scenario"]) for s in squares if s["outcome"] == "unsupported"}
    declared = {(n, s) for n, i in asked.items() for s in i.unsupported.scenarios if s in alone}
    assert declined == declared


def outcomes(squares: list[Any], implementation: str) -> dict[str, str]:
    """Scenario -> outcome."""
    return {s["scenario"]: s["outcome"] for s in squares if s["implementation"] == implementation}


def test_a_wrong_implementation_and_one_that_dies_are_seen() -> None:
    status, squares, _ = matrix("contract/broken", "harness/tests/dying", fault="wrong-body")
    assert status == 1
    wrong = outcomes(squares, "contract/broken")
    assert wrong["recipe"] == wrong["recipes"] == "wrong"
    assert wrong["index"] == "ok"
    assert set(outcomes(squares, "harness/tests/dying").values()) == {"failed"}


def test_a_folder_that_was_just_made_is_green() -> None:
    """In a copy of the repository, below a folder that exists on the host as well: the engine mounts from there."""
    copy = ROOT / "results/.test-new"
    shutil.rmtree(copy, ignore_errors=True)
    unneeded = shutil.ignore_patterns("__pycache__", "target", "tests")
    try:
        for folder in ("contract", "compose", "loadgen"):
            shutil.copytree(ROOT / folder, copy / folder, ignore=unneeded)
        shutil.copy(ROOT / "compose.yaml", copy)
        new.make(copy, "just-made", "async", "go")
        status, squares, said = matrix("just-made", TANDEM_ROOT=str(copy))
    finally:
        shutil.rmtree(copy)
        subprocess.run(
            ["docker", "image", "rm", "--force", "tandem/just-made"], check=False, capture_output=True
        )
    assert status == 0, said
    assert {square["outcome"] for square in squares} == {"unsupported"}


def test_a_wrong_statement_is_seen() -> None:
    status, squares, _ = matrix("contract/broken", fault="extra-statement")
    assert status == 1
    found = outcomes(squares, "contract/broken")
    assert found["recipe"] == "wrong"
    assert found["index"] == "ok"
