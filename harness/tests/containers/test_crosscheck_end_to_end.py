"""`tandem crosscheck` as a user runs it, with real containers."""

from pathlib import Path

import pytest
from harness_commands import printed, tandem

pytestmark = pytest.mark.docker


def test_a_second_generator(results: Path) -> None:
    status, found, said = tandem(
        *("crosscheck", "rust-async", "--pairs", "3", "--window", "4", "--rate", "500"), results=results
    )
    assert found["verdict"] in ("agree", "undecided"), said
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
    assert found["verdict"] in printed(file)
