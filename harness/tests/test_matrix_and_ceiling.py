"""`tandem matrix` and `tandem ceiling` as a user runs them, with real containers."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tandem.catalog import Catalog

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


def test_every_implementation_serves_what_it_does_not_decline(real: Catalog) -> None:
    status, squares, said = tandem("matrix")
    wrong = [square for square in squares if square["outcome"] not in ("ok", "unsupported")]
    assert not wrong, said
    assert status == 0
    assert len(squares) == len(real.implementations) * len(real.scenarios)
    declined = {(s["implementation"], s["scenario"]) for s in squares if s["outcome"] == "unsupported"}
    declared = {(n, s) for n, i in real.implementations.items() for s in i.unsupported.scenarios}
    assert declined == declared


@pytest.mark.parametrize(
    ("fault", "scenario"),
    [("wrong-body", "recipes"), ("extra-statement", "recipe"), ("missing-statement", "recipe")],
)
def test_a_wrong_implementation_is_seen(fault: str, scenario: str) -> None:
    status, squares, _ = tandem("matrix", "contract/broken", FAULT=fault)
    outcomes = {square["scenario"]: square["outcome"] for square in squares}
    assert status == 1
    assert outcomes[scenario] == "wrong"
    assert outcomes["index"] == "ok"


def test_an_implementation_that_dies_is_seen() -> None:
    status, squares, _ = tandem("matrix", "harness/tests/dying")
    assert status == 1
    assert {square["outcome"] for square in squares} == {"failed"}


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
