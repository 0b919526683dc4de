"""`tandem ceiling` as a user runs it, with real containers."""

import json
from pathlib import Path

import pytest
from harness_commands import ONE_TRIAL, printed, tandem

pytestmark = [pytest.mark.docker, pytest.mark.weekly, pytest.mark.timeout(900)]


def test_ceilings_and_shares(results: Path) -> None:
    names = ["rust-async", "contract/broken"]
    status, found, said = tandem(
        "ceiling",
        *names,
        "--plan",
        ONE_TRIAL,
        "--scenario",
        "recipe",
        results=results,
        FAULT="wrong-body",
    )
    assert status == 1, said
    assert found["verdict"] == "invalid", "one of them gives wrong answers"
    reached = found["conclusions"]
    assert reached["ceilings"].keys() == {"proxy", "null", "database"}
    for name, figure in reached["ceilings"].items():
        assert len(figure["values"]) + len(figure["refused"]) == 1, name
        assert all(value > 0 for value in figure["values"])
        # The host may disturb a round; nothing else may be in the way of a ceiling.
        assert all(": void:" in reason for reason in figure["refused"]), figure["refused"]
    assert reached["ceilings"]["database"]["values"]
    honest, liar = reached["variants"]["rust-async"], reached["variants"]["contract/broken"]
    assert len(honest["values"]) + len(honest["refused"]) == 1
    assert liar["values"] == []
    assert all("golden" in reason for reason in liar["refused"])
    [file] = results.glob("*-ceiling-*/result.json")
    assert json.loads(file.read_text()) == found
    assert "ceilings for recipe, 1 round" in printed(file)
