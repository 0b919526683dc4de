"""`tandem sweep` as a user runs it, with real containers."""

import json
from pathlib import Path

import pytest
from harness_commands import bench_containers, printed, tandem
from harness_places import PLANS

pytestmark = [pytest.mark.docker, pytest.mark.weekly, pytest.mark.timeout(600)]


def test_each_value_is_measured_in_each_round(results: Path) -> None:
    asked = ["sweep", "rust-async", "--over", "connections=4,16", "--rounds", "2", "--scenario", "index"]
    plan = str(PLANS / "two-rounds.toml")
    status, found, said = tandem(*asked, "--plan", plan, "--seed", "5", results=results)
    assert found["request"]["seed"] == 5
    [folder] = results.glob("*-sweep-*")
    trials = [json.loads(file.read_text()) for file in folder.glob("trials/*.json")]
    assert {(t["spec"]["block"], t["spec"]["variants"][0]) for t in trials} == {
        (block, f"rust-async connections={value}") for block in (1, 2) for value in (4, 16)
    }
    assert sum(found["trials"].values()) == len(trials)
    assert all(t["verdict"] in ("ok", "void") for t in trials), said
    for trial in trials:
        [record] = trial["windows"]
        [window] = record["windows"].values()
        assert trial["spec"]["variants"] == [f"rust-async connections={window['connections']}"]
    assert status == (0 if found["verdict"] == "ok" else 1)
    [curve] = found["conclusions"]["curves"]
    if found["verdict"] == "ok":
        rates = [one["mean"] for one in found["conclusions"]["estimates"] if one["metric"] == "goodput_rps"]
        assert len(rates) == 2
        assert min(rates) > 0
        assert curve["c90"] in (4, 16)
    assert "points" in curve["usl"]["reason"]
    assert json.loads((folder / "result.json").read_text()) == found
    assert "connections" in printed(folder / "result.json")
    assert not bench_containers()
