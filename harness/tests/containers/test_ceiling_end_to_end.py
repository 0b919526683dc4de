"""`tandem ceiling` as a user runs it, with real containers."""

import json
from pathlib import Path

import pytest
from harness_commands import ONE_TRIAL, printed, tandem

pytestmark = [pytest.mark.docker, pytest.mark.weekly, pytest.mark.timeout(900)]


def test_ceilings_and_shares(results: Path) -> None:
    names = ["rust-async", "contract/broken"]
    status, found, said = tandem(
        "ceiling", *names, "--plan", ONE_TRIAL, "--scenario", "recipe", results=results, FAULT="wrong-body"
    )
    assert status == 1, said
    assert found["verdict"] == "invalid", "one of them gives wrong answers"
    rates = {
        one["variant"]: one for one in found["conclusions"]["estimates"] if one["metric"] == "goodput_rps"
    }
    assert rates.keys() == {"ceiling proxy", "ceiling null", "ceiling database", *names}
    for name in rates.keys() - {"contract/broken"}:
        # The host may disturb a round; nothing else may be in the way. One round gives no figure.
        assert rates[name]["n"] + len(rates[name]["reasons"]) >= 1, name
        assert rates[name]["verdict"] == "void"
    assert rates["ceiling database"]["n"] == 1
    assert (rates["contract/broken"]["verdict"], rates["contract/broken"]["n"]) == ("invalid", 0)
    assert all("golden" in reason for reason in rates["contract/broken"]["reasons"])
    [file] = results.glob("*-ceiling-*/result.json")
    assert json.loads(file.read_text()) == found
    assert "ceilings for recipe, 1 round" in printed(file)
