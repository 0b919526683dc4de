"""tandem.facts: one rule for what counts, one function for all figures, and that both give what every record says."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from harness_engine import made_trial, trial_spec
from harness_samples import good_window

from tandem.facts.estimate import estimates, ratio
from tandem.facts.fact import at_full_load, counting, facts
from tandem.record.conclusion import Estimate
from tandem.record.request import Variant
from tandem.record.trial import Trial
from tandem.record.window import Finding, Severity, Verdict, Window
from tandem.studies.registry import read_folder


def made(
    label: str, block: int, rate: float, verdict: Verdict = Verdict.OK, attempt: int = 1, minute: int = 0
) -> Trial:
    """A start with one closed window."""
    spec = trial_spec(f"{block}-{label}", label, block=block, attempt=attempt)
    own = made_trial(spec, verdict, closed=good_window("closed", goodput_rps=rate), open=None)
    severity: Severity = "void" if verdict is Verdict.VOID else "invalid"
    findings = [] if verdict is Verdict.OK else [Finding.of("x", severity, f"attempt {attempt}")]
    return own.model_copy(
        update={"started_at": datetime(2026, 1, 1, 0, minute, tzinfo=UTC), "findings": findings}
    )


def goodput(read: Window) -> float:
    return read.goodput_rps


def test_of_a_start_that_was_made_again_the_last_good_attempt_counts() -> None:
    trials = [
        made("a", 1, 10.0),
        made("a", 1, 12.0, attempt=2, minute=1),
        made("a", 1, 99.0, Verdict.VOID, attempt=3, minute=2),
        made("a", 2, 20.0, minute=3),
    ]
    assert [one.window.goodput_rps for one in counting(facts(trials))] == [12.0, 20.0]
    assert counting(facts(trials[2:3])) == [], "a void start has no figure"


def test_a_ratio_lives_within_a_block_that_was_made_once() -> None:
    trials = [
        made("a", 1, 10.0),
        made("b", 1, 40.0),
        made("a", 1, 12.0, attempt=2, minute=1),
        made("b", 1, 99.0, Verdict.VOID, attempt=2, minute=1),
    ]
    of = {
        label: at_full_load([one for one in facts(trials) if one.good and one.label == label])
        for label in "ab"
    }
    assert ratio(of["b"], of["a"], goodput).ratio == pytest.approx(4.0), "not 40 / 12: that is of two hours"


def test_a_variant_stands_at_its_coordinates_and_says_why_it_has_no_figure() -> None:
    variants = [
        Variant(label="x pool=5", base="x", coordinates={"pool": 5}, implementation="x"),
        Variant(label="y", implementation="y"),
    ]
    trials = [
        made("x pool=5", 1, 10.0),
        made("x pool=5", 2, 14.0),
        made("y", 1, 5.0, Verdict.INVALID),
        made("y", 2, 5.0),
    ]
    found = estimates(trials, variants)
    first = next(one for one in found if one.metric == "goodput_rps")
    assert (first.variant, first.coordinates, first.mean, first.n) == ("x", {"pool": 5}, 12.0, 2)
    assert first.interval is not None
    [wrong] = [one for one in found if one.variant == "y"]
    assert (wrong.mean, wrong.verdict) == (None, Verdict.INVALID), (
        "a wrong answer says something about the program"
    )
    assert wrong.reasons == ["1-y: attempt 1"]


FOLDERS = ("reference", "questions", "comparisons/falcon", "crossovers/python", "explanations/published-rust")


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_a_record_says_follows_from_its_trials(root: Path, folder: str) -> None:
    """To six digits, and with nothing but the trials and what their labels stand for."""
    _, result, trials = read_folder(root / "results" / folder)
    derived = estimates(trials, result.variants)
    again = [Estimate.model_validate_json(one.model_dump_json()) for one in derived]
    assert again == result.conclusions.estimates
