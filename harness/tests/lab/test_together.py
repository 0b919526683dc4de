"""tandem.compare.duet: what follows from a window in which several applications were loaded at once."""

from dataclasses import replace

import pytest
from harness_samples import EXPECTED, STATEMENTS, good_window
from harness_windows import series

from tandem.compare.duet import of_one, rates, together
from tandem.hosts.host import Usage
from tandem.old.observe import Observed
from tandem.probes.sampler import Sample, Series
from tandem.record.window import Statement, Verdict, Window

BOTH = {"A": EXPECTED, "B": EXPECTED}


def observed(calls: int, stored_rows: int | None = None) -> Observed:
    statements = {name: Statement(calls=calls, rows=calls) for name in STATEMENTS}
    return Observed(Series(), statements, None, None, stored_rows, {}, {})


@pytest.fixture
def two() -> dict[str, Window]:
    return {"A": good_window(), "B": good_window()}


def answered(windows: dict[str, Window]) -> int:
    return sum(window.good + window.probes for window in windows.values())


def test_all_together_stay_below_what_the_slowest_reaches_alone() -> None:
    assert rates([1000.0, 400.0]) == [120, 121]
    assert sum(rates([1000.0, 400.0])) < 400
    assert rates([0.5]) == [1]


def test_no_two_are_asked_in_step() -> None:
    assert len(set(rates([500.0] * 4))) == 4


def test_each_window_sees_its_own_application_and_forgets_none() -> None:
    grown = [
        Sample(
            at_s=one.at_s,
            usage={
                **one.usage,
                "app 2": Usage(cpu_s=10.0 + 3 * n, anonymous_bytes=7, throttled_s=0.0),
            },
            host=one.host,
            proxy=None,
            pooler=None,
        )
        for n, one in enumerate(series().samples)
    ]
    seen = of_one(Series(grown), "app 2")
    assert seen.samples[0].usage["app"].cpu_s == 10.0
    assert seen.samples[0].usage["app 2"] == grown[0].usage["app"]
    assert {sum(u.cpu_s for u in s.usage.values()) for s in seen.samples} == {
        sum(u.cpu_s for u in s.usage.values()) for s in grown
    }
    assert of_one(Series(grown), "app").samples[0].usage["app"] == grown[0].usage["app"]


def test_the_statements_of_all_have_to_fit_all_answers(two: dict[str, Window]) -> None:
    fits = together(two, observed(answered(two)), BOTH)
    assert [window.verdict for window in fits.values()] == [Verdict.OK, Verdict.OK]
    # Negative control: one of two answers from memory, so half of the statements are missing.
    short = together(two, observed(answered(two) // 2), BOTH)
    assert [window.verdict for window in short.values()] == [Verdict.INVALID, Verdict.INVALID]
    assert short["A"].findings[0].code == "sql-mismatch"


def test_each_may_have_settings_of_its_own(two: dict[str, Window]) -> None:
    """The one sets its time zone with every request, the other when it connects."""
    expected = {"A": replace(EXPECTED, time_zone=True), "B": EXPECTED}
    seen = observed(answered(two))
    ones = two["A"].good + two["A"].probes
    seen.statements["time_zone"] = Statement(calls=ones, rows=0)
    assert together(two, seen, expected)["A"].verdict is Verdict.OK
    assert together(two, seen, BOTH)["A"].verdict is Verdict.INVALID
    both = {name: replace(EXPECTED, time_zone=True) for name in two}
    assert together(two, seen, both)["A"].findings[0].code == "sql-mismatch"


def test_rows_that_are_not_stored_are_noticed(two: dict[str, Window]) -> None:
    calls = answered(two)
    assert together(two, observed(calls, calls), BOTH)["A"].verdict is Verdict.OK
    found = together(two, observed(calls, calls - 1), BOTH)["A"].findings
    assert [finding.code for finding in found] == ["not-stored"]


def test_what_the_host_spoiled_stays_void(two: dict[str, Window]) -> None:
    two["A"].verdict = Verdict.VOID
    found = together(two, observed(answered(two) // 2), BOTH)
    assert (found["A"].verdict, found["B"].verdict) == (Verdict.VOID, Verdict.INVALID)
