"""tandem.studies.bench.conclusions: summaries, verdicts and findings of a variant."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from harness_engine import made_trial, trial_spec
from harness_samples import finding, good_window

from tandem.analysis.histogram import encode
from tandem.load.rows import times
from tandem.record.trial import Trial
from tandem.record.window import Finding, Times, Verdict
from tandem.studies.bench.conclusions import (
    Summary,
    bottleneck_of,
    findings_of,
    pool,
    response_spread,
    row,
    summarise,
    verdict_of,
)


def made(
    number: int = 1, verdict: Verdict = Verdict.OK, findings: Sequence[Finding] = (), **windows: Any
) -> Trial:
    """The n-th fresh start of `one`."""
    trial = made_trial(trial_spec(f"{number}-one", block=number), verdict, **windows)
    trial.findings += findings
    return trial


# ---- summary ----


def trial(index: int, goodput: float, cost: float, closed_peak: int, open_peak: int) -> Trial:
    closed = good_window(
        "closed", goodput_rps=goodput, app_cpu_us_per_request=cost, app_memory_peak_bytes=closed_peak
    )
    opened = good_window("open", offered_rps=600.0, app_memory_peak_bytes=open_peak)
    return made(index, closed=closed, open=opened)


def test_the_summary_of_known_trials() -> None:
    trials = [trial(1, 900, 100, 10, 20), trial(2, 1000, 110, 70, 30), trial(3, 1100, 120, 10, 40)]
    responses = [np.full(4000, 0.010), np.full(4000, 0.020), np.full(4000, 0.030)]
    found = summarise(trials, times(np.concatenate(responses)))
    assert found.goodput_rps == pytest.approx(1000)
    assert found.goodput_rps_interval == pytest.approx((1000 - 248.4, 1000 + 248.4), abs=0.1)
    assert found.response_time_ms.p50 == pytest.approx(20)
    assert found.response_time_ms.p90 == pytest.approx(30)
    assert found.response_time_ms.p99 == pytest.approx(30)
    assert found.response_time_ms.p999 is None
    assert found.response_time_samples == 12_000
    assert found.offered_rps == pytest.approx(600)
    assert found.app_cpu_us_per_request == pytest.approx(110)
    assert found.app_memory_peak_bytes == 70
    assert found.trials_ok == 3


@pytest.mark.parametrize("verdict", [Verdict.VOID, Verdict.INVALID, Verdict.FAILED])
def test_only_good_trials_count(verdict: Verdict) -> None:
    bad = trial(2, 9_999_999, 1, 2**40, 2**40).model_copy(update={"verdict": verdict})
    good = [trial(1, 900, 100, 10, 20), trial(3, 1100, 120, 10, 40)]
    pooled = times(np.array([0.010, 0.030] * 4000))
    assert summarise([good[0], bad, good[1]], pooled) == summarise(good, pooled)
    assert summarise([bad], Times(samples=0)) == Summary()


def test_the_response_times_of_good_trials_are_pooled() -> None:
    fast, slow, lost = (encode(np.full(6000, seconds)) for seconds in (0.010, 0.030, 5.0))
    trials = [
        made(1, open=good_window("open", response_time_hdr=fast)),
        made(2, Verdict.VOID, open=good_window("open", response_time_hdr=lost)),
        made(3, open=good_window("open", response_time_hdr=slow)),
        made(4),  # nothing measured
    ]
    found = pool(trials)
    assert (found.samples, found.p999) == (12_000, None)
    assert found.p50 == pytest.approx(10, rel=0.001)
    assert found.p90 == found.p99 == pytest.approx(30, rel=0.001)


def test_what_was_not_measured_stays_null() -> None:
    unmeasured = made(
        closed=good_window(app_cpu_us_per_request=None, app_memory_peak_bytes=None),
        open=good_window("open", app_memory_peak_bytes=None),
    )
    found = summarise([unmeasured], times(np.full(10, 0.01)))
    assert found.app_cpu_us_per_request is None
    assert found.app_memory_peak_bytes is None
    assert found.response_time_ms.p50 is None
    assert found.goodput_rps_interval is None
    assert found.goodput_rps is not None


def test_nothing_is_published_of_a_variant_that_is_not_ok() -> None:
    found = row("one", [made(1), made(2, Verdict.INVALID)], 2)
    assert found.verdict is Verdict.INVALID
    assert found.summary == Summary(trials_ok=1)
    figures = found.summary.model_dump(exclude={"trials_ok", "response_time_samples", "response_time_ms"})
    assert set(figures.values()) == {None}
    assert set(found.summary.response_time_ms.model_dump().values()) == {None}


# ---- verdict ----


def failing(index: int, verdict: Verdict, severity: str) -> Trial:
    return made(index, verdict, [finding(severity, "code", "the reason")])  # type: ignore[arg-type]


OK = Verdict.OK
VOID, INVALID, FAILED = (
    failing(4, Verdict.VOID, "void"),
    failing(5, Verdict.INVALID, "invalid"),
    failing(6, Verdict.FAILED, "invalid"),
)


@pytest.mark.parametrize(
    ("others", "good", "told"),
    [
        ([], 3, Verdict.OK),
        ([VOID], 3, Verdict.OK),
        ([VOID], 2, Verdict.VOID),
        ([], 2, Verdict.VOID),
        ([INVALID], 3, Verdict.INVALID),
        ([VOID, INVALID], 0, Verdict.INVALID),
        ([FAILED], 3, Verdict.FAILED),
        ([FAILED, INVALID], 3, Verdict.FAILED),
    ],
)
def test_the_verdict_of_a_variant(others: list[Trial], good: int, told: Verdict) -> None:
    trials = [made(i + 1) for i in range(good)] + others
    verdict, reasons = verdict_of(trials, 3)
    assert verdict is told
    assert bool(reasons) is (told is not Verdict.OK)


def test_a_reason_names_its_trial() -> None:
    assert verdict_of([INVALID], 1) == (Verdict.INVALID, ["5-one: the reason"])


def test_reasons_come_from_windows_too_and_leave_warnings_out() -> None:
    window = good_window(
        findings=[finding("invalid", "a", "from a window"), finding("warning", "b", "only a warning")]
    )
    _, reasons = verdict_of([made(1, Verdict.INVALID, closed=window)], 1)
    assert reasons == ["1-one: from a window"]


def test_disturbed_starts_and_those_made_again_are_counted() -> None:
    """A start may be wrong and disturbed at once; a start that was good is made again with its block."""
    both = made(2, Verdict.INVALID, [finding("invalid", "a", "wrong"), finding("void", "b", "steal")])
    again = made(1)
    again.spec = again.spec.again()
    found = row("one", [made(1), both, again], 2)
    assert (found.verdict, found.disturbed, found.retried) == (Verdict.INVALID, 1, 1)
    assert (row("one", [made(1)], 1).disturbed, row("one", [made(1)], 1).retried) == (0, 0)


def test_too_few_trials_say_so() -> None:
    assert verdict_of([made(1)], 3) == (Verdict.VOID, ["only 1 of 3 trials were made"])


# ---- bottleneck, warnings ----


def limited(index: int, tag: str, verdict: Verdict = OK) -> Trial:
    return made(index, verdict, closed=good_window(bottleneck=tag, evidence=[f"{tag} of {index}"]))


def test_the_bottleneck_of_most_trials() -> None:
    trials = [limited(1, "database"), limited(2, "app-cpu"), limited(3, "app-cpu")]
    assert bottleneck_of(trials) == ("app-cpu", ["app-cpu of 2"])


def test_good_trials_decide_the_bottleneck_if_there_are_any() -> None:
    void = [limited(1, "unknown", Verdict.VOID), limited(2, "unknown", Verdict.VOID)]
    assert bottleneck_of([*void, limited(3, "app-cpu")])[0] == "app-cpu"
    assert bottleneck_of(void) == ("unknown", ["unknown of 1"])


def test_no_window_no_bottleneck() -> None:
    assert bottleneck_of([made(closed=None, open=None)]) == (None, [])


def warned(index: int) -> Trial:
    return made(index, open=good_window("open", findings=[finding("warning", "steal", f"steal {index}")]))


def test_one_warning_per_code() -> None:
    trials = [made(1), warned(2), warned(3), warned(4)]
    [warning] = findings_of(trials, summarise(trials, times(np.full(20_000, 0.01))), OK)
    assert (warning.code, warning.text) == ("steal", "2-one: steal 2 (and 2 more like it)")


def test_a_single_warning_is_not_said_to_have_others_like_it() -> None:
    trials = [warned(2)]
    [warning] = findings_of(trials, summarise(trials, times(np.full(20_000, 0.01))), OK)
    assert warning.text == "2-one: steal 2"


def test_a_quiet_run_has_no_warnings() -> None:
    trials = [made(1)]
    assert findings_of(trials, summarise(trials, times(np.full(20_000, 0.01))), OK) == []


def test_percentiles_that_are_left_out_are_told() -> None:
    trials = [made(1)]
    [warning] = findings_of(trials, summarise(trials, times(np.full(2000, 0.01))), OK)
    assert warning.code == "few-samples"
    assert warning.text.startswith("p99: not published, 2000 samples")


def test_a_void_trial_of_an_ok_run_is_told() -> None:
    """It was retried and the run is ok, but the reader has to know that it was made."""
    void = made(2, Verdict.VOID, [finding("void", "steal", "steal 12 %")])
    trials = [made(1), void, made(3)]
    assert verdict_of(trials, 2) == (OK, [])
    [warning] = findings_of(trials, summarise(trials, times(np.full(20_000, 0.01))), OK)
    assert (warning.code, warning.text) == ("steal", "2-one: steal 12 %")


@pytest.mark.parametrize("bad", [VOID, INVALID, FAILED])
def test_what_is_a_reason_already_is_not_a_warning_too(bad: Trial) -> None:
    trials = [warned(1), bad]
    [warning] = findings_of(trials, Summary(), bad.verdict)
    assert (warning.code, warning.text) == ("steal", "1-one: steal 1")


@pytest.mark.parametrize(
    ("p50", "p90", "p99", "told"),
    [
        ((3.1, 3.2, 23.4), (5.8, 4.5, 180.6), (95.8, 10.7, 313.7), "p50 of single starts is 3.1 to 23.4 ms"),
        ((3.1, 3.2, 3.4), (5.8, 4.5, 180.6), (95.8, 10.7, 313.7), "p90 of single starts is 4.5 to 180.6 ms"),
        ((3.1, 3.2, 3.4), (5.8, 4.5, 6.0), (20.0, 11.0, 21.9), None),
        ((3.1, 3.2, 3.4), (5.8, 4.5, 6.0), (20.0, None, 50.0), None),
    ],
)
def test_starts_with_quite_other_times_are_told(
    p50: tuple[float, ...], p90: tuple[float, ...], p99: tuple[float | None, ...], told: str | None
) -> None:
    seen = [Times(samples=20_000, p50=a, p90=b, p99=c) for a, b, c in zip(p50, p90, p99, strict=True)]
    found = response_spread([good_window("open", response_time_ms=one) for one in seen])
    assert (found is None) == (told is None)
    if found and told:
        assert told in found.text
        assert response_spread([good_window("open", response_time_ms=seen[0])]) is None, (
            "one start has no spread"
        )


def test_a_run_without_figures_lacks_no_samples() -> None:
    trials = [made(1), made(2, Verdict.INVALID)]
    assert findings_of(trials, Summary(), Verdict.INVALID) == []
