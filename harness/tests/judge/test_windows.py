"""tandem.judge.windows: what follows from a window in which several applications were loaded at once."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from harness_samples import EXPECTED, counted, good_window

from tandem.judge.judge import Expectation
from tandem.judge.windows import together
from tandem.record.window import Statement, Verdict

BOTH = {"A": EXPECTED, "B": EXPECTED}
ONE = good_window().good + good_window().probes
ALL = 2 * ONE
ZONE = replace(EXPECTED, time_zone=True)
SOME_ZONES = {**counted(ALL), "time_zone": Statement(calls=ONE, rows=0)}
FEWER_ROWS = {**counted(ALL), "steps": Statement(calls=ALL, rows=ALL * 5)}


@pytest.mark.parametrize(
    ("seen", "stored", "expected", "code"),
    [
        (counted(ALL), None, BOTH, None),
        (counted(ONE), None, BOTH, "sql-mismatch"),  # one of two answers from memory
        (FEWER_ROWS, None, BOTH, "sql-rows"),
        # The one sets its time zone with every request, the other when it connects.
        (SOME_ZONES, None, {"A": ZONE, "B": EXPECTED}, None),
        (SOME_ZONES, None, BOTH, "sql-extra"),
        (SOME_ZONES, None, {"A": ZONE, "B": ZONE}, "sql-mismatch"),
        (counted(ALL), ALL, BOTH, None),
        (counted(ALL), ALL - 1, BOTH, "not-stored"),
    ],
)
def test_what_all_did_has_to_fit_all_answers(
    seen: dict[str, Statement], stored: int | None, expected: Mapping[str, Expectation], code: str | None
) -> None:
    found = together({"A": good_window(), "B": good_window()}, seen, stored, expected)
    for window in found.values():
        assert {one.code for one in window.findings} == ({code} if code else set())
        assert window.verdict is (Verdict.INVALID if code else Verdict.OK)


def test_what_the_host_spoiled_stays_void() -> None:
    windows = {"A": good_window(verdict=Verdict.VOID), "B": good_window()}
    found = together(windows, counted(ONE), None, BOTH)
    assert (found["A"].verdict, found["B"].verdict) == (Verdict.VOID, Verdict.INVALID)
