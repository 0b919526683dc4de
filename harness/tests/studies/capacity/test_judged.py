"""tandem.studies.capacity.judged and .conclusions: when a rate was held, when a server is back."""

from typing import Any

import pytest
from harness_engine import window_spec
from harness_samples import REQUESTS, finding, good_window

from tandem.errors import TandemError
from tandem.record.trial import WindowRecord
from tandem.record.window import Growth, ResponsesPerSecond, Times, Verdict
from tandem.studies.capacity import judged
from tandem.studies.capacity.conclusions import FrozenDatabase, frozen, recovered_at
from tandem.studies.capacity.judged import State, judge
from tandem.studies.capacity.search import parse_slo

SLO = parse_slo("p99=50ms")
STILL = Growth(slope_ms_per_s=0.1, first_third_ms=5, last_third_ms=5.4, growing=False)


def of(p99: float | None) -> Times:
    return Times(samples=REQUESTS, mean=6, p50=5, p90=9, p99=p99, max=99)


def outcome(**changes: Any) -> judged.Judged:
    return judge(good_window("open", **{"growth": STILL, **changes}), SLO)


OVERLOAD: dict[str, Any] = {"good": 6000, "unsent": 6000}
GROWING = Growth(slope_ms_per_s=9, first_third_ms=5, last_third_ms=40, growing=True)
STEAL = finding("void", "steal", "the hypervisor took 20 %")
FEW_FAIL = finding("invalid", "wrong-answers", "0.08% failed")
"""Between a run's limit and the study's own: it neither ends the search nor fails the rate."""
CONSEQUENCES = [finding("invalid", code) for code in ("incomplete", "wrong-answers", "sql-mismatch")]
"""In overload they are the measurement."""


@pytest.mark.parametrize(
    ("changes", "state", "reason"),
    [
        ({}, State.PASSED, ""),
        ({"growth": None}, State.PASSED, ""),
        (
            {"good": REQUESTS - 11, "failed": {"status 503": 11}, "response_time_ms": of(50.0)},
            State.PASSED,
            "",
        ),
        ({"good": 11_991, "failed": {"error: deadline": 9}, "findings": [FEW_FAIL]}, State.PASSED, ""),
        ({"response_time_ms": of(50.1)}, State.FAILED, "p99 was 50.1 ms"),
        ({"failed": {"status 503": 13}}, State.FAILED, "13 x status 503"),
        ({"good": REQUESTS - 70, "unsent": 70}, State.FAILED, "99.4% of the scheduled"),
        ({"growth": GROWING}, State.FAILED, "the backlog grew"),
        ({**OVERLOAD, "findings": CONSEQUENCES}, State.FAILED, "of the scheduled"),
        ({**OVERLOAD, "response_time_ms": of(None)}, State.FAILED, "of the scheduled"),
        ({"findings": [STEAL], "response_time_ms": of(900.0)}, State.VOID, "hypervisor"),
    ],
)
def test_what_a_window_comes_to(changes: dict[str, Any], state: State, reason: str) -> None:
    made = outcome(**changes)
    assert (made.state, made.rate_rps, made.stalled) == (state, REQUESTS // 30, False)
    assert reason in "".join(made.reasons[:1])
    assert bool(made.reasons) == (state is not State.PASSED)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        *(
            ({**OVERLOAD, "findings": [finding("invalid", code, "it is wrong")]}, "wrong")
            for code in judged.WRONG
        ),
        ({"findings": [finding("invalid", "sql-mismatch", "other statements")]}, "statements"),
        ({"good": 6000, "failed": {"wrong length": 6000}}, "length that no correct answer has"),
        ({"response_time_ms": of(None)}, "10,000 samples"),
    ],
)
def test_what_no_load_excuses_is_an_error(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(TandemError, match=told):
        outcome(**changes)


def test_what_the_generator_alone_is_late_for_is_told_apart() -> None:
    stall = finding("void", judged.STALLED, "the generator was 400 ms late")
    made = outcome(findings=[stall], lateness_ms=of(3.0).model_copy(update={"max": 400.0}))
    assert (made.state, made.stalled) == (State.VOID, True)


def test_rows_that_errors_shifted_are_no_lateness() -> None:
    stall = finding("void", judged.STALLED, "the generator was 200 ms late")
    late = of(150.0).model_copy(update={"max": 200.0})
    for errors, state in ((60, State.FAILED), (20, State.VOID)):
        made = outcome(findings=[stall], lateness_ms=late, failed={"error: timeout": errors})
        assert made.state is state


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
    assert found.verdict is Verdict.OK

    def but(**other: Any) -> FrozenDatabase:
        return frozen(record.model_copy(update={"windows": {"a": window.model_copy(update=other)}}), SLO)

    never = table.model_copy(update={"p99_ms": [20.0] * 5 + [900.0] * 15})
    assert but(responses_per_second=never).recovery_s is None
    assert but(findings=[STEAL]).verdict is Verdict.VOID
