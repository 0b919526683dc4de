"""tandem.judge.windows: what follows from a window in which several applications were loaded at once."""

from dataclasses import replace

import pytest
from harness_samples import EXPECTED, counted, good_window

from tandem.judge.windows import together
from tandem.record.window import Statement, Verdict, Window

BOTH = {"A": EXPECTED, "B": EXPECTED}


@pytest.fixture
def two() -> dict[str, Window]:
    return {"A": good_window(), "B": good_window()}


def answered(windows: dict[str, Window]) -> int:
    return sum(window.good + window.probes for window in windows.values())


def test_the_statements_of_all_have_to_fit_all_answers(two: dict[str, Window]) -> None:
    fits = together(two, counted(answered(two)), None, BOTH)
    assert [window.verdict for window in fits.values()] == [Verdict.OK, Verdict.OK]
    # Negative control: one of two answers from memory, so half of the statements are missing.
    short = together(two, counted(answered(two) // 2), None, BOTH)
    assert [window.verdict for window in short.values()] == [Verdict.INVALID, Verdict.INVALID]
    assert short["A"].findings[0].code == "sql-mismatch"


def test_the_rows_of_all_have_to_fit_all_answers(two: dict[str, Window]) -> None:
    seen = counted(answered(two))
    seen["steps"] = Statement(calls=answered(two), rows=answered(two) * 5)
    assert together(two, seen, None, BOTH)["A"].findings[0].code == "sql-rows"


def test_each_may_have_settings_of_its_own(two: dict[str, Window]) -> None:
    """The one sets its time zone with every request, the other when it connects."""
    expected = {"A": replace(EXPECTED, time_zone=True), "B": EXPECTED}
    seen = counted(answered(two))
    ones = two["A"].good + two["A"].probes
    seen["time_zone"] = Statement(calls=ones, rows=0)
    assert together(two, seen, None, expected)["A"].verdict is Verdict.OK
    assert together(two, seen, None, BOTH)["A"].verdict is Verdict.INVALID
    both = {name: replace(EXPECTED, time_zone=True) for name in two}
    assert together(two, seen, None, both)["A"].findings[0].code == "sql-mismatch"


def test_rows_that_are_not_stored_are_noticed(two: dict[str, Window]) -> None:
    calls = answered(two)
    assert together(two, counted(calls), calls, BOTH)["A"].verdict is Verdict.OK
    found = together(two, counted(calls), calls - 1, BOTH)["A"].findings
    assert [finding.code for finding in found] == ["not-stored"]


def test_what_the_host_spoiled_stays_void(two: dict[str, Window]) -> None:
    two["A"].verdict = Verdict.VOID
    found = together(two, counted(answered(two) // 2), None, BOTH)
    assert (found["A"].verdict, found["B"].verdict) == (Verdict.VOID, Verdict.INVALID)
