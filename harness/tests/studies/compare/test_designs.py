"""The committed comparisons: the figures are those of the records as they were made."""

import pytest
from harness_places import ROOT

from tandem.analysis.cost import TOTAL
from tandem.analysis.ratios import ALPHA
from tandem.engine.side_by_side import second
from tandem.engine.stand_ins import is_look
from tandem.record.conclusion import Contrast
from tandem.record.window import Verdict
from tandem.report.markdown import of_result, pictures_in
from tandem.studies.compare.conclusions import Compared, conclude
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
    if again:
        return conclude(trials, result.variants, result.baselines).conclusions
    assert isinstance(result.conclusions, Compared)
    return result.conclusions


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("folder", ["python-async", "python-sync"])
def test_ratios_and_means_are_those_of_the_old_record(folder: str, again: bool) -> None:
    found = compared(folder, again)
    for _, variant, metric, ratio, interval, p, word in (row for row in RATIOS if row[0] == folder):
        one = found.contrast(variant, metric)
        if one is None:
            assert (variant, metric) == (second("python-async"), RATE), "not published today"
            continue
        assert one.ratio == pytest.approx(ratio, rel=1e-5)
        assert one.interval == pytest.approx(interval, rel=1e-5)
        assert one.p == pytest.approx(p, rel=1e-3)
        if word == "equivalent" and p < ALPHA:
            # today's words tell a difference within the margin as both
            assert (one.word, one.within_margin) == (("dearer", True) if again else (word, False))
            assert told(one).startswith("dearer by 1.8 %")
        elif metric == RATE and variant != second(folder):
            assert one.word == "not ranked"
        else:
            assert one.word == word
            assert told(one).startswith(word)
    for _, variant, metric, mean in (row for row in MEANS if row[0] == folder):
        assert found.mean(variant, metric) == pytest.approx(mean, rel=1e-5)


@pytest.mark.parametrize("again", [False, True])
def test_what_comes_near_the_one_look_of_an_old_record_is_not_ranked(again: bool) -> None:
    found = compared("python-async", again)
    assert [one.censored for one in found.variants.values()] == [True, True, False]
    assert [found.limit(label) for label in found.variants] == ["database", "database", "app-cpu"]


def plain(one: Contrast) -> dict[str, object]:
    """What a record of before says as well."""
    return one.model_dump(mode="json", include={"ratio", "interval", "n", "word", "not_ranked"})


def test_a_committed_comparison_of_before_concludes_what_it_did() -> None:
    """And now its total as well: async Falcon's application needs half as much again, all roles a tenth more."""
    kind, result, trials = read_folder(DESIGNS / "falcon")
    old = result.conclusions
    made = [trial for trial in trials if not is_look(trial.spec)]
    new = conclude(made, result.variants, result.baselines, primary=old.primary).conclusions
    for before in (one for one in old.contrasts if one.ratio is not None):
        now = new.contrast(before.of, before.metric)
        assert now is not None
        assert plain(now) == plain(before)
    assert new.estimates[0].mean == pytest.approx(old.estimates[0].mean, rel=1e-5)
    ratios = [new.contrast("falcon-async", metric) for metric in (COST, TOTAL)]
    assert [one and one.ratio for one in ratios] == pytest.approx([1.450, 1.134], abs=0.001)
    assert "at equal rates" not in of_result(kind.report(result), result), "an older record has none"
    assert pictures_in(kind.report(result)) == []
