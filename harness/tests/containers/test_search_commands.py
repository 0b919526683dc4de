"""`tandem capacity` as a user runs it, with real containers."""

import json
from pathlib import Path

import pytest
from harness_commands import bench_containers, printed, tandem, tandem_interrupted
from harness_places import PLANS

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]


def test_a_capacity_that_is_interrupted_goes_on(results: Path) -> None:
    asked = ["capacity", "rust-async", "--scenario", "index", "--plan", str(PLANS / "capacity.toml")]
    asked += ["--slo", "p90=100ms", "--seed", "1"]
    tandem_interrupted(*asked, results=results, once="*/progress.json", holding='"rate_rps"')
    [progress] = results.glob("*/progress.json")
    before = json.loads(progress.read_text())["search"]

    status, found, said = tandem(*asked[:-1], "2", "--resume", results=results)
    assert status == (0 if found["verdict"] == "ok" else 1)
    assert found["search"][: len(before)] == before
    assert (found["seed"], found["search_starts"]) == (1, 2), said
    assert len([p for p in found["search"] if p["state"] != "void"]) <= 12
    # On a disturbed host it may end void or unconfirmed; what it says then has to say so.
    assert found["verdict"] == "ok" or found["reasons"], said
    if found["verdict"] == "ok":
        assert found["capacity_rps"] < found["refused_rps"]
        assert [load["share"] for load in found["behaviour"]] == [0.5, 0.75, 0.9, 1.1, 1.5]
        half, over = found["behaviour"][0], found["behaviour"][-1]
        assert half["goodput_rps"] == pytest.approx(half["offered_rps"], rel=0.1)
        assert over["recovery"]["per_second_ms"]
    [file] = results.glob("*-capacity-rust-async-index/capacity.json")
    assert json.loads(file.read_text()) == found
    assert "probes for" in printed(file)
    assert found["environment"]["versions"]["oha"]
    assert not bench_containers()
