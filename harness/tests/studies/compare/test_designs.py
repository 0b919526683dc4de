"""The committed comparisons and the two benchmarks that read them: the figures are those of the records as they were made
(schema 1), before they were migrated."""

import importlib.util
import math
import sys
from pathlib import Path
from statistics import fmean, stdev
from types import ModuleType

import pytest
from harness_engine import request, result_of, trial
from harness_places import ROOT
from harness_samples import good_window, host

from tandem.analysis.ratios import ALPHA
from tandem.record.host import Hiccup, PerSecond
from tandem.record.result import Concluded
from tandem.record.store import RESULT, TRIALS, write_model
from tandem.record.window import Verdict, Window
from tandem.studies.bench.conclusions import Benched
from tandem.studies.compare.conclusions import METRICS, Compared, conclude, second
from tandem.studies.compare.report import told
from tandem.studies.registry import read_folder

DESIGNS = ROOT / "results/comparisons"
GOODPUT, CPU = "goodput", "CPU per request"
RATE, COST, DUET = "goodput_rps", "app_cpu_us_per_request", "duet_cpu_us_per_request"

RATIOS = [
    ("python-async", "python-async~2", RATE, 0.944654, (0.859058, 1.03878), 0.183969, "inconclusive"),
    ("python-async", "python-async~2", COST, 1.03025, (0.979482, 1.08365), 0.189969, "inconclusive"),
    ("python-async", "python-async~2", DUET, 1.00029, (0.987673, 1.01306), 0.95617, "equivalent"),
    ("python-async", "python-async-slow", RATE, 1.00104, (0.940515, 1.06546), 0.967531, "inconclusive"),
    ("python-async", "python-async-slow", COST, 1.0384, (1.00115, 1.07703), 0.0453543, "dearer"),
    ("python-async", "python-async-slow", DUET, 1.01804, (1.01263, 1.02347), 0.000345034, "equivalent"),
    ("python-async", "python-sync", RATE, 0.902352, (0.8333, 0.977127), 0.0421217, "slower"),
    ("python-async", "python-sync", COST, 1.64373, (1.51494, 1.78347), 3.86385e-05, "dearer"),
    ("python-async", "python-sync", DUET, 1.71649, (1.66446, 1.77016), 2.02041e-07, "dearer"),
    ("python-sync", "python-async", RATE, 1.2059, (1.12722, 1.29007), 0.000840669, "faster"),
    ("python-sync", "python-async", COST, 0.563176, (0.541742, 0.585458), 2.36599e-07, "cheaper"),
]
MEANS = [
    ("python-async", "python-async", RATE, 671.752),
    ("python-async", "python-async", COST, 899.784),
    ("python-async", "python-async", DUET, 1806.79),
    ("python-async", "python-async-slow", COST, 950.619),
    ("python-async", "python-sync", RATE, 587.214),
    ("python-sync", "python-sync", RATE, 614.658),
    ("python-sync", "python-async", COST, 787.525),
]
PAIRED = {
    "python-async": {
        "rate, 1 rounds": "6 blocks of   28 s; A/A -5.56%; scatter 30.64%;  32 blocks in 15 min find 17.0%",
        "rate, 6 rounds": "6 blocks of   80 s; A/A -5.69%; scatter 9.05%;  11 blocks in 15 min find 8.9%",
        "rate, stolen seconds cut, 6 rounds": "6 blocks of   80 s; A/A -5.72%; scatter 9.76%;  11 blocks in 15 min find 9.6%",
        "CPU per request, 6 rounds": "6 blocks of   80 s; A/A +2.98%; scatter 4.82%;  11 blocks in 15 min find 4.6%",
        "CPU per request, all at once": "6 blocks of   45 s; A/A +0.03%; scatter 1.21%;  19 blocks in 15 min find 0.8%",
    },
    "python-sync": {
        "rate, 1 rounds": "6 blocks of   28 s; A/A +6.00%; scatter 26.99%;  31 blocks in 15 min find 15.1%",
        "rate, 6 rounds": "6 blocks of   81 s; A/A +0.76%; scatter 4.81%;  11 blocks in 15 min find 4.6%",
        "CPU, stolen seconds cut, 6 rounds": "6 blocks of   81 s; A/A +1.89%; scatter 5.95%;  11 blocks in 15 min find 5.7%",
    },
}


def compared(folder: str, again: bool) -> Compared:
    """The conclusions of a record, or those that follow from its windows today."""
    _, result, trials = read_folder(DESIGNS / folder)
    assert result.verdict is Verdict.OK
    if not again:
        assert isinstance(result.conclusions, Compared)
        return result.conclusions
    labels = [variant.label for variant in result.request.variants]
    return conclude(trials, labels, result.baselines).conclusions


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(("folder", "variant", "metric", "ratio", "interval", "p", "word"), RATIOS)
def test_the_ratios_are_those_of_the_old_record(
    folder: str,
    variant: str,
    metric: str,
    ratio: float,
    interval: tuple[float, float],
    p: float,
    word: str,
    again: bool,
) -> None:
    found = compared(folder, again)
    against = {line.variant: line.against_reference for line in found.entries}
    one = {**against, second(folder): found.same_against_itself}[variant][metric]
    assert one.ratio.ratio == pytest.approx(ratio, rel=1e-5)
    assert one.ratio.interval == pytest.approx(interval, rel=1e-5)
    assert one.p_adjusted == pytest.approx(p, rel=1e-3)
    if (
        again and word == "equivalent" and p < ALPHA
    ):  # today's words tell a difference within the margin as both
        assert (one.verdict, one.within_margin) == ("dearer", True)
    else:
        assert one.verdict == word
        assert told(one, METRICS[metric].better).startswith(
            "dearer by 1.8 %" if p < ALPHA and word == "equivalent" else word
        )


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(("folder", "variant", "metric", "mean"), MEANS)
def test_the_means_are_those_of_the_old_record(
    folder: str, variant: str, metric: str, mean: float, again: bool
) -> None:
    [line] = [line for line in compared(folder, again).entries if line.variant == variant]
    assert line.means[metric] == pytest.approx(mean, rel=1e-5)


@pytest.mark.parametrize("again", [False, True])
def test_what_comes_near_the_one_look_of_an_old_record_is_not_ranked(again: bool) -> None:
    lines = compared("python-async", again).entries
    assert [line.censored for line in lines] == [True, True, False]
    assert [line.bottleneck for line in lines] == ["database", "database", "app-cpu"]


# ---- the benchmarks ----


def benchmark(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"harness/benchmarks/{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its dataclasses look their types up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pairing() -> ModuleType:
    return benchmark("pairing")


@pytest.fixture(scope="module")
def speed() -> ModuleType:
    return benchmark("host_speed")


@pytest.mark.parametrize("folder", PAIRED)
def test_each_design_finds_what_it_found_from_the_old_record(pairing: ModuleType, folder: str) -> None:
    host, found = pairing.designs(DESIGNS / folder)
    told = {design.name: str(design) for design in found}
    assert host.startswith("steal 0.0% on average")
    for name, words in PAIRED[folder].items():
        assert told[name].endswith(words)


def test_a_scatter_of_nothing_finds_anything(pairing: ModuleType) -> None:
    noisy = pairing.Design("noisy", [0.1, -0.1, 0.05, -0.05, 0.0, 0.0], 45.0)
    calm = pairing.Design("calm", [0.01, -0.01, 0.005, -0.005, 0.0, 0.0], 45.0)
    assert noisy.in_budget == calm.in_budget == 20
    assert noisy.finds > 9 * calm.finds > 0
    assert "too few blocks" in str(pairing.Design("short", [0.1, 0.2], 45.0))


# ---- seconds with steal ----


def window(good: list[int], cpu_s: list[float], steal: list[float]) -> Window:
    """One with these seconds."""
    seconds = PerSecond(second=[*range(len(good))], good=good, app_cpu_s=cpu_s, steal_share=steal)
    return good_window().model_copy(update={"per_second": seconds})


def test_seconds_with_steal_are_cut_whatever_they_had(pairing: ModuleType) -> None:
    for answers, cpu_s in ((10, 9.0), (0, 0.0), (5000, math.nan)):
        found = window([100, answers, 110, 90], [0.2, cpu_s, 0.22, 0.18], [0.0, 0.5, 0.02, 0.0])
        assert pairing.cut_rate(found) == pytest.approx(100)
        assert pairing.cut_cost(found) == pytest.approx(2000)


def test_a_second_that_was_not_measured_is_cut(pairing: ModuleType) -> None:
    assert pairing.cut_rate(window([100, 7], [0.1, math.nan], [0.0, math.nan])) == 100


@pytest.mark.parametrize(("stolen", "rate"), [(0, 100), (2, 100), (3, None), (4, None)])
def test_half_of_the_seconds_are_needed(pairing: ModuleType, stolen: int, rate: float | None) -> None:
    found = window([100] * 4, [0.1] * 4, [0.021] * stolen + [0.02] * (4 - stolen))
    assert pairing.cut_rate(found) == rate
    assert (pairing.cut_cost(found) is None) == (rate is None)


def test_a_kept_second_without_a_figure_is_refused(pairing: ModuleType) -> None:
    with pytest.raises(ValueError, match="second"):
        pairing.cut_cost(window([1, 1], [1.0, math.nan], [0.0, 0.0]))


def test_no_second_and_no_answer_have_no_figure(pairing: ModuleType) -> None:
    assert pairing.cut_rate(window([], [], [])) is None
    assert pairing.cut_rate(good_window().model_copy(update={"per_second": None})) is None
    assert pairing.cut_cost(window([0], [0.1], [0.0])) is None


# ---- the host's speed ----


def test_the_hosts_speed_tells_what_it_told_of_the_old_records(speed: ModuleType) -> None:
    found = [
        (folder, line.variant, f"{100 * stdev(line.raw):.1f} to {100 * stdev(line.corrected):.1f}")
        for folder in ("python-async", "python-sync")
        for line in speed.compared(DESIGNS / folder, GOODPUT)[2]
        if line.variant == second(folder)
    ]
    assert found == [
        ("python-async", "python-async~2", "9.1 to 7.1"),
        ("python-sync", "python-sync~2", "4.8 to 7.1"),
    ]
    lines = {line.variant: line for line in speed.compared(DESIGNS / "python-async", CPU)[2]}
    slow = lines["python-async-slow"]
    raw, corrected, wake_ups = (math.exp(fmean(part)) for part in (slow.raw, slow.corrected, slow.wake_ups))
    assert f"{raw:.3f} {corrected:.3f} {wake_ups:.3f}" == "1.054 1.009 1.019"


def test_starts_that_are_as_fast_as_their_wake_ups_are_cheap_show_it(
    speed: ModuleType, tmp_path: Path
) -> None:
    """Two variants, each at a level of its own."""
    asked, nothing = request("one", "two"), Benched(rows=[], blocks=3)
    write_model(tmp_path / RESULT, result_of(asked, Concluded(verdict=Verdict.OK, conclusions=nothing)))
    (tmp_path / TRIALS).mkdir()
    for label, level in (("one", 100.0), ("two", 300.0)):
        for block, cores in enumerate((0.01, 0.012, 0.015), start=1):
            meter = Hiccup(realtime=True, cpu_cores=cores, samples=1000, p999_ms=0.4, max_ms=2.0)
            window = good_window(goodput_rps=level * cores**-0.9, host=host(hiccup=meter))
            made = trial(label, block, window)
            write_model(tmp_path / TRIALS / f"{made.spec.key}.json", made)
    assert speed.started(tmp_path, GOODPUT) == pytest.approx((-0.9, -1.0), abs=1e-4)


def test_a_covariate_that_knows_the_noise_takes_it_away(speed: ModuleType) -> None:
    """And one that knows nothing does not."""
    noise = [0.3, -0.2, 0.1, -0.1, 0.05, -0.15]
    slope, correlation = speed.within([[(x, 7 - 2 * x) for x in noise], [(x, 3 - 2 * x) for x in noise]])
    assert (round(slope, 6), round(correlation, 6)) == (-2.0, -1.0)
    shuffled = [0.1, 0.05, 0.3, -0.15, -0.2, -0.1]
    _, none = speed.within([list(zip(noise, shuffled, strict=True))])
    assert abs(none) < 0.6
