"""A database that is milliseconds away, measured with real containers; the record of it made again by `replay`."""

import json
from pathlib import Path
from typing import Any

import pytest
from harness_commands import TWO_TRIALS, codes, tandem

pytestmark = pytest.mark.docker

RTT_MS = 15
STATEMENTS = 8
"""Of `recipes`, one after the other."""


@pytest.fixture(scope="module")
def far(kept: Path) -> dict[str, Any]:
    """The record of two fresh starts."""
    status, record, said = tandem(
        *("bench", "rust-async", "--db-rtt", f"{RTT_MS}ms", "--plan", TWO_TRIALS), results=kept
    )
    assert record["verdict"] in ("ok", "void"), said
    assert status == (0 if record["verdict"] == "ok" else 1)
    found: dict[str, Any] = record
    return found


def test_each_statement_waits(far: dict[str, Any]) -> None:
    closed, opened = far["trials"][0]["closed"], far["trials"][0]["open"]
    for window in (closed, opened):
        trip = window["db_rtt_ms"]
        assert trip["setting"] == RTT_MS
        assert RTT_MS - 1 <= trip["before_p50"] < RTT_MS + 5
        assert trip["during_p50"] >= RTT_MS
        assert trip["samples"] >= 4
        assert window["roles"]["faults"]["cpu_cores"] > 0
    # Those who measured are not among the application's statements, and the administrator has his own pool.
    assert not codes(far) & {"sql-extra", "sql-mismatch"}
    # test_end_to_end.py has the control: near by it takes less.
    assert closed["service_time_ms"]["mean"] >= STATEMENTS * RTT_MS
    assert far["environment"]["variables"]["DATABASE_ADDRESS"] == "faults:6432"
    assert far["environment"]["versions"]["toxiproxy"] == "2.12.0"


def test_a_record_is_made_again_and_compared(far: dict[str, Any], kept: Path) -> None:
    if far["verdict"] == "void":
        pytest.skip("the host disturbed the first run")
    [file] = kept.glob("*/*/run.json")
    status, [told], said = tandem("replay", str(file), results=kept)
    assert told["recorded_campaign"] == far["campaign"], said
    folder = kept / told["new_campaign"]
    [again] = folder.glob("*/run.json")
    for trial in json.loads(again.read_text())["trials"]:
        if trial["open"]:  # a share of what the same start has just reached
            assert trial["open"]["offered_rps"] == int(trial["closed"]["goodput_rps"] * 0.5)
    assert told["differences"] == [], said
    figures = {figure["metric"]: figure for figure in told["figures"]}
    assert figures["goodput_rps"]["outcome"] in ("within", "outside")
    assert len(figures["goodput_rps"]["recorded"]) == 2
    assert status == (0 if told["reproduced"] else 1)
    assert (folder / "replay.json").is_file()
    assert "faults:" in next(folder.rglob("compose.env")).read_text(), "a replay keeps the distance"
