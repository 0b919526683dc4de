"""tandem.studies.soak: its windows, what its minutes say together, and when a leak is one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness_engine import is_golden, play, request, result_of, void_window
from harness_samples import finding, good_window

from tandem.catalog.catalog import Catalog
from tandem.errors import UsageError
from tandem.record.host import PerSecond
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import TrialSpec, WindowSpec
from tandem.record.window import Times, Verdict, Window
from tandem.studies.soak.conclusions import AFTER, BURST, GROWTH, GROWTH_LEAST, LEAST, Soaked, slope
from tandem.studies.soak.report import pictures, report
from tandem.studies.soak.study import Soak, SoakOptions

MIB = 2**20


def soak(catalog: Catalog, *names: str, lasts_s: int = 1800, **changes: Any) -> Soak:
    options = SoakOptions(lasts_s=lasts_s, **changes).as_options()
    return Soak(catalog, request(*(names or ("rust-async",)), study="soak", plan="mix", options=options))


def per_second(mib: float, seconds: int = 60) -> PerSecond:
    same: dict[str, Any] = {name: [0.5] * seconds for name in ("app_cpu_s", "steal_share")}
    memory = [round(mib * MIB)] * seconds
    return PerSecond(second=[*range(seconds)], good=[400] * seconds, app_memory_bytes=memory, **same)


class Leaking:
    """Answers the windows of a program whose memory grows by the minute, beside noise. wrong, void: windows that are so."""

    def __init__(
        self, mib_per_minute: float, noise_mib: float = 1.0, wrong: str = "", void: int = 0, seed: int = 1
    ) -> None:
        self.grows, self.noise, self.wrong, self.void = mib_per_minute, noise_mib, wrong, void
        self.chance, self.minutes = np.random.default_rng(seed), 0

    def __call__(self, spec: TrialSpec, window: WindowSpec) -> Window:
        if not window.name.startswith("minute"):
            peak = {BURST: 90, AFTER: 80}.get(window.name, 85) * MIB
            return good_window(window.load, app_memory_peak_bytes=peak)
        self.minutes += 1
        mib = 50 + self.grows * self.minutes + self.noise * float(self.chance.standard_normal())
        made: dict[str, Any] = {
            "goodput_rps": 240.0,
            "response_time_ms": Times(samples=14_000, p50=4.0, p99=20.0 + self.minutes / 10),
            "app_descriptors": 40 + self.minutes,
            "db_connections_max": 20,
            "per_second": per_second(mib),
        }
        if window.name == self.wrong:
            wrong = [finding("invalid", "wrong-body", "a wrong body")]
            return good_window("open", **made, findings=wrong, verdict=Verdict.INVALID)
        if self.minutes <= self.void:
            return void_window(**made, load="open")
        return good_window("open", **made)


def concluded(
    catalog: Catalog, answer: Callable[[TrialSpec, WindowSpec], Window], *names: str
) -> Concluded[Soaked]:
    study = soak(catalog, *names)
    return study.conclude(play(study, answer), Baselines())


def test_its_windows_follow_one_another_at_one_rate(real: Catalog) -> None:
    [[spec], [other]] = soak(real, "rust-async", "node", lasts_s=600).outline()
    assert [spec.variants, other.variants] == [["rust-async"], ["node"]]
    closed, *minutes, burst, after = spec.windows
    assert [one.name for one in minutes] == [f"minute-{n:02}" for n in range(1, 11)]
    assert {(one.load, one.share, one.share_of, one.seconds) for one in minutes} == {
        ("open", 0.6, "closed", 60)
    }
    assert not any(one.settled or one.counts for one in (*minutes, burst, after))
    assert closed.counts
    assert (burst.load, after.after_s, after.share) == ("closed", 60, 0.1)


def test_too_short_a_run_is_refused(real: Catalog) -> None:
    with pytest.raises(UsageError, match=r"are 6 windows of 60 s, and a slope needs 7"):
        soak(real, lasts_s=400)
    assert soak(real, lasts_s=70, window_s=10)


def test_a_full_load_without_a_rate_ends_it(real: Catalog) -> None:
    trials = play(soak(real), lambda spec, window: void_window())
    assert [[one.spec.name for one in trial.windows] for trial in trials] == [["closed"]] * 2, (
        "once more, no further"
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_mib_a_minute_is_found_in_half_an_hour(real: Catalog, seed: int) -> None:
    leaks, not_ = (concluded(real, Leaking(grows, seed=seed)).conclusions.runs[0] for grows in (1.0, 0.0))
    assert leaks.word == "grows"
    assert leaks.growth is not None
    assert leaks.growth.slope == pytest.approx(1.0, abs=0.15)
    assert not_.word != "grows", "the control"


def test_memory_that_wanders_is_no_leak() -> None:
    """Medians of minutes depend on each other. Steps of an allocator that come back are not taken for growth."""
    chance, called = np.random.default_rng(3), 0
    for _ in range(500):
        values, now = [], 0.0
        for _ in range(24):
            now = 0.8 * now + 0.3 * float(chance.standard_normal())
            values.append(50 + now)
        found = slope(range(24), values)
        assert found is not None
        called += found.word(GROWTH_LEAST) == "grows"
    assert called <= 5


def test_few_points_have_no_slope() -> None:
    assert slope(range(LEAST - 1), [1.0] * (LEAST - 1)) is None
    even = slope(range(LEAST), [5.0, 7.0, 9.0, 11.0, 13.0])
    assert even is not None
    assert even.slope == pytest.approx(2)


def test_figures_over_the_minutes(real: Catalog) -> None:
    found = concluded(real, Leaking(1.0, noise_mib=0.0))
    assert (found.verdict, found.complete) == (Verdict.OK, True)
    by_metric = {one.metric: one for one in found.conclusions.estimates}
    assert by_metric["goodput_rps"].n == 30
    low, high = by_metric["response_time_p99_ms"].range or (0.0, 0.0)
    assert (low, high) == pytest.approx((20.1, 23.0))
    assert by_metric[GROWTH].mean == pytest.approx(1.0, rel=0.05)
    assert (by_metric["memory_burst_mib"].mean, by_metric["memory_after_mib"].mean) == (90, 80)
    assert found.headline.startswith("rust-async grows (+")


def test_a_wrong_answer_makes_all_of_it_invalid(real: Catalog) -> None:
    found = concluded(real, Leaking(0.0, wrong="minute-20"))
    assert found.verdict is Verdict.INVALID
    assert found.reasons == ["rust-async: 29 of 30 windows are good: after 20 minutes: a wrong body"]


@pytest.mark.parametrize(("void", "verdict"), [(10, Verdict.OK), (15, Verdict.VOID)])
def test_disturbed_minutes_are_left_out(real: Catalog, void: int, verdict: Verdict) -> None:
    found = concluded(real, Leaking(0.0, void=void))
    assert found.verdict is verdict
    rates = next(one for one in found.conclusions.estimates if one.metric == "goodput_rps")
    assert (rates.n, rates.verdict) == (30 - void, verdict)
    assert len(found.conclusions.runs[0].minutes) == 30, "they are kept, and shown"


def test_the_report_is_the_golden_one(real: Catalog) -> None:
    study = soak(real, "rust-async", "node")
    found = study.conclude(play(study, Leaking(1.0, noise_mib=0.0, void=3)), Baselines())
    is_golden(report(result_of(study.request, found)), "soak")
    memory, tail = pictures(found.conclusions)
    assert len(memory.spec["data"]["values"]) == 60
    assert len(tail.spec["data"]["values"]) == 57, "a disturbed minute has no p99"
