"""`tandem explain` as a user runs it, with real containers: one setting, two combinations. Weekly, as its starts and windows
are those of `bench`, which is run each time."""

import json
from pathlib import Path

import pytest
from harness_commands import TWO_TRIALS, bench_containers, printed, tandem

pytestmark = [pytest.mark.docker, pytest.mark.weekly, pytest.mark.timeout(600)]


def test_one_setting_is_explained(results: Path) -> None:
    """Four connections to the database, or twenty: both sides are one program, which itself explains nothing."""
    asked = ["explain", "rust-async:DB_POOL_MAX=4", "rust-async", "--db-rtt", "4ms", "--plan", TWO_TRIALS]
    status, found, said = tandem(*asked, results=results)
    assert "2 combinations, 2 blocks, 4 starts" in said
    assert status == (0 if found["verdict"] == "ok" else 1)
    [folder] = results.glob("*-explain-*")
    assert json.loads((folder / "result.json").read_text()) == found
    told = found["conclusions"]
    assert [case["label"] for case in told["cells"]] == ["A rust-async as it is", "rust-async equal"]
    assert [case["settings"]["DB_POOL_MAX"] for case in told["cells"]] == ["4", "20"]
    if found["verdict"] == "ok":
        [pool, programs] = told["explanations"][0]["factors"]
        gap = told["contrasts"][0]["ratio"]
        assert (pool["name"], pool["settings"]) == ("DB_POOL_MAX", {"DB_POOL_MAX": ["4", "20"]})
        assert pool["ratio"] == pytest.approx(gap)
        assert pool["first"] == pool["last"] == pytest.approx(gap)
        assert programs["ratio"] == 1
        assert gap > 1.5, "five times the connections, where each waits for eight round trips"
        assert told["cells"][0]["statements_per_request"] == pytest.approx(8, rel=0.02)
        assert told["cells"][0]["db_rtt_idle_ms"] > 4
        model = told["cells"][0]["model"]
        assert (model["round_trips"], model["usable_connections"]) == (pytest.approx(8, rel=0.02), 4)
        assert model["distance_ms"] >= 4
        assert (folder / "waterfall.svg").read_text().startswith("<svg")
    assert "rust-async against rust-async:DB_POOL_MAX=4" in printed(folder / "result.json")
    assert not bench_containers()
