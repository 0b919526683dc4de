"""`tandem reproduce` on real containers, with an experiment of half a minute."""

import json
from pathlib import Path

import pytest
from harness_commands import bench_containers, printed, tandem
from harness_places import EXPERIMENTS

EXPERIMENT = str(EXPERIMENTS / "tiny.toml")
ADDED_MOST_S = 10.0
"""A fresh start, besides its warm-up and windows."""


@pytest.mark.docker
@pytest.mark.timeout(600)
def test_an_experiment_has_its_rows_and_claims(results: Path) -> None:
    status, found, said = tandem("reproduce", EXPERIMENT, "--seed", "5", results=results)
    assert status == (0 if found["verdict"] == "ok" else 1)
    own = found["conclusions"]
    assert sum(row["made"] for row in own["rows"]) >= 6
    assert found["verdict"] in ("ok", "void"), said
    [folder] = results.glob("*-reproduce-tiny-smoke")
    trials = [json.loads(file.read_text()) for file in folder.glob("trials/*.json")]
    assert len(trials) >= 4
    assert max(trial["overhead_s"] for trial in trials) <= ADDED_MOST_S
    means = {(one["variant"], one["metric"]): one["mean"] for one in own["estimates"]}
    fast, slow, alone = (means[row["label"], "goodput_rps"] for row in own["rows"])
    if found["verdict"] == "ok":
        # Two threads that sleep 20 ms or 200 ms, and twenty connections: the ceilings are what is reached.
        assert fast == pytest.approx(100, rel=0.1)
        assert slow == pytest.approx(10, rel=0.1)
        assert alone == pytest.approx(1000, rel=0.2)
        [claim] = own["contrasts"]
        assert claim["published"] == 10
        assert claim["ratio"] == pytest.approx(10, rel=0.2)
        assert means["2 threads, 20 ms", "peak_memory_mib"] > 1
    assert json.loads((folder / "result.json").read_text()) == found
    [*logs] = folder.glob("raw/*/psrecord.log")
    assert logs
    assert all(log.read_text().startswith("# Elapsed time") for log in logs)
    assert not bench_containers()

    assert "threads/delay" in printed(folder / "result.json", "--markdown")
