"""The minimal programs give the right answers with the contract's statements: else what they cost says nothing."""

from pathlib import Path

import pytest
from harness_commands import ONE_TRIAL, tandem
from harness_places import ROOT

pytestmark = [pytest.mark.docker, pytest.mark.weekly]

PROGRAMS = sorted(file.parent.name for file in ROOT.glob("harness/minimal/*/bench.toml"))


def test_there_are_some() -> None:
    assert PROGRAMS == ["falcon", "fastify", "starlette"]


@pytest.mark.parametrize("scenario", ["index", "recipes"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_is_measured_as_any_other(program: str, scenario: str, results: Path) -> None:
    label = f"harness/minimal/{program}"
    status, found, said = tandem("bench", label, "--scenario", scenario, "--plan", ONE_TRIAL, results=results)
    assert status == 0, said
    assert found["verdict"] in ("ok", "void"), said
