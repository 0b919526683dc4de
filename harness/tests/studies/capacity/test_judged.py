"""tandem.studies.capacity.judged and .conclusions: when a rate was held, when a server is back."""

from typing import Any

import pytest
from harness_engine import window_spec
from harness_samples import REQUESTS, finding, good_window

from tandem.errors import TandemError
from tandem.record.trial import WindowRecord
from tandem.record.window import Growth, ResponsesPerSecond, Times, Verdict
from tandem.studies.capacity import judged
from tandem.studies.capacity.conclusions import frozen, recovered_at
from tandem.studies.capacity.judged import State, judge, stalled_again
from tandem.studies.capacity.search import parse_slo

SLO = parse_slo("p99=50ms")
STILL = Growth(slope_ms_per_s=0.1, first_third_ms=5, last_third_ms=5.4, growing=False)


def of(p99: float | None) -> Times:
    return Times(samples=REQUESTS, mean=6, p50=5, p90=9, p99=p99, max=99)


def outcome(growing: Growth | None = STILL, **changes: Any) -> judged.Judged:
    return judge(good_window("open", growth=growing, **changes), SLO)


def test_a_held_rate_passes() -> None:
    made = outcome()
    assert (made.state, made.reasons, made.rate_rps) == (State.PASSED, [], REQUESTS // 30)
    assert outcome(growing=None).state is State.PASSED


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"response_time_ms": of(50.1)}, "p99 was 50.1 ms"),
        ({"failed": {"status 503": 13}}, "13 x status 503"),
        ({"good": REQUESTS - 70, "unsent": 70}, "99.4% of the scheduled"),
    ],
)
def test_a_rate_that_was_not_held_fails(changes: dict[str, Any], told: str) -> None:
    made = outcome(**changes)
    assert made.state is State.FAILED
    assert told in made.reasons[0]


def test_a_growing_backlog_fails() -> None:
    growing = Growth(slope_ms_per_s=9, first_third_ms=5, last_third_ms=40, growing=True)
    assert "the backlog grew" in outcome(growing).reasons[0]


def test_just_within_every_limit_passes() -> None:
    changes: dict[str, Any] = {
        "good": REQUESTS - 11,
        "failed": {"status 503": 11},
        "response_time_ms": of(50.0),
    }
    assert outcome(**changes).state is State.PASSED


def test_a_disturbed_window_is_void_whatever_it_shows() -> None:
    steal = finding("void", "steal", "the hypervisor took 20 %")
    made = outcome(findings=[steal], response_time_ms=of(900.0))
    assert (made.state, made.stalled) == (State.VOID, False)
    assert "hypervisor" in made.reasons[0]


def test_a_generator_that_cannot_is_a_limit_when_it_happens_again() -> None:
    stall = finding("void", judged.STALLED, "the generator was 400 ms late")
    made = outcome(findings=[stall], lateness_ms=of(3.0).model_copy(update={"max": 400.0}))
    assert (made.state, made.stalled) == (State.VOID, True)
    assert stalled_again(made).state is State.FAILED


def test_rows_that_errors_shifted_are_no_lateness() -> None:
    stall = finding("void", judged.STALLED, "the generator was 200 ms late")
    late = of(150.0).model_copy(update={"max": 200.0})
    made = outcome(findings=[stall], lateness_ms=late, failed={"error: timeout": 60})
    assert made.state is State.FAILED
    few = outcome(findings=[stall], lateness_ms=late, failed={"error: timeout": 20})
    assert few.state is State.VOID


@pytest.mark.parametrize("code", judged.WRONG)
def test_wrong_work_is_an_error_even_in_overload(code: str) -> None:
    overload: dict[str, Any] = {
        "good": 6000,
        "unsent": 6000,
        "findings": [finding("invalid", code, "it is wrong")],
    }
    with pytest.raises(TandemError, match="it is wrong"):
        outcome(**overload)


def test_consequences_of_overload_are_the_measurement() -> None:
    found = [finding("invalid", code) for code in ("incomplete", "wrong-answers", "sql-mismatch")]
    assert outcome(good=6000, unsent=6000, findings=found).state is State.FAILED


def test_the_same_findings_without_overload_are_an_error() -> None:
    with pytest.raises(TandemError, match="statements"):
        outcome(findings=[finding("invalid", "sql-mismatch", "other statements")])


def test_requests_that_fail_have_the_studys_own_limit() -> None:
    """Between a run's limit and this one they neither end the search nor fail the rate."""
    few: dict[str, Any] = {"good": 11_991, "failed": {"error: deadline": 9}}
    assert (
        outcome(**few, findings=[finding("invalid", "wrong-answers", "0.08% failed")]).state is State.PASSED
    )


def test_a_wrong_length_is_an_error() -> None:
    with pytest.raises(TandemError, match="length that no correct answer has"):
        outcome(good=6000, failed={"wrong length": 6000})


def test_a_percentile_that_is_not_there_is_an_error() -> None:
    with pytest.raises(TandemError, match="10,000 samples"):
        outcome(response_time_ms=of(None))
    assert outcome(good=6000, response_time_ms=of(None)).state is State.FAILED, "overload is seen without it"


# ---- recovery ----


def test_a_recovery_is_three_good_seconds() -> None:
    assert recovered_at([10.0] * 5, 50) == 0
    assert recovered_at([900.0, 400.0, 20.0, 60.0, 20.0, 20.0, 20.0], 50) == 4
    assert recovered_at([900.0, 20.0, 20.0, None, 20.0, 20.0], 50) is None
    assert recovered_at([], 50) is None


def test_a_frozen_database_is_recovered_from_in_seconds_after_its_thawing() -> None:
    """It froze at 5 s and thawed at 7.4 s; the seconds 5 to 8 were slow."""
    p99: list[float | None] = [*([20.0] * 5), *([900.0] * 4), *([20.0] * 11)]
    table = ResponsesPerSecond(answered=[100] * 20, p50_ms=p99, p90_ms=p99, p99_ms=p99, p999_ms=p99)
    changes: dict[str, Any] = {"offered_rps": 100.0, "scheduled": 2000, "good": 1990, "answer_ms_max": 2400.0}
    window = good_window("open", responses_per_second=table, **changes)
    spec = window_spec("frozen", "a", seconds=20, load="open", rates_rps={"a": 100}, freeze_s=2.4)
    record = WindowRecord(spec=spec, windows={"a": window}, began_s={"a": 1000.0}, frozen_s=[1005.0, 1007.4])
    found = frozen(record, SLO)
    assert (found.scheduled - found.good, found.slowest_ms) == (10, 2400.0)
    assert found.frozen_s == pytest.approx(2.4)
    assert found.recovery_s == pytest.approx(9 - 7.4)
    never = table.model_copy(update={"p99_ms": [20.0] * 5 + [900.0] * 15})
    for_ever = window.model_copy(update={"responses_per_second": never})
    assert frozen(record.model_copy(update={"windows": {"a": for_ever}}), SLO).recovery_s is None
    disturbed = window.model_copy(update={"findings": [finding("void", "steal", "20 %")]})
    told = [
        frozen(record.model_copy(update={"windows": {"a": one}}), SLO).verdict for one in (window, disturbed)
    ]
    assert told == [Verdict.OK, Verdict.VOID]
