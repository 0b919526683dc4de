"""`tandem capacity` and `tandem sweep` as a user runs them, with real containers."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]

ROOT = Path(os.environ.get("TANDEM_ROOT", Path(__file__).resolve().parents[2]))
PLANS = ROOT / "harness/tests/plans"


@pytest.fixture
def results() -> Iterator[Path]:
    """A folder for results that the engine's host sees too, because it is inside the repository."""
    folder = ROOT / "results" / f".test-search-{os.getpid()}-{time.time_ns()}"
    folder.mkdir(parents=True)
    yield folder
    subprocess.run(["rm", "-rf", folder], check=True)


def command(*arguments: str) -> list[str]:
    return ["python3", "-m", "tandem", *arguments, "--json"]


def tandem(results: Path, *arguments: str) -> tuple[int, Any, str]:
    """Exit status, the JSON of stdout, stderr."""
    done = subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        env={**os.environ, "TANDEM_RESULTS": str(results)},
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def interrupt(results: Path, arguments: list[str], begun: Callable[[], bool]) -> None:
    """Starts a command and ends it by Ctrl-C once it has begun to keep something."""
    environment = {**os.environ, "TANDEM_RESULTS": str(results)}
    process = subprocess.Popen(
        command(*arguments), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 300
    while not begun() and time.monotonic() < deadline:
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "--resume" in said
    assert not containers()


def containers() -> list[str]:
    flags = ["--filter", "label=com.docker.compose.project=tandem-bench"]
    return subprocess.run(
        ["docker", "ps", "-aq", *flags], capture_output=True, text=True, check=True
    ).stdout.split()


def test_a_capacity_that_is_interrupted_goes_on(results: Path) -> None:
    asked = ["capacity", "rust-async", "--scenario", "index", "--plan", str(PLANS / "capacity.toml")]
    asked += ["--slo", "p90=100ms", "--seed", "1"]

    def kept() -> list[Any]:
        """The probes of the search that are there."""
        files = results.glob("*-capacity-rust-async-index/progress.json")
        return [probe for file in files for probe in json.loads(file.read_text())["search"]]

    interrupt(results, asked, lambda: bool(kept()))
    before = kept()
    status, found, said = tandem(results, *asked[:-1], "2", "--resume")
    assert found is not None, said
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
    assert found["environment"]["versions"]["oha"]
    assert not containers()


def test_a_sweep_that_is_interrupted_goes_on(results: Path) -> None:
    asked = ["sweep", "rust-async", "--over", "connections=4,16", "--rounds", "2", "--scenario", "index"]
    asked += ["--plan", str(PLANS / "two-rounds.toml"), "--seed", "5"]
    interrupt(results, asked, lambda: bool(list(results.glob("*/points/*.json"))))
    [first] = results.glob("*/points/*.json")
    before = first.read_text()

    status, found, said = tandem(results, *asked[:-1], "6", "--resume")
    assert found is not None, said
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
    assert not containers()
