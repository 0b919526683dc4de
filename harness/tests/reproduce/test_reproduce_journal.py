"""What is said about the starts of a step."""

from harness_experiments import made

from tandem.record.window import Verdict
from tandem.reproduce.journal import FEW, told_all


def test_few_rows_are_named_one_by_one() -> None:
    assert told_all([made("one", 1, 100.0), made("two", 1, 50.0)], "goodput_rps") == [
        "one: 100/s, ok",
        "two: 50/s, ok",
    ]


def test_of_many_rows_those_that_do_not_count() -> None:
    good = [made(f"row {n}", 1, 100.0) for n in range(FEW)]
    bad = made("bad", 1, 100.0, verdict=Verdict.VOID, reason="steal", figures={})
    assert told_all([*good, bad], "goodput_rps") == [f"{FEW} of {FEW + 1} rows ok", "bad: void: steal"]
