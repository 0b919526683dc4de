"""With real containers: a database that is milliseconds away, a second load generator, two more liars."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]

ROOT = Path(os.environ.get("TANDEM_ROOT", Path(__file__).resolve().parents[2]))
PLAN = str(ROOT / "harness/tests/plans/one-trial.toml")
RTT_MS = 15
STATEMENTS = 8
"""Of `recipes`, one after the other."""


@pytest.fixture
def results() -> Iterator[Path]:
    """A folder for results that the engine's host sees too, because it is inside the repository."""
    folder = ROOT / "results" / f".test-conditions-{os.getpid()}"
    folder.mkdir(parents=True)
    yield folder
    subprocess.run(["rm", "-rf", folder], check=True)


def tandem(results: Path, *arguments: str, **variables: str) -> tuple[int, dict[str, Any]]:
    """Exit status and the JSON of stdout."""
    done = subprocess.run(
        ["python3", "-m", "tandem", *arguments, "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "TANDEM_RESULTS": str(results), **variables},
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def bench(results: Path, *arguments: str, **variables: str) -> dict[str, Any]:
    return tandem(results, "bench", *arguments, "--plan", PLAN, **variables)[1]


def codes(record: dict[str, Any], load: str) -> set[str]:
    return {finding["code"] for trial in record["trials"] for finding in trial[load]["findings"]}


# ---- latency ----


def test_a_database_that_is_far_away(results: Path) -> None:
    far = bench(results, "rust-async", "--db-rtt", f"{RTT_MS}ms")
    near = bench(results, "rust-async")
    for record in (far, near):
        assert record["verdict"] in ("ok", "void"), record["reasons"]
    closed, opened = far["trials"][0]["closed"], far["trials"][0]["open"]
    for window in (closed, opened):
        trip = window["db_rtt_ms"]
        assert trip["setting"] == RTT_MS
        assert RTT_MS - 1 <= trip["before_p50"] < RTT_MS + 5
        assert trip["during_p50"] >= RTT_MS
        assert trip["samples"] >= 6
        assert window["roles"]["faults"]["cpu_cores"] > 0
    # Those who measured are not among the application's statements, and the administrator has his own pool.
    assert not codes(far, "closed") & {"sql-extra", "sql-mismatch"}
    grown = closed["service_time_ms"]["mean"] - near["trials"][0]["closed"]["service_time_ms"]["mean"]
    assert grown >= STATEMENTS * RTT_MS
    assert far["environment"]["variables"]["DATABASE_ADDRESS"] == "faults:6432"
    assert far["environment"]["versions"]["toxiproxy"] == "2.12.0"
    # The control: not asked for, not there.
    assert near["trials"][0]["closed"]["db_rtt_ms"] is None
    assert "faults" not in near["trials"][0]["closed"]["roles"]
    assert "faults" not in near["environment"]["images"]
    assert near["environment"]["variables"]["DATABASE_ADDRESS"] == "pgbouncer:6432"


@pytest.mark.parametrize("topology", ["direct"])
def test_a_database_that_is_far_away_without_a_pooler(topology: str, results: Path) -> None:
    record = bench(results, "rust-async", "--db-rtt", "5ms", "--topology", topology, "--scenario", "recipe")
    assert record["verdict"] in ("ok", "void"), record["reasons"]
    assert 4 <= record["trials"][0]["closed"]["db_rtt_ms"]["before_p50"] < 10
    assert record["trials"][0]["closed"]["pooler"] is None


# ---- second opinion ----


@pytest.mark.timeout(120)
def test_a_second_generator(results: Path) -> None:
    status, found = tandem(
        results, "crosscheck", "rust-async", "--pairs", "3", "--window", "4", "--rate", "500"
    )
    assert found["verdict"] in ("agree", "undecided"), found["reasons"]
    assert status == 0
    assert found["versions"]["vegeta"] == "12.12.0"
    assert found["pairs"] + found["disturbed"] == 3
    for pair in found["windows"]:
        for window in pair.values():
            assert window["offered_rps"] == 500
            assert window["good"] == pytest.approx(2000, rel=0.01)
            assert window["proxy"]["responses_2xx"] == pytest.approx(
                window["good"] + window["probes"], abs=11
            )
    [file] = results.glob("*-crosscheck-rust-async/crosscheck.json")
    assert json.loads(file.read_text()) == found


# ---- liars ----


def test_a_note_that_is_acknowledged_and_lost(results: Path) -> None:
    """With few requests at once it stores them, so that nothing is seen before the load."""
    record = bench(results, "contract/broken", "--scenario", "note-write", FAULT="note-lost-under-load")
    assert record["verdict"] == "invalid", record["reasons"]
    assert "not-stored" in codes(record, "closed")
    assert record["summary"]["goodput_rps"] is None


def test_a_silent_connection_that_is_closed(results: Path) -> None:
    """It closes what is silent for three seconds."""
    record = bench(results, "contract/broken", "--scenario", "idle", FAULT="short-keep-alive")
    assert record["verdict"] == "invalid", record["reasons"]
    assert "idle-lost" in codes(record, "closed")


@pytest.mark.parametrize("scenario", ["note-write", "idle"])
def test_the_same_backend_without_a_fault_loses_nothing(scenario: str, results: Path) -> None:
    record = bench(results, "contract/broken", "--scenario", scenario)
    assert not codes(record, "closed") & {"not-stored", "idle-lost"}, record["reasons"]
