"""`tandem crosscheck` as a user runs it, with real containers."""

import json
from pathlib import Path

import pytest
from harness_commands import printed, tandem

from tandem.record.result import per_variant

pytestmark = [pytest.mark.docker, pytest.mark.weekly]


def test_a_second_generator(results: Path) -> None:
    status, found, said = tandem(
        *("crosscheck", "rust-async", "--pairs", "3", "--window", "4", "--rate", "500"), results=results
    )
    assert found["conclusions"]["word"] in ("agree", "undecided"), said
    assert (status, found["verdict"]) == (0, "ok")
    assert per_variant(found["environments"])["rust-async"]["versions"]["vegeta"] == "12.12.0"
    assert found["conclusions"]["pairs"] + found["conclusions"]["disturbed"] == 3
    [folder] = results.glob("*-crosscheck-*")
    for file in folder.glob("trials/*.json"):
        records = json.loads(file.read_text())["windows"]
        assert [record["spec"]["generator"] for record in records] == [
            *("oha", "vegeta", "vegeta", "oha", "oha", "vegeta")
        ]
        for record in records:
            window = record["windows"]["rust-async"]
            assert window["offered_rps"] == 500
            assert window["good"] == pytest.approx(2000, rel=0.01)
            assert window["proxy"]["responses_2xx"] == pytest.approx(
                window["good"] + window["probes"], abs=11
            )
    assert found["conclusions"]["word"] in printed(folder / "result.json")
