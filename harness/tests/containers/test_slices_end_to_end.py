"""`tandem compare` in slices, with real containers: one program with itself, and one beside another that has SQL of its own."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from harness_commands import bench_containers, printed, tandem
from harness_places import ROOT

pytestmark = [pytest.mark.docker, pytest.mark.weekly]

PLAN = str(ROOT / "harness/tests/plans/slices.toml")


def test_a_program_is_compared_with_itself_in_slices(kept: Path) -> None:
    status, found, said = tandem("compare", "rust-async", "--seed", "1", "--plan", PLAN, results=kept)
    files = sorted(kept.glob("*/trials/block-*.json"))
    blocks: list[Any] = [json.loads(file.read_text()) for file in files]
    made = [record for block in blocks for record in block["windows"] if record["spec"]["slices"]]
    assert len(made) >= 2, said
    for window in (window for record in made for window in record["windows"].values()):
        assert window["failed"] == {}, "no request failed, however often its generator stood still"
        assert window["verdict"] != "invalid", window["findings"]
        assert window["tap"]["wrong"] == 0
        slices = window["slices"]
        assert len(slices["good"]) == 4
        assert min(slices["good"]) > 20
        assert min(slices["app_cpu_s"]) > 0
        assert slices["clock_error_ms"] < 20
        assert all(later - one >= 0.9 for one, later in pairwise(slices["from_s"]))
        # The whole window's count agrees with HAProxy's, application by application.
        answered = window["good"] + window["probes"]
        assert window["proxy"]["responses_2xx"] == pytest.approx(answered, abs=2)
        # And a time has no stop of the generator in it, which is as long as a slice.
        assert window["service_time_ms"]["max"] < 900
    for record in made:
        starts = [at for window in record["windows"].values() for at in window["slices"]["from_s"]]
        gaps = [later - one for one, later in pairwise(sorted(starts))]
        assert min(gaps) > 0.9, "one at a time"
    if found["conclusions"]["session"] == "ok":
        assert status == 0, said
        contrasts = found["conclusions"]["contrasts"]
        ratio = next(one for one in contrasts if one["metric"] == "goodput_rps")
        [file] = kept.glob("*/result.json")
        assert f"{ratio['ratio']:.3f}" in printed(file)
    else:
        why = found["reasons"][0]
        assert "windows are void" in why or "differs from itself" in why, said
    assert not bench_containers()


def test_statements_are_counted_together_where_programs_have_sql_of_their_own(kept: Path) -> None:
    """Each window has the counts of all: none may be told that it left out what the other's words did."""
    _, _, said = tandem("compare", "python-async", "fastapi", "--plan", PLAN, results=kept / "own-sql")
    blocks: list[Any] = [json.loads(file.read_text()) for file in kept.glob("own-sql/*/trials/block-*.json")]
    windows = [
        window for block in blocks for record in block["windows"] for window in record["windows"].values()
    ]
    assert windows, said
    codes = {finding["code"] for window in windows for finding in window["findings"]}
    assert not codes & {"sql-mismatch", "sql-extra", "sql-rows"}, said
