"""`tandem capacity` as a user runs it, with real containers."""

import json
from pathlib import Path

import pytest
from harness_commands import bench_containers, printed, tandem
from harness_places import PLANS

from tandem.record.result import per_variant
from tandem.studies.registry import read_folder

pytestmark = [pytest.mark.docker, pytest.mark.weekly, pytest.mark.timeout(600)]


def test_a_capacity_is_found(results: Path) -> None:
    """Each window follows from those before it."""
    asked = ["capacity", "rust-async", "--scenario", "index", "--plan", str(PLANS / "capacity.toml")]
    status, result, said = tandem(*asked, "--slo", "p90=100ms", "--seed", "1", results=results)
    found = result["conclusions"]
    assert status == (0 if result["verdict"] == "ok" else 1)
    assert (result["request"]["seed"], result["request"]["options"]["slo"]) == (1, "p90=100ms"), said
    assert len([p for p in found["search"] if p["state"] != "void"]) <= 12
    [search] = results.glob("*/trials/search.json")
    windows = json.loads(search.read_text())["windows"]
    probes = [record["spec"] for record in windows if record["spec"]["load"] == "open"]
    assert [p["rates_rps"]["rust-async"] for p in probes] == [p["rate_rps"] for p in found["search"]]
    for record in windows:
        [window] = record["windows"].values()
        table = window["responses_per_second"]
        assert (table is None) == (window["load"] == "closed")
        assert table is None or {len(column) for column in table.values()} == {record["spec"]["seconds"]}
    # On a disturbed host it may end void; what it says then has to say so.
    assert result["verdict"] == "ok" or result["reasons"], said
    if result["verdict"] == "ok":
        capacity = found["estimates"][0]
        low, high = capacity["interval"]
        assert low < capacity["mean"] < high
        assert (found["fit"]["starts"], capacity["n"]) == (2, 1)
        assert [load["share"] for load in found["behaviour"]] == [0.5, 0.75, 0.9, 1.1, 1.5, 3.0]
        assert found["frozen"]["frozen_s"] == pytest.approx(2, abs=0.5)
        half, over = found["behaviour"][0], found["behaviour"][-1]
        assert half["goodput_rps"] == pytest.approx(half["offered_rps"], rel=0.1)
        assert over["recovery"]["per_second_ms"]
    [file] = results.glob("*-capacity-rust-async-capacity/result.json")
    assert json.loads(file.read_text()) == result
    assert read_folder(file.parent)[1].verdict == result["verdict"]
    assert "probes for" in printed(file)
    assert per_variant(result["environments"])["rust-async"]["versions"]["oha"]
    assert not bench_containers()
