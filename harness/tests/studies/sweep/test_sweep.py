"""tandem.studies.sweep: which values, which order, what the trials say."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness_engine import (
    FakeLab,
    invalid_window,
    is_golden,
    play,
    refusing,
    request,
    result_of,
    session,
    text,
    trial,
    void_window,
)
from harness_samples import good_window, there
from hypothesis import given, settings
from hypothesis import strategies as st

from tandem.catalog.catalog import OWN_SERVICE, Catalog
from tandem.engine.run import run
from tandem.errors import UsageError
from tandem.facts.estimate import of_variants
from tandem.facts.metric import GOODPUT
from tandem.lab.prepare import VariantConditions, check, scenario_of
from tandem.load.rows import Floats
from tandem.record.request import Request, Variant
from tandem.record.result import Baselines, CeilingLook, Result
from tandem.record.trial import Trial
from tandem.record.window import Times, Verdict, Window
from tandem.studies.sweep.conclusions import NEEDED, Curve, Swept, parse_over
from tandem.studies.sweep.conclusions import curve as curve_of
from tandem.studies.sweep.report import report
from tandem.studies.sweep.study import Sweep, SweepOptions
from tandem.studies.sweep.usl import fit, law

POWERS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
NAME = "rust-async"


def asked(over: str = "connections=1..4", *names: str, rounds: int = 3, **changes: Any) -> Request:
    axis, values = parse_over(over)
    options = SweepOptions(axis=axis, values=values, rounds=rounds).as_options()
    fields = {"study": "sweep", "plan": "ceiling", "seed": 7, "options": options, **changes}
    return request(*(names or (NAME, "contract/broken")), **fields)


def made(value: int, rate: float, round_: int = 1, axis: str = "connections") -> Trial:
    window = good_window(
        goodput_rps=rate,
        app_cpu_us_per_request=1e6 / rate,
        service_time_ms=Times(samples=100, mean=1e3 * value / rate),
        bottleneck="database",
    )
    return trial(f"{NAME} {axis}={value}", round_, window)


def measured(rates: dict[int, float], axis: str = "connections") -> dict[int, list[Trial]]:
    """Three rounds."""
    return {v: [made(v, r * (1 + (n - 2) / 100), n, axis) for n in (1, 2, 3)] for v, r in rates.items()}


def curve(trials: dict[int, list[Trial]], axis: str = "connections") -> Curve:
    """trials: by value."""
    variants = [Variant(label=f"{NAME} {axis}={value}", implementation=NAME) for value in trials]
    found = of_variants([one for own in trials.values() for one in own], variants, NEEDED)
    return curve_of(NAME, axis, dict(zip(trials, found, strict=True)))


def drawn(rates: dict[int, float], axis: str) -> Curve:
    return curve(measured(rates, axis), axis)


# ---- what is asked ----


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("connections=1..512", POWERS),
        ("pool=4,10,16,20,32,100", [4, 10, 16, 20, 32, 100]),
        ("threads=3..20", [3, 4, 8, 16, 20]),
        ("wait=0,1,5,20,100", [0, 1, 5, 20, 100]),
        ("wait=0..4", [0, 1, 2, 4]),
        ("pool=20, 4,4..8", [4, 8, 20]),
        ("cores=1,2", [1, 2]),
        ("env:POOL=5..50", [5, 8, 16, 32, 50]),
    ],
)
def test_what_can_be_swept(text: str, values: list[int]) -> None:
    assert parse_over(text) == (text.partition("=")[0], values)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("conections=1..8", "no axis 'conections'. Did you mean 'connections'"),
        ("connections", "takes AXIS=VALUES"),
        ("cores=0,1", "the minimum is 1"),
        ("env:1A=1,2", "no axis 'env:1A'"),
        ("pool=a", "'a' is neither"),
        ("pool=4,", "'' is neither"),
        ("pool=8..4", "the smaller end comes first"),
        ("pool=4", "at least two values"),
        ("connections=0..4", "the minimum is 1"),
        ("wait=0,5000", "the maximum is 1000 ms"),
        ("pool=-1..4", "'-1..4' is neither"),
    ],
)
def test_what_cannot(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told.replace("?", r"\?")):
        parse_over(text)


def test_each_round_has_every_cell_once_in_an_order_of_its_own(real: Catalog) -> None:
    blocks = Sweep(real, asked()).outline()
    assert [{spec.block for spec in block} for block in blocks] == [{1}, {2}, {3}]
    orders = [[spec.variants[0] for spec in block] for block in blocks]
    assert all(Counter(order) == Counter(orders[0]) for order in orders)
    assert orders[0] != orders[1]
    assert len(orders[0]) == len({*orders[0]}) == 2 * 3
    assert blocks == Sweep(real, asked()).outline()
    assert blocks != Sweep(real, asked(seed=8)).outline()
    assert len({spec.name for block in blocks for spec in block}) == 18
    [window] = blocks[0][0].windows
    assert (window.load, window.seconds) == ("closed", real.plans["ceiling"].closed_s)


@pytest.mark.parametrize(
    ("over", "settings", "scenario"),
    [
        ("pool=4,16", {"DB_POOL_MAX": "16"}, {}),
        ("threads=1,4", {"THREADS": "4"}, {}),
        ("connections=1,8", {}, {"connections": 8}),
        ("wait=0,5", {}, {"path": "/work?delay_ms=5"}),
    ],
)
def test_an_axis_changes_one_thing(
    real: Catalog, over: str, settings: dict[str, str], scenario: dict[str, Any]
) -> None:
    wanted = asked(over, NAME, scenario="work")
    larger = Sweep(real, wanted).variants[-1]
    assert larger.label == f"{NAME} {over.partition('=')[0]}={over.rpartition(',')[2]}"
    assert (larger.settings, larger.scenario_changes) == (settings, scenario)
    under, plain = scenario_of(real, wanted, larger), real.scenarios["work"]
    assert (under.path, under.connections) == (
        scenario.get("path", plain.path),
        scenario.get("connections", plain.connections),
    )


def test_what_a_variant_has_of_its_own_is_kept(real: Catalog) -> None:
    own = Variant(label="mine", implementation=NAME, settings={"DB_PREPARE": "0"})
    found = Sweep(real, asked("pool=4,16", variants=[own])).variants
    assert [variant.settings for variant in found] == [
        {"DB_PREPARE": "0", "DB_POOL_MAX": "4"},
        {"DB_PREPARE": "0", "DB_POOL_MAX": "16"},
    ]


@pytest.mark.parametrize(
    ("over", "scenario", "settings", "told"),
    [
        ("wait=0,1", "recipes", {}, "needs the scenario work"),
        ("pool=0,4", "recipes", {}, "DB_POOL_MAX must be a whole number from 1, not '0'"),
        ("pool=4,8", "recipes", {"DB_POOL_MAX": "4"}, "is the setting that is swept"),
        ("pool=4,8", "users", {}, "python-sync does not support users"),
    ],
)
def test_what_does_not_fit_together(
    real: Catalog, over: str, scenario: str, settings: dict[str, str], told: str
) -> None:
    wanted = asked(over, "python-sync", scenario=scenario, settings=settings)
    with pytest.raises(UsageError, match=told):
        check(real, wanted, Sweep(real, wanted).variants)


def test_a_request_without_an_axis_is_refused(real: Catalog) -> None:
    with pytest.raises(UsageError, match="needs an axis"):
        Sweep(real, request("sweep", NAME))


# ---- what the trials say ----


def test_peak_c90_and_what_is_lost() -> None:
    found = drawn({1: 100.0, 2: 190.0, 4: 460.0, 8: 500.0, 16: 400.0}, "pool")
    assert (found.peak_at, found.c90) == (8, 4)
    assert found.retrograde_loss == pytest.approx(0.2)
    assert found.usl is None
    assert drawn({0: 500.0, 5: 400.0}, "wait").c90 is None, "less is more"


def test_a_missing_trial_is_no_figure() -> None:
    trials = measured({1: 100.0, 2: 190.0, 4: 200.0})
    found = curve({**trials, 4: trials[4][:1]})
    assert (found.c90, found.retrograde_loss, found.peak_at) == (None, None, 2)
    nothing = curve({1: [], 2: []})
    assert (nothing.peak_at, nothing.c90) == (None, None)


def result(real: Catalog, wanted: Request, trials: list[Trial]) -> Result[Swept]:
    """As the engine makes it of a study's answer."""
    return result_of(wanted, Sweep(real, wanted).conclude(trials, Baselines()))


def rates_of(found: Result[Swept]) -> list[float | None]:
    return [one.mean for one in found.conclusions.estimates if one.metric == GOODPUT]


def test_the_report_is_the_golden_one(real: Catalog) -> None:
    """A disturbed round, a ceiling that cuts two values off, a law without a fit."""
    trials = [t for own in measured({1: 100.0, 2: 190.0, 4: 200.0}).values() for t in own]
    trials[-1] = trial(f"{NAME} connections=4", 3, void_window("much steal"))
    wanted = asked("connections=1..4", NAME)
    looks = {"null": [CeilingLook(block=n, goodput_rps=205.0) for n in (1, 2, 3)]}
    baselines = Baselines(ceilings_rps={"null": 205.0}, looks=looks)
    found = result_of(wanted, Sweep(real, wanted).conclude(trials, baselines), baselines=baselines)
    assert found.verdict is Verdict.OK
    assert Result[Swept].model_validate_json(found.model_dump_json()).conclusions.curves[0].peak_at == 4
    is_golden(report(found), "sweep")


def test_what_is_left_over_after_the_second_attempt(real: Catalog) -> None:
    wanted = asked("connections=1,2", NAME, rounds=2)
    low, high = (f"{NAME} connections={value}" for value in (1, 2))
    trials = [trial(label, n, good_window(goodput_rps=100.0 * n)) for label in (low, high) for n in (1, 2)]
    trials[0] = trial(low, 1, void_window())
    again = [trial(label, 1, good_window(goodput_rps=120.0), attempt=2) for label in (low, high)]
    half = [again[0], trial(high, 1, void_window(), attempt=2)]
    made_again = [result(real, wanted, [*trials, *second]) for second in ([], again, half)]
    assert [one.verdict for one in made_again] == [Verdict.VOID, Verdict.OK, Verdict.OK]
    assert rates_of(made_again[1]) == [160.0, 160.0], "the whole block is the second attempt's"
    assert rates_of(made_again[2]) == [160.0, 150.0], "a good trial is not lost by its repetition"


@pytest.mark.parametrize("answer", [lambda *_: invalid_window(), refusing], ids=["wrong", "broken"])
def test_what_is_wrong_makes_the_sweep_invalid(real: Catalog, answer: Callable[..., Window]) -> None:
    wanted = asked("connections=1,2", NAME, rounds=2)
    found = result(real, wanted, play(Sweep(real, wanted), answer))
    assert found.verdict is Verdict.INVALID
    assert len(found.reasons) == 4
    assert rates_of(found) == [None, None]


def test_beyond_poolers_own_pool_is_told(real: Catalog) -> None:
    told = [finding.code for finding in result(real, asked("pool=4,8", NAME), []).findings]
    assert told == ["pooled"]
    assert result(real, asked("connections=4,8", NAME), []).findings == []


def on_cores(own_cores: int) -> Request:
    """One core and two, of which so many are the application's alone."""
    options = SweepOptions(
        axis="cores", values=[1, 2], rounds=2, cpusets={1: "1", 2: "0-1"}, own_cores=own_cores
    )
    return request(NAME, study="sweep", plan="ceiling", options=options.as_options())


def test_more_cores_than_its_own_are_shared(real: Catalog) -> None:
    wanted = on_cores(1)
    variants = Sweep(real, wanted).variants
    assert [one.variables["APP_CPUSET"] for one in variants] == ["1", "0-1"]
    assert [one.coordinates for one in variants] == [{"cores": 1}, {"cores": 2}]
    workers = [VariantConditions(real, wanted, one).effective_settings()["WORKERS"] for one in variants]
    assert workers == ["1", "2"], "they follow"
    [finding] = result(real, wanted, []).findings
    assert (finding.code, finding.severity) == ("cores-shared", "warning")
    assert "on more than 1 core the application shares them" in finding.text
    assert result(real, on_cores(2), []).findings == []


def test_a_speed_up_stands_alone_below_five_numbers_of_cores() -> None:
    rates = {value: 100.0 * value / (1 + 0.05 * (value - 1)) for value in (1, 2, 3, 4, 5)}
    assert drawn({value: rates[value] for value in (1, 2, 3, 4)}, "cores").usl is None
    assert drawn(rates, "cores").usl is not None


def test_the_speed_up_is_told(real: Catalog) -> None:
    trials = [made(value, 100.0 * value**0.5, n, "cores") for value in (1, 2) for n in (1, 2)]
    told = text(report(result(real, on_cores(2), trials)))
    assert "speed-up" in told
    assert "× 1.41" in told


def test_a_variable_of_a_readers_own_is_in_its_image(real: Catalog) -> None:
    own = Variant(label="shop:main", implementation=OWN_SERVICE, tag="base")
    tags = {"shop:main": {1: "one", 2: "two"}}
    options = SweepOptions(axis="env:POOL", values=[1, 2], rounds=2, tags=tags).as_options()
    variants = Sweep(real, asked(variants=[own], options=options)).variants
    assert [(one.tag, one.coordinates) for one in variants] == [("one", {"POOL": 1}), ("two", {"POOL": 2})]


# ---- a loss ----


def noisy(rates: dict[int, float], noise: float) -> dict[int, list[Trial]]:
    chance = np.random.default_rng(1)
    return {
        v: [made(v, r * n * float(np.exp(chance.normal(0, noise))), n) for n in (1, 2, 3)]
        for v, r in rates.items()
    }


def said(real: Catalog, rates: dict[int, float], noise: float) -> str:
    wanted = asked(f"connections={','.join(map(str, rates))}", NAME)
    return text(report(result(real, wanted, [t for own in noisy(rates, noise).values() for t in own])))


def test_a_loss_is_told_where_it_is_shown(real: Catalog) -> None:
    told = said(real, {1: 50.0, 4: 100.0, 16: 100.0, 64: 70.0}, 0.01)
    assert re.search(r"90 % of it from 4 on \(4 alone\); (29|30|31)% lost at 64 \(2\d% to 3\d%\)", told)
    flat = said(real, {1: 100.0, 4: 100.0, 16: 100.0, 64: 100.0}, 0.05)
    assert re.search(r"no loss shown at 64 \(at most \d+%\)", flat)
    assert " lost at " not in flat


def test_only_complete_rounds_are_compared(real: Catalog) -> None:
    trials = noisy({1: 50.0, 4: 100.0, 16: 70.0}, 0.01)
    assert there(curve(trials).loss_p) < 0.05
    trials[4][1:] = [trial(f"{NAME} connections=4", n, void_window()) for n in (2, 3)]
    one = curve(trials)
    assert (one.loss_p, one.loss_interval, one.c90_between, one.peak_between) == (None,) * 4


def test_with_noise_it_is_still_near() -> None:
    noise = np.random.default_rng(3).normal(1, 0.01, (3, len(POWERS)))
    trials = {
        v: [made(v, float(r), n) for n, r in enumerate(column, start=1)]
        for v, column in zip(POWERS, (noise * lawful(300, 0.05, 2e-4)).T, strict=True)
    }
    usl = there(curve(trials).usl)
    assert usl.reason is None
    assert usl.lambda_rps == pytest.approx(300, rel=0.05)
    assert usl.sigma == pytest.approx(0.05, rel=0.1)


def test_a_sweep_that_is_interrupted_goes_on_with_its_looks(real: Catalog, tmp_path: Path) -> None:
    wanted = asked("connections=4,16", NAME, rounds=2)
    first, second = FakeLab(raises={6: KeyboardInterrupt()}), FakeLab()
    with pytest.raises(KeyboardInterrupt):
        run(Sweep, wanted, session(real, tmp_path, first))
    later = wanted.model_copy(update={"seed": 99})
    found, _ = run(Sweep, later, session(real, tmp_path, second), resume=True)
    assert second.visited[0] == first.visited[-1], "what was running is made anew"
    visited = [*first.visited[:-1], *second.visited]
    names = [spec.name for block in Sweep(real, wanted).outline() for spec in block]
    assert [name for name in visited if not name.startswith("look-")] == names, "in the first one's order"
    looks = {f"look-{number}-{kind}" for number in (1, 2) for kind in ("null", "database")}
    assert {*visited} == {*names, *looks}
    assert (found.request.seed, found.verdict) == (7, Verdict.OK)
    assert found.baselines.ceilings_rps == {"null": 1000.0, "database": 1000.0}
    assert rates_of(found) == [1000.0, 1000.0]


# ---- the law is fitted where it fits, and only there ----


def lawful(scale: float, sigma: float, kappa: float) -> Floats:
    return law(np.array(POWERS, dtype=np.float64), scale, sigma, kappa)


@settings(max_examples=40, deadline=None, database=None, derandomize=True)
@given(st.floats(50, 5000), st.floats(0.02, 0.3), st.floats(1e-5, 1e-3))
def test_a_curve_that_obeys_the_law_is_recovered(scale: float, sigma: float, kappa: float) -> None:
    rates = lawful(scale, sigma, kappa)
    found = fit(POWERS, list(rates), [None] * len(rates))
    assert found.reason is None
    recovered = (found.lambda_rps, found.sigma, found.kappa, found.peak_at)
    assert recovered == pytest.approx((scale, sigma, kappa, ((1 - sigma) / kappa) ** 0.5), rel=0.05)


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ([100, 900, 100, 900, 100, 900, 100, 900, 100, 900], "does not fit"),
        ([100 * min(n, 8) for n in POWERS], "does not fit|at its bound|do not determine"),
        ([100 * n for n in POWERS], "at its bound"),
        ([500] * len(POWERS), "does not fit|at its bound|do not determine"),
    ],
    ids=["sawtooth", "hard-limit", "linear", "flat"],
)
def test_what_does_not_obey_the_law_gets_no_parameters(rates: list[float], told: str) -> None:
    found = fit(POWERS, rates, [None] * len(rates))
    assert (found.lambda_rps, found.sigma, found.kappa, found.peak_at) == (None, None, None, None)
    assert re.search(told, there(found.reason)), found.reason
