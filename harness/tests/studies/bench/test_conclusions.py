"""tandem.studies.bench.conclusions: summaries, verdicts and findings of a variant."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from harness_engine import made_trial, trial_spec
from harness_samples import finding, good_window, quiet_roles, role

from tandem.analysis.histogram import encode
from tandem.record.result import Baselines, CeilingLook
from tandem.record.trial import Trial
from tandem.record.window import Finding, Times, Verdict
from tandem.studies.bench.conclusions import (
    CPU,
    GOODPUT,
    TOTAL,
    ResponseTime,
    Row,
    Summary,
    bottleneck_of,
    compare_rows,
    findings_of,
    row,
    summarise,
    verdict_of,
)

OK = Verdict.OK


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
    found = summarise(trials)
    assert found.goodput_rps == pytest.approx(1000)
    assert found.goodput_rps_interval == pytest.approx((1000 - 248.4, 1000 + 248.4), abs=0.1)
    assert found.offered_rps == pytest.approx(600)
    assert found.app_cpu_us_per_request == pytest.approx(110)
    assert found.requests_per_core_s == pytest.approx(1e6 / 110)
    # Application and database 0.5, PgBouncer and HAProxy 0.3 of a core in all of them.
    assert found.cpu_us_per_request_by_role == pytest.approx(
        {"app": 110, "pgbouncer": 66, "db": 110, "proxy": 66}
    )
    assert found.total_cpu_us_per_request == pytest.approx(352)
    low, high = found.total_cpu_us_per_request_interval or (0, 0)
    assert (high - low) / 2 == pytest.approx(3.2 * 24.84, rel=0.001), "of the totals of the starts"
    assert found.behind_cpu_us_per_request == pytest.approx(242)
    assert found.app_memory_peak_bytes == 70
    assert (found.app_memory_rest_bytes, found.app_memory_per_connection_bytes) == (None, None)
    assert found.trials_ok == 3


def test_memory_at_rest_and_what_a_connection_adds() -> None:
    trials = [trial(1, 900, 100, 10_000, 20_000), trial(2, 900, 100, 30_000, 20_000)]
    for one, rest in zip(trials, (5_000, 5_000), strict=True):
        one.starts["one"].memory_rest_bytes = rest
    found = summarise(trials)
    assert found.app_memory_rest_bytes == 5_000
    assert found.app_memory_per_connection_bytes == pytest.approx((5_000 + 25_000) / 2 / 50)


@pytest.mark.parametrize("verdict", [Verdict.VOID, Verdict.INVALID, Verdict.FAILED])
def test_only_good_trials_count(verdict: Verdict) -> None:
    bad = trial(2, 9_999_999, 1, 2**40, 2**40).model_copy(update={"verdict": verdict})
    good = [trial(1, 900, 100, 10, 20), trial(3, 1100, 120, 10, 40)]
    assert summarise([good[0], bad, good[1]]) == summarise(good)
    assert summarise([bad]) == Summary()


def timed(number: int, *seconds: float, verdict: Verdict = OK) -> Trial:
    """An open window with 4,000 answers of each of these durations."""
    hdr = encode(np.repeat(seconds, 4000))
    times = Times(samples=4000 * len(seconds))
    return made(number, verdict, open=good_window("open", response_time_hdr=hdr, response_time_ms=times))


def test_a_response_time_is_the_median_over_the_starts() -> None:
    """One bad start is one value of three. Pooled, its tail would be the tail of all."""
    trials = [timed(1, 0.010), timed(2, 0.012), timed(3, 0.012, 0.500), timed(4, 5.0, verdict=Verdict.VOID)]
    found = summarise(trials)
    assert found.response_time_ms.p99 == pytest.approx(12, rel=0.001)
    assert found.response_time_range_ms["p99"] == pytest.approx((10, 500), rel=0.001)
    assert found.response_time_ms.p50 == pytest.approx(12, rel=0.001)
    assert found.response_time_samples == 16_000
    assert found.response_time_ms.p999 is None, "16 samples beyond it are too few"


def test_what_was_not_measured_stays_null() -> None:
    unmeasured = made(
        closed=good_window(app_cpu_us_per_request=None, app_memory_peak_bytes=None),
        open=good_window("open", app_memory_peak_bytes=None),
    )
    found = summarise([unmeasured])
    assert found.app_cpu_us_per_request is None
    assert found.app_memory_peak_bytes is None
    assert found.response_time_ms.p50 is None
    assert found.goodput_rps_interval is None
    assert found.goodput_rps is not None


def test_nothing_is_published_of_a_variant_that_is_not_ok() -> None:
    found = row("one", [made(1), made(2, Verdict.INVALID)], 2)
    assert found.verdict is Verdict.INVALID
    assert found.summary == Summary(trials_ok=1)
    figures = found.summary.model_dump(
        exclude={"trials_ok", "response_time_samples", "response_time_ms", "response_time_range_ms"}
    )
    assert figures.pop("cpu_us_per_request_by_role") == {}
    assert set(figures.values()) == {None}
    assert set(found.summary.response_time_ms.model_dump().values()) == {None}


# ---- verdict ----


def failing(index: int, verdict: Verdict, severity: str) -> Trial:
    return made(index, verdict, [finding(severity, "code", "the reason")])  # type: ignore[arg-type]


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


def enough(trials: Sequence[Trial]) -> Summary:
    """With response times that are told."""
    times = ResponseTime(p50=1.0, p90=2.0, p99=3.0)
    return summarise(trials).model_copy(update={"response_time_ms": times})


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
    [warning] = findings_of(trials, enough(trials), OK)
    assert (warning.code, warning.text) == ("steal", "2-one: steal 2 (and 2 more like it)")


def test_a_single_warning_is_not_said_to_have_others_like_it() -> None:
    trials = [warned(2)]
    [warning] = findings_of(trials, enough(trials), OK)
    assert warning.text == "2-one: steal 2"


def test_a_quiet_run_has_no_warnings() -> None:
    trials = [made(1)]
    assert findings_of(trials, enough(trials), OK) == []


def test_percentiles_that_are_left_out_are_told() -> None:
    [warning] = findings_of([timed(1, 0.01)], summarise([timed(1, 0.01)]), OK)
    assert warning.code == "few-samples"
    assert warning.text.startswith("p99: not published, 4000 samples")


def test_a_void_trial_of_an_ok_run_is_told() -> None:
    """It was retried and the run is ok, but the reader has to know that it was made."""
    void = made(2, Verdict.VOID, [finding("void", "steal", "steal 12 %")])
    trials = [made(1), void, made(3)]
    assert verdict_of(trials, 2) == (OK, [])
    [warning] = findings_of(trials, enough(trials), OK)
    assert (warning.code, warning.text) == ("steal", "2-one: steal 12 %")


@pytest.mark.parametrize("bad", [VOID, INVALID, FAILED])
def test_what_is_a_reason_already_is_not_a_warning_too(bad: Trial) -> None:
    trials = [warned(1), bad]
    [warning] = findings_of(trials, Summary(), bad.verdict)
    assert (warning.code, warning.text) == ("steal", "1-one: steal 1")


def test_a_run_without_figures_lacks_no_samples() -> None:
    trials = [made(1), made(2, Verdict.INVALID)]
    assert findings_of(trials, Summary(), Verdict.INVALID) == []


# ---- within blocks ----


def block_of(label: str, number: int, goodput: float, cost: float, **how: Any) -> Trial:
    """The fresh start of a variant in a block, limited by its own CPU."""
    roles = how.pop("roles", quiet_roles(app=role(0.97, "4", busiest_thread_cores=0.97)))
    attempt = how.pop("attempt", 1)
    closed = good_window(goodput_rps=goodput, app_cpu_us_per_request=cost, roles=roles, bottleneck="app-cpu")
    spec = trial_spec(f"{number}-{label}", label, block=number, attempt=attempt)
    return made_trial(spec, closed=closed, **how)


HOST = (1.0, 1.2, 0.8, 1.1, 0.9, 1.3)
"""How fast the host is in each block: a change that falls on all variants alike."""


def compared(
    trials: dict[str, list[Trial]], looks: dict[str, list[CeilingLook]] | None = None
) -> dict[str, Row]:
    rows = [row(label, own, 1) for label, own in trials.items()]
    compare_rows(rows, trials, Baselines(looks=looks or {}))
    return {one.label: one for one in rows}


def both(factor: float = 1.1, **how: Any) -> dict[str, list[Trial]]:
    """`other` does so much more in each block, and costs a tenth less; hardly any scatter but the host's."""
    jitter = (1.0, 1.001, 0.999, 1.002, 0.998, 1.0)
    return {
        "first": [block_of("first", n, 1000 * host, 300 / host) for n, host in enumerate(HOST, 1)],
        "other": [
            block_of("other", n, 1000 * host * factor * j, 270 / host * j, **how)
            for n, (host, j) in enumerate(zip(HOST, jitter, strict=True), 1)
        ],
    }


def test_a_ratio_lives_within_its_block() -> None:
    """The host varies by half; the ratio is known to a thousandth. Intervals of the two means would overlap."""
    found = compared(both())
    assert found["first"].against_first == {}
    goodput, cost = (found["other"].against_first[metric] for metric in (GOODPUT, CPU))
    assert goodput.ratio.ratio == pytest.approx(1.1, rel=0.001)
    assert goodput.ratio.interval == pytest.approx((1.1, 1.1), rel=0.003)
    assert (goodput.word, cost.word) == ("faster", "cheaper")
    low, high = found["first"].summary.goodput_rps_interval or (0, 0)
    assert low < (found["other"].summary.goodput_rps or 0) < high


def test_what_a_stack_leaves_to_the_database_is_in_the_whole() -> None:
    """`other` needs a tenth less of the application and twice as much of the database."""
    busy = quiet_roles(app=role(0.97, "4"), db=role(1.94, "2"))
    found = compared(both(roles=busy))["other"]
    whole, own = (found.against_first[metric] for metric in (TOTAL, CPU))
    assert own.ratio.ratio == pytest.approx(0.9, rel=0.002)
    assert whole.ratio.ratio == pytest.approx(0.9 * (0.97 + 1.94 + 0.6) / (0.97 + 0.5 + 0.6), rel=0.002)
    assert (whole.word, own.word) == ("dearer", "cheaper")
    assert found.summary.cpu_us_per_request_by_role["db"] == pytest.approx(
        2 * (found.summary.app_cpu_us_per_request or 0)
    )


def test_one_alone_has_a_whole_and_no_contrast() -> None:
    [alone] = compared({"first": both()["first"]}).values()
    assert alone.summary.total_cpu_us_per_request == pytest.approx(
        (alone.summary.app_cpu_us_per_request or 0) * 2.07 / 0.97
    )
    assert alone.against_first == {}


def test_a_block_that_was_made_again_is_compared_with_itself() -> None:
    trials = both()
    trials["first"].append(block_of("first", 3, 5000, 60, attempt=2))
    trials["other"].append(block_of("other", 3, 5500, 54, attempt=2))
    assert compared(trials)["other"].against_first[GOODPUT].ratio.n == 6
    assert compared(trials)["other"].against_first[GOODPUT].ratio.ratio == pytest.approx(1.1, rel=0.001)
    # Where only one side of the second attempt is good, the first attempt of both counts.
    trials["other"][-1].verdict = Verdict.VOID
    assert compared(trials)["other"].against_first[GOODPUT].ratio.ratio == pytest.approx(1.1, rel=0.001)


def test_a_rate_that_something_shared_limits_has_no_rank() -> None:
    shared = {"db": role(0.52), "pgbouncer": role(0.35), "proxy": role(0.07), "loadgen": role(0.04)}
    found = compared(both(roles={**shared, "app": role(0.3, "1")}))["other"]
    assert found.unranked == "core 0: database 52 %, PgBouncer 35 %, HAProxy 7 %"
    assert found.against_first[GOODPUT].word == "not ranked"
    assert found.against_first[CPU].word == "cheaper", "only rates lose their rank"
    tied = compared(both(roles={**shared, "app": role(0.95, "1")}))["other"]
    assert tied.unranked == "core 0: database 52 %, PgBouncer 35 %, HAProxy 7 %; core 1: application 95 %"


def ceiling(rate: float) -> list[CeilingLook]:
    return [CeilingLook(block=number, goodput_rps=rate * host) for number, host in enumerate(HOST, 1)]


def test_a_rate_near_a_ceiling_of_its_blocks_has_no_rank() -> None:
    found = compared(both(), {"database": ceiling(1150)})
    assert found["other"].ceiling_shares["database"] == pytest.approx(1100 / 1150, rel=0.001)
    assert found["other"].unranked == "96 % of the ceiling database"
    assert found["first"].unranked is None
    assert found["other"].against_first[GOODPUT].word == "not ranked"
    # A look that the host disturbed is left out.
    void = [*ceiling(1150)[:5], CeilingLook(block=6, goodput_rps=None)]
    assert compared(both(), {"database": void})["other"].ceiling_shares["database"] == pytest.approx(
        0.957, abs=0.01
    )


def test_a_ceiling_that_an_application_passes_cuts_nothing_off() -> None:
    found = compared(both(), {"database": ceiling(1050)})
    assert found["other"].ceiling_shares["database"] > 1
    assert [one.unranked for one in found.values()] == [None, None]
    assert found["other"].against_first[GOODPUT].word == "faster"


def test_nobody_is_compared_with_a_first_one_that_is_not_ok() -> None:
    trials = both()
    trials["first"][2].verdict = Verdict.INVALID
    assert compared(trials)["other"].against_first == {}
