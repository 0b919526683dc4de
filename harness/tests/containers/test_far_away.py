"""A database that is milliseconds away, measured with real containers; the record of it made again by `replay`."""

import json
from pathlib import Path
from typing import Any

import pytest
from harness_commands import TWO_TRIALS, codes, printed, tandem, trials, window

from tandem.record.result import per_variant

pytestmark = pytest.mark.docker

RTT_MS = 15
STATEMENTS = 8
"""Of `recipes`, one after the other."""


@pytest.fixture(scope="module")
def far(kept: Path) -> Path:
    """The folder of two fresh starts."""
    status, record, said = tandem(
        *("bench", "rust-async", "--db-rtt", f"{RTT_MS}ms", "--plan", TWO_TRIALS), results=kept
    )
    assert record["verdict"] in ("ok", "void"), said
    assert status == (0 if record["verdict"] == "ok" else 1)
    return kept / str(record["id"])


def result(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return found


def test_each_statement_waits(far: Path) -> None:
    first = trials(far)[0]
    for found in (window(first, "closed"), window(first, "open")):
        trip = found["db_rtt_ms"]
        assert trip["setting"] == RTT_MS
        assert RTT_MS - 1 <= trip["before_p50"] < RTT_MS + 5
        assert trip["during_p50"] >= RTT_MS
        assert trip["samples"] >= 4
        assert found["roles"]["faults"]["cpu_cores"] > 0
    # Those who measured are not among the application's statements, and the administrator has his own pool.
    assert not codes(trials(far)) & {"sql-extra", "sql-mismatch"}
    # test_end_to_end.py has the control: near by it takes less.
    assert window(first, "closed")["service_time_ms"]["mean"] >= STATEMENTS * RTT_MS
    environment = per_variant(result(far)["environments"])["rust-async"]
    assert environment["variables"]["DATABASE_ADDRESS"] == "faults:6433"
    assert environment["versions"]["toxiproxy"] == "2.12.0"


def test_a_record_is_made_again_and_compared(far: Path, kept: Path) -> None:
    if result(far)["verdict"] == "void":
        pytest.skip("the host disturbed the first run")
    status, told, said = tandem("replay", str(far), results=kept)
    assert told["recorded"] == far.name, said
    folder = kept / told["new"]
    for trial in trials(folder):
        if trial["verdict"] != "failed":  # a share of what the same start has just reached
            closed, opened = window(trial, "closed"), window(trial, "open")
            assert opened["offered_rps"] == int(closed["goodput_rps"] * 0.5)
    assert result(folder)["request"]["conditions"]["db_rtt_ms"] == RTT_MS
    assert told["differences"] == [], said
    figures = {figure["metric"]: figure for figure in told["figures"]}
    assert figures["goodput_rps"]["outcome"] in ("within", "outside") or result(folder)["verdict"] != "ok"
    assert len(figures["goodput_rps"]["recorded"]) == 2
    assert status == (0 if told["reproduced"] else 1)
    assert "recorded and measured again" in printed(folder / "replay.json")
    [file] = (folder / "variants").glob("*/compose.env")
    assert "faults:" in file.read_text(), "a replay keeps the distance"
