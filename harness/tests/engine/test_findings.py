"""tandem.engine.findings, tandem.report.parts: what of each variant was compared, and how often it was started again."""

from harness_engine import FakeFloor, request, result_of, trial_spec
from harness_samples import good_window, tap

from tandem.engine.findings import compared, made_again
from tandem.record.result import Concluded, Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.report.parts import checked


def made(*labels: str, again: bool = False) -> Trial:
    spec = trial_spec("1-x", *labels)
    floor = FakeFloor(lambda spec, window: good_window(window.load, tap=tap(100), requests=1000))
    return floor.visit(spec.again() if again else spec)


def test_each_variant_has_its_own_count() -> None:
    trials = [made("one"), made("one", again=True), made("one", "two")]
    assert made_again(trials) == {"one": 1}
    # Two windows in a visit alone, two of each in the other.
    assert compared(trials) == {
        "one": "600 of 6,000 answers compared for 0.60 s of CPU",
        "two": "200 of 2,000 answers compared for 0.20 s of CPU",
    }


def test_where_nothing_was_tapped_or_repeated_nothing_is_said() -> None:
    trials = [FakeFloor(lambda spec, window: good_window(window.load, tap=None)).visit(trial_spec())]
    assert (compared(trials), made_again(trials)) == ({}, {})


def test_both_are_told_below_the_tables() -> None:
    found = Concluded(verdict=Verdict.OK, conclusions=Conclusions())
    told = {"one": "600 of 6,000 answers compared"}
    lines = [
        text.plain for text in checked(result_of(request(), found, compared=told, made_again={"one": 2}))
    ]
    assert lines == [
        "read on the wire: one 600 of 6,000 answers compared",
        "starts repeated because the host disturbed their block: one 2",
    ]
    assert checked(result_of(request(), found)) == []
