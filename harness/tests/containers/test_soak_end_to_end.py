"""`tandem start` and `tandem soak` as a user runs them, with real containers."""

import json
from pathlib import Path
from typing import Any

import pytest
from harness_commands import run
from harness_lies import LEAK

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]

PROGRAM = "contract/broken"


def figures(kept: Path, *command: str, fault: str = "") -> dict[str, Any]:
    """Metric -> estimate, of a command that ends well."""
    words = ("python3", "-m", "tandem", *command, "--json", "--scenario", "index")
    done = run(*words, TANDEM_RESULTS=str(kept), FAULT=fault)
    assert done.returncode == 0, done.stderr
    return {one["metric"]: one for one in json.loads(done.stdout)["conclusions"]["estimates"]}


def test_a_cold_start_has_its_moments(kept: Path) -> None:
    found = figures(kept, "start", PROGRAM, "--starts", "2", "--load", "6")
    first, right = found["first_answer_s"], found["first_right_s"]
    assert first["n"] == 2
    # An interpreter and its modules take a while, and a minute is what any start has.
    assert 0.03 < first["mean"] <= right["mean"] < 30
    assert found["memory_rest_mib"]["mean"] > 1


@pytest.mark.weekly
@pytest.mark.parametrize("fault", ["", LEAK[0]])
def test_a_leak_shows_in_a_long_run(kept: Path, fault: str) -> None:
    """The control: without it nothing grows."""
    found = figures(kept, "soak", PROGRAM, "--for", "100s", "--window", "10", "--share", "0.3", fault=fault)
    grown = found[LEAK[1]]
    if fault:
        offered = found["goodput_rps"]["mean"]
        assert grown["mean"] == pytest.approx(offered * 60 * 10 / 1024, rel=0.3), "10 KiB of each request"
    else:
        assert grown["interval"][0] < 0.1, grown
