"""`tandem replay` as a user runs it, on a record that was made a minute before."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.docker

ROOT = Path(os.environ.get("TANDEM_ROOT", Path(__file__).resolve().parents[2]))
PLAN = str(ROOT / "harness/tests/plans/two-trials.toml")


@pytest.fixture
def results() -> Iterator[Path]:
    folder = ROOT / "results" / f".test-{os.getpid()}-{time.time_ns()}"
    folder.mkdir(parents=True)
    yield folder
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def tandem(results: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["python3", "-m", "tandem", *arguments]
    variables = {**os.environ, "TANDEM_RESULTS": str(results)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=variables, timeout=600)


def test_a_record_is_made_again_and_compared(results: Path) -> None:
    done = tandem(results, "bench", "rust-async", "--plan", PLAN, "--scenario", "index", "--json")
    record = json.loads(done.stdout)
    if record["verdict"] == "void":
        pytest.skip("the host disturbed the first run")
    [file] = results.glob("*/*/run.json")
    again = tandem(results, "replay", str(file), "--json")
    [told] = json.loads(again.stdout)
    assert told["recorded_campaign"] == record["campaign"]
    assert told["differences"] == []
    figures = {figure["metric"]: figure for figure in told["figures"]}
    assert figures["goodput_rps"]["outcome"] in ("within", "outside")
    assert len(figures["goodput_rps"]["recorded"]) == 2
    assert again.returncode == (0 if told["reproduced"] else 1)
    assert (results / told["new_campaign"] / "replay.json").is_file()
