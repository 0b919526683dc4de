"""`tandem sweep` as a user runs it, with real containers."""

import json
from pathlib import Path

import pytest
from harness_commands import bench_containers, printed, tandem, tandem_interrupted
from harness_places import PLANS

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]


def test_a_sweep_that_is_interrupted_goes_on(results: Path) -> None:
    asked = ["sweep", "rust-async", "--over", "connections=4,16", "--rounds", "2", "--scenario", "index"]
    asked += ["--plan", str(PLANS / "two-rounds.toml"), "--seed", "5"]
    tandem_interrupted(*asked, results=results, once="*/points/*.json")
    [first] = results.glob("*/points/*.json")
    before = first.read_text()

    status, found, said = tandem(*asked[:-1], "6", "--resume", results=results)
    assert found["request"]["seed"] == 5, "the order is the first one's"
    assert len(found["points"]) == 4
    if json.loads(before)["verdict"] == "ok":
        assert first.read_text() == before, "what was measured is kept"
    assert all(p["verdict"] in ("ok", "void") for p in found["points"]), said
    assert status == (0 if found["verdict"] == "ok" else 1)
    [curve] = found["curves"]
    if found["verdict"] == "ok":
        assert curve["peak_rps"] > 0
        assert curve["c90"] in (4, 16)
    assert "points" in curve["usl"]["reason"]
    [file] = results.glob("*-sweep-*/sweep.json")
    assert json.loads(file.read_text()) == found
    assert "connections" in printed(file)
    assert not bench_containers()
