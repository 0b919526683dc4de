"""`tandem crossover` as a user runs it, with real containers."""

import json
from pathlib import Path

import pytest
from harness_commands import bench_containers, printed, tandem
from harness_places import PLANS

pytestmark = [pytest.mark.docker, pytest.mark.weekly, pytest.mark.timeout(600)]


def test_two_are_compared_at_two_distances(results: Path) -> None:
    asked = ["crossover", "rust-sync", "rust-async", "--wait", "0,20ms", "--pool", "4", "--rounds", "2"]
    asked += ["--connections", "16"]
    status, found, said = tandem(
        *asked, "--plan", str(PLANS / "two-rounds.toml"), "--seed", "5", results=results
    )
    [folder] = results.glob("*-crossover-*")
    trials = [json.loads(file.read_text()) for file in folder.glob("trials/*.json")]
    assert all(trial["verdict"] in ("ok", "void") for trial in trials), said
    assert {t["spec"]["variants"][0] for t in trials} == {
        f"{name} wait={wait}ms pool=4" for name in ("rust-sync", "rust-async") for wait in (0, 20)
    }
    assert status == (0 if found["verdict"] == "ok" else 1)
    told = found["conclusions"]
    near, far = told["contrasts"]
    assert (near["coordinates"]["wait_ms"], far["coordinates"]["wait_ms"]) == (0, 20)
    if found["verdict"] == "ok":
        for one in told["estimates"]:
            if one["metric"] == "goodput_rps" and one["coordinates"] == far["coordinates"]:
                # Four connections, eight round trips of 20 ms and a little: 25/s at most.
                assert 15 < one["mean"] < 25
        for one in told["predictions"]:
            if one["coordinates"] == far["coordinates"]:
                assert one["predicted"]["limited_by"] == "pool-wait"
                assert abs(one["off"]) < 0.15, one
        assert far["ratio"] == pytest.approx(1, abs=0.15)
        assert (folder / "crossover.svg").read_text().startswith("<svg")
    assert json.loads((folder / "result.json").read_text()) == found
    assert "model," in printed(folder / "result.json")
    assert not bench_containers()
