"""`tandem compare` with real containers: several applications up at once, one asked at a time."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLAN = "harness/tests/plans/one-trial.toml"

pytestmark = pytest.mark.docker


def compare(tmp_path: Path, *arguments: str, fault: str = "") -> tuple[int, dict[str, object], str]:
    """Exit status, the record on stdout, what was told on stderr."""
    environment = {**os.environ, "TANDEM_RESULTS": str(tmp_path), "FAULT": fault}
    command = ["python3", "-m", "tandem", "compare", *arguments, "--plan", PLAN, "--json"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr


def test_three_entrants_are_measured_in_turn_and_leave_nothing(tmp_path: Path) -> None:
    status, found, said = compare(
        tmp_path, "rust-async", "rust-async:DB_POOL_MAX=2", "cpp-sync", "--scenario", "recipe", "--seed", "1"
    )
    assert status == 0, said
    entries = {entry["entrant"]: entry for entry in found["findings"]["entries"]}  # type: ignore[index]
    assert list(entries) == ["rust-async", "rust-async:DB_POOL_MAX=2", "cpp-sync"]
    assert entries["rust-async:DB_POOL_MAX=2"]["knobs"]["DB_POOL_MAX"] == "2"
    for entry in entries.values():
        assert entry["verdict"] == "ok"
        assert entry["means"]["goodput_rps"] > 100
    block = json.loads(next(tmp_path.glob("*/blocks/block-1.json")).read_text())
    order = [shot["entrant"] for shot in block["shots"]]
    assert len(order) == 8
    assert order[4:] == order[3::-1]  # the second round runs backwards
    # Who was asked did the work: the frozen ones used no CPU at that time, so each window has its own CPU.
    assert all(shot["window"]["roles"]["app"]["cpu_cores"] > 0.05 for shot in block["shots"])
    # Then all at once, at one rate, and the statements of all were counted together.
    together = {shot["entrant"]: shot["window"] for shot in block["duets"]}
    assert list(together) == block["starts"]
    offered = [window["offered_rps"] for window in together.values()]
    assert offered == [offered[0] + n for n in range(4)]
    answered = sum(window["good"] + window["probes"] for window in together.values())
    assert together["rust-async"]["statements"]["session"]["calls"] == pytest.approx(answered, rel=0.01)
    assert all(entry["means"]["duet_cpu_us_per_request"] > 20 for entry in entries.values())
    left = subprocess.run(
        ["docker", "ps", "-aq", "--filter", "label=com.docker.compose.project=tandem-bench"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert left.stdout == ""


def test_an_entrant_that_lies_is_invalid_and_the_others_are_not(tmp_path: Path) -> None:
    status, found, said = compare(
        tmp_path, "rust-async", "contract/broken", "--scenario", "recipe", fault="cached"
    )
    assert status == 1, said
    entries = {entry["entrant"]: entry for entry in found["findings"]["entries"]}  # type: ignore[index]
    assert entries["rust-async"]["verdict"] == "ok"
    assert entries["contract/broken"]["verdict"] in ("failed", "invalid")
    assert entries["contract/broken"]["means"]["goodput_rps"] is None
