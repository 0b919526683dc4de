"""tandem.campaign.replay: prediction intervals, what differs, and the command's bad input."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness_samples import good_environment, good_run, good_trial, good_window
from rich.console import Console
from tandem.campaign.replay import compare, differences, figures, prediction_interval, report
from tandem.commands.replay import _recorded, _request

from tandem.catalog.catalog import Catalog
from tandem.commands import replay as cli_replay
from tandem.errors import TandemError, UsageError
from tandem.old.run import Environment, Run, Trial
from tandem.old.store import Request
from tandem.record.window import Times, Verdict


def trials(*goodputs: float, cost: float = 900.0, verdict: Verdict = Verdict.OK) -> list[Trial]:
    return [
        good_trial(
            index,
            verdict=verdict,
            closed=good_window(goodput_rps=goodput, app_cpu_us_per_request=cost),
        )
        for index, goodput in enumerate(goodputs, start=1)
    ]


def outcomes(old: list[Trial], new: list[Trial]) -> dict[str, str]:
    return {figure.metric: figure.outcome for figure in figures(old, new)}


def environment(**changes: Any) -> Environment:
    return good_environment().model_copy(update=changes)


# ---- the interval ----


def test_an_interval_computed_by_hand() -> None:
    # mean 12, s = 2, t(2, 97.5 %) = 4.303: half-width 4.303 x 2 x sqrt(1/3 + 1/3) = 7.027
    assert prediction_interval([10, 12, 14], 3, 0.95) == pytest.approx((4.973, 19.027), abs=0.001)
    # for one new value sqrt(1/3 + 1) = 1.1547: 9.937
    assert prediction_interval([10, 12, 14], 1, 0.95) == pytest.approx((2.063, 21.937), abs=0.001)


def test_a_record_without_spread_still_has_the_resolution() -> None:
    assert prediction_interval([100, 100, 100], 3, 0.95) == pytest.approx((99, 101))


@pytest.mark.parametrize(("values", "new"), [([], 3), ([10.0], 3), ([10.0, 11.0], 0)])
def test_what_has_no_interval(values: list[float], new: int) -> None:
    assert prediction_interval(values, new, 0.95) is None


@pytest.mark.parametrize("n", [3, 6])
def test_the_interval_contains_the_new_mean_as_often_as_it_says(n: int) -> None:
    chance = np.random.default_rng(5)
    inside = narrow = 0
    for _ in range(2000):
        old, new = chance.normal(100, 10, n), chance.normal(100, 10, n).mean()
        low, high = prediction_interval(old.tolist(), n, 0.95) or (0, 0)
        inside += low <= new <= high
        # The negative control: a confidence interval of the mean, which forgets that the new mean scatters too.
        half = (high - low) / 2 / 2**0.5
        narrow += abs(new - old.mean()) <= half
    assert inside / 2000 == pytest.approx(0.95, abs=0.015)
    assert narrow / 2000 < 0.92


# ---- runs ----


def test_the_same_again_is_within() -> None:
    told = compare(good_run(), good_run())
    assert told.reproduced
    assert {figure.outcome for figure in told.figures} == {"within"}
    assert told.differences == []


def test_a_run_that_is_twice_as_fast_is_outside() -> None:
    old = good_run(trials=trials(990, 1000, 1010))
    told = compare(old, good_run(trials=trials(1990, 2000, 2010)))
    assert not told.reproduced
    assert outcomes(old.trials, trials(1990, 2000, 2010))["goodput_rps"] == "outside"
    assert outcomes(old.trials, trials(995, 1005, 1015))["goodput_rps"] == "within"


def test_cost_alone_can_be_outside() -> None:
    found = outcomes(trials(990, 1000, 1010), trials(990, 1000, 1010, cost=950))
    assert found["app_cpu_us_per_request"] == "outside"
    assert found["goodput_rps"] == "within"


def test_only_good_trials_are_compared() -> None:
    bad = trials(5000, verdict=Verdict.INVALID)
    assert outcomes([*trials(990, 1000, 1010), *bad], trials(1000))["goodput_rps"] == "within"


def test_what_one_side_lacks_is_not_comparable() -> None:
    new = trials(1000, 1001)
    for trial in new:
        assert trial.open is not None
        trial.open.response_time_ms = Times(samples=10)
    assert outcomes(trials(990, 1010), new)["response_time_p99_ms"] == "not comparable"
    assert set(outcomes(trials(990), new).values()) == {"not comparable"}


@pytest.mark.parametrize("verdict", [Verdict.VOID, Verdict.INVALID, Verdict.FAILED])
def test_a_new_run_that_is_not_ok_reproduces_nothing(verdict: Verdict) -> None:
    assert not compare(good_run(), good_run(verdict=verdict)).reproduced


def test_nothing_to_compare_is_no_success() -> None:
    assert not compare(good_run(trials=[]), good_run()).reproduced


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"git_commit": "1" * 40}, "git commit: 000000000000 -> 111111111111"),
        ({"git_dirty": True}, "the working tree had changes that were not committed now"),
        ({"host": {"cpus": 4}}, "host cpus changed: 2 -> 4"),
        ({"versions": {"oha": "1.17.0"}}, "version of oha changed: 1.16.0 -> 1.17.0"),
        ({"images": {"app": "sha256:1"}}, "image of app changed"),
        ({"hashes": {"contract/": "b"}}, "content of contract/ changed"),
        ({"configuration": {"pgbouncer": "b"}}, "configuration: pgbouncer changed"),
        ({"configuration": {}}, "configuration: pgbouncer is not known any more"),
        ({"knobs": {"WORKERS": "2", "DB_POOL_MAX": "20", "THREADS": ""}}, "knob WORKERS changed: 1 -> 2"),
    ],
)
def test_every_difference_is_told(changes: dict[str, Any], told: str) -> None:
    base = {"hashes": {"contract/": "a"}, "configuration": {"pgbouncer": "a"}}
    old = good_run(environment=environment(**base))
    new = good_run(environment=environment(**{**base, **changes}))
    assert differences(old, new) == [told]


def test_what_an_older_record_lacks_is_no_difference() -> None:
    new = good_run(environment=environment(hashes={"contract/": "a"}, host={"cpus": 2, "governor": "x"}))
    assert differences(good_run(), new) == []


def test_the_table_has_the_words() -> None:
    console = Console(width=160, record=True, file=io.StringIO())
    fast = good_run(trials=trials(1990, 2000, 2010))
    console.print(report(compare(good_run(trials=trials(990, 1000, 1010)), fast)))
    text = console.export_text()
    assert "not reproduced: outside the recorded noise: goodput" in text
    assert "2,000" in text


# ---- the command ----


def test_the_reference_campaign_can_be_asked_for_again(real: Catalog, root: Path) -> None:
    runs = _recorded(root / "results/reference")
    assert len(runs) == 6
    for run in runs:
        assert run.schema_version == 2
        request = _request(real, run, 7)
        implementation = real.implementation(run.implementation)
        effective = real.effective_knobs(implementation, 1, request.knobs)
        recorded = {name: value for name, value in run.environment.knobs.items() if value}
        assert recorded.items() <= effective.items()


def test_knobs_that_were_chosen_are_chosen_again(real: Catalog) -> None:
    run = good_run(environment=environment(knobs={"WORKERS": "3"}))
    assert _request(real, run, 7) == Request(
        implementations=["rust-async"],
        scenario="recipes",
        topology="full",
        placement="two-cores",
        plan="quick",
        seed=7,
        knobs={"WORKERS": "3"},
    )


@pytest.mark.parametrize(
    ("variables", "asked"), [({"DB_RTT_MS": "15"}, 15), ({"DB_RTT_MS": "0"}, 0), ({}, None)]
)
def test_the_distance_to_the_database_is_asked_for_again(
    real: Catalog, variables: dict[str, str], asked: int | None
) -> None:
    run = good_run(environment=environment(variables=variables))
    assert _request(real, run, 7).db_rtt_ms == asked


def test_a_single_record(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(good_run().model_dump_json())
    found: list[list[Run]] = [_recorded(tmp_path), _recorded(tmp_path / "run.json")]
    assert [[run.implementation for run in runs] for runs in found] == [["rust-async"]] * 2


def test_what_cannot_be_made_again(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"give a run\.json or a campaign's folder"):
        _recorded(tmp_path / "none")
    with pytest.raises(TandemError, match="holds no finished run"):
        _recorded(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(TandemError, match=r"run\.json: the record cannot be read"):
        _recorded(tmp_path)
    assert cli_replay.replay.__doc__
