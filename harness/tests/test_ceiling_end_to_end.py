"""`tandem ceiling` as a user runs it, with real containers."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.docker, pytest.mark.timeout(900)]

ROOT = Path(os.environ.get("TANDEM_ROOT", Path(__file__).resolve().parents[2]))
PLANS = ROOT / "harness/tests/plans"


def tandem(*arguments: str, **variables: str) -> tuple[int, Any, str]:
    """Exit status, the JSON of stdout, stderr."""
    done = subprocess.run(
        ["python3", "-m", "tandem", *arguments, "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


@pytest.fixture
def results() -> Iterator[Path]:
    """A folder for results that the engine's host sees too, because it is inside the repository."""
    folder = ROOT / "results" / f".test-ceiling-{os.getpid()}"
    folder.mkdir(parents=True)
    yield folder
    subprocess.run(["rm", "-rf", folder], check=True)


def test_ceilings_and_shares(results: Path) -> None:
    plan = str(PLANS / "two-rounds.toml")
    names = ["rust-async", "contract/broken"]
    status, found, said = tandem(
        "ceiling",
        *names,
        "--plan",
        plan,
        "--scenario",
        "recipe",
        TANDEM_RESULTS=str(results),
        FAULT="wrong-body",
    )
    assert status == 0, said
    assert found["ceilings"].keys() == {"proxy", "null", "database"}
    for name, figure in found["ceilings"].items():
        assert len(figure["values"]) + len(figure["refused"]) == 2, name
        assert all(value > 0 for value in figure["values"])
        # The host may disturb a round; nothing else may be in the way of a ceiling.
        assert all(": void:" in reason for reason in figure["refused"]), figure["refused"]
    assert found["ceilings"]["database"]["values"]
    honest, liar = found["implementations"]["rust-async"], found["implementations"]["contract/broken"]
    assert len(honest["values"]) + len(honest["refused"]) == 2
    assert liar["values"] == []
    assert all("golden" in reason for reason in liar["refused"])
    [file] = results.glob("*-ceiling-recipe/ceiling.json")
    assert json.loads(file.read_text()) == found
