"""tandem.studies.start: cold starts, what their first seconds say, and the ratios of the first right answer."""

from typing import Any

import pytest
from harness_engine import is_golden, play, request, result_of
from harness_samples import good_window

from tandem.catalog.catalog import Catalog
from tandem.record.host import PerSecond
from tandem.record.result import Baselines, Concluded
from tandem.record.trial import Trial
from tandem.record.window import Verdict, Window
from tandem.studies.start.conclusions import FULL, LOST, RIGHT, Started, final_rps
from tandem.studies.start.report import pictures, report
from tandem.studies.start.study import Starting, StartOptions

WARMS_UP = [100, 300, 600, 900, 960, 1000, 1000, 1000, 1000, 1000, 1000, 1000]


def starting(catalog: Catalog, *names: str, starts: int = 6) -> Starting:
    options = StartOptions(starts=starts, load_s=len(WARMS_UP)).as_options()
    return Starting(catalog, request(*names, study="start", plan="quick", options=options))


def window(good: list[int]) -> Window:
    same: dict[str, Any] = {name: [0.5] * len(good) for name in ("app_cpu_s", "steal_share")}
    return good_window(per_second=PerSecond(second=[*range(len(good))], good=good, **same))


def made(study: Starting, rates: dict[str, list[int]], first_s: dict[str, float]) -> list[Trial]:
    trials = play(study, lambda spec, _: window(rates[spec.variants[0]]))
    for trial in trials:
        (label,) = trial.spec.variants
        start, own = trial.starts[label], first_s[label] * (1 + trial.spec.block / 100)
        start.first_answer_s, start.first_right_s, start.memory_rest_bytes = own, own + 0.05, 20 << 20
    return trials


def concluded(catalog: Catalog) -> tuple[Starting, Concluded[Started]]:
    study = starting(catalog, "rust-async", "python-sync")
    trials = made(
        study, {"rust-async": [1000] * 12, "python-sync": WARMS_UP}, {"rust-async": 0.2, "python-sync": 1.2}
    )
    return study, study.conclude(trials, Baselines())


def test_nothing_comes_before_the_load(real: Catalog) -> None:
    for block in starting(real, "rust-async", "node").outline():
        for spec in block:
            assert (spec.warm_up.least_s, spec.warm_up.cap_s) == (0, 0)
            [only] = spec.windows
            assert (only.load, only.seconds, only.trim_start_s) == ("closed", 12, 0)
            assert spec.verify


def test_the_seconds_until_the_full_rate(real: Catalog) -> None:
    _, found = concluded(real)
    assert found.verdict is Verdict.OK
    means = {(one.variant, one.metric): one.mean for one in found.conclusions.estimates}
    assert (means["rust-async", FULL], means["rust-async", LOST]) == (0, 0)
    # Seconds 3 to 5 are the first three with 95 % of 1,000 in the mean.
    assert means["python-sync", FULL] == 3
    assert means["python-sync", LOST] == pytest.approx(0.9 + 0.7 + 0.4 + 0.1 + 0.04)
    assert found.conclusions.rates["python-sync"][0] == pytest.approx(0.1)


def test_the_first_right_answer_is_compared(real: Catalog) -> None:
    _, found = concluded(real)
    [one] = found.conclusions.contrasts
    assert (one.metric, one.of, one.to, one.word) == (RIGHT, "python-sync", "rust-async", "slower")
    assert one.ratio == pytest.approx(1.25 / 0.25, rel=0.02)


def test_a_rate_that_never_settles_has_no_figure(real: Catalog) -> None:
    """The last third decides the final rate; one second of it may be luck."""
    assert final_rps([0, 0, 0, 10, 30, 10, 30, 10, 900]) == 30
    study = starting(real, "rust-async")
    falls = [1000, 900, 100, 100, 100, 900, 100, 100, 1000, 100, 1000, 900]
    found = study.conclude(made(study, {"rust-async": falls}, {"rust-async": 0.2}), Baselines())
    metrics = {one.metric for one in found.conclusions.estimates}
    assert FULL not in metrics
    assert LOST in metrics


def test_too_few_starts_have_no_figure(real: Catalog) -> None:
    study = starting(real, "rust-async", starts=2)
    found = study.conclude(made(study, {"rust-async": WARMS_UP}, {"rust-async": 0.2})[:1], Baselines())
    assert found.verdict is Verdict.VOID
    assert [one.mean for one in found.conclusions.estimates] == [None]
    assert found.conclusions.contrasts == []


def test_the_report_is_the_golden_one(real: Catalog) -> None:
    study, found = concluded(real)
    is_golden(report(result_of(study.request, found)), "start")
    [picture] = pictures(found.conclusions)
    assert len(picture.spec["data"]["values"]) == 24
