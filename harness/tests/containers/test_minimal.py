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
def test_they_are_measured_as_any_other(scenario: str, results: Path) -> None:
    labels = [f"harness/minimal/{program}" for program in PROGRAMS]
    status, found, said = tandem(
        "bench", *labels, "--scenario", scenario, "--plan", ONE_TRIAL, results=results
    )
    assert status == 0, said
    estimates = found["conclusions"]["estimates"]
    assert {one["variant"] for one in estimates} == {*labels}
    assert {one["verdict"] for one in estimates} == {"ok"}, said
