"""The committed comparisons: the figures are those of the records as they were made."""

import pytest
from harness_places import ROOT

from tandem.analysis.ratios import ALPHA
from tandem.record.window import Verdict
from tandem.studies.compare.conclusions import METRICS, Compared, conclude, second
from tandem.studies.compare.report import told
from tandem.studies.registry import read_folder

DESIGNS = ROOT / "results/comparisons"
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
