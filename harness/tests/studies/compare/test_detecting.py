"""tandem.studies.compare.detecting: how many blocks follow from a difference, a scatter and a budget."""

import math
import random
import re
from collections.abc import Callable

import pytest
from harness_engine import request, result_of, text, told_before, told_to
from harness_places import ROOT
from harness_samples import NOW, good_window
from pydantic import JsonValue

from tandem.analysis.cost import TOTAL
from tandem.analysis.ratios import ALPHA
from tandem.catalog.catalog import Catalog
from tandem.engine.run import drive
from tandem.engine.side_by_side import second
from tandem.engine.stand_ins import is_look
from tandem.errors import UsageError
from tandem.record.conclusion import Contrast
from tandem.record.result import Baselines
from tandem.record.trial import Phase, Trial, TrialSpec, WindowRecord, WindowSpec
from tandem.record.window import Verdict
from tandem.report.markdown import of_result, pictures_in
from tandem.studies.compare import report
from tandem.studies.compare.command import enough_for_the_first, read_effect
from tandem.studies.compare.conclusions import Compared, conclude
from tandem.studies.compare.detecting import LEAST, PILOT, Aim, design
from tandem.studies.compare.report import told
from tandem.studies.compare.study import Compare
from tandem.studies.registry import read_folder

CATALOG = Catalog(ROOT)
BLOCK_S = 100.0


def asking(**options: JsonValue) -> Compare:
    primary: JsonValue = "duet_cpu_us_per_request"
    asked = request("A", "B", study="compare", plan="quick", options={"primary": primary, **options})
    return Compare(CATALOG, asked)


def make_with(
    effect: float, noise: float, void: tuple[int, ...] = (), seed: int = 5
) -> Callable[[TrialSpec], Trial]:
    """What makes blocks in which B costs so many times as much, each of 100 s."""

    def make(spec: TrialSpec) -> Trial:
        chance = random.Random(f"{seed} {spec.key}")
        costs = {"A": 100.0, "A~2": 100.0, "B": 100.0 * effect}
        window = WindowSpec(
            name="duet", variants=list(costs), seconds=2, load="open", trim_start_s=0, trim_end_s=0
        )
        verdict = Verdict.VOID if spec.block in void and spec.attempt == 1 else Verdict.OK
        windows = {
            label: good_window(
                "open",
                app_cpu_us_per_request=cost * math.exp(chance.gauss(0, noise)),
                verdict=verdict if label == "B" else Verdict.OK,
            )
            for label, cost in costs.items()
        }
        phases = [Phase(name="all", duration_s=BLOCK_S)]
        record = WindowRecord(spec=window, windows=windows)
        return Trial(spec=spec, started_at=NOW, verdict=verdict, windows=[record], phases=phases)

    return make


def made(study: Compare, effect: float = 1.0, noise: float = 0.02, void: tuple[int, ...] = ()) -> list[Trial]:
    return drive(study.plan(), make_with(effect, noise, void))


# ---- the design ----


def test_more_scatter_needs_more_blocks_and_the_means_play_no_part() -> None:
    aim = Aim(0.03, None)
    values = [0.02, -0.02, 0.01, -0.01, 0.02, -0.02]

    def blocks(own: list[float]) -> int:
        return design(aim, [own], 600, 100, 999).blocks

    assert blocks([one / 10 for one in values]) == LEAST, "the later blocks need a scatter of their own"
    assert LEAST < blocks([2 * one for one in values]) < blocks([4 * one for one in values])
    assert blocks([2 * one for one in values]) == blocks([2 * one + 0.5 for one in values])
    wide = [2 * one for one in values]
    assert design(aim, [wide, wide, wide], 600, 100, 999).blocks > blocks(wide), (
        "three variants share the 5 %"
    )


def test_a_budget_ends_it_and_the_scatter_is_not_asked_where_that_leaves_few() -> None:
    noisy = [0.08, -0.08, 0.05, -0.05, 0.08, -0.08]
    free = design(Aim(0.03, None), [noisy], 600, 100, 999)
    assert free.needed == free.blocks
    assert (free.pilot, free.affordable) == (PILOT, None)
    short = design(Aim(0.03, 2600), [noisy], 600, 100, 999)
    assert (short.needed, short.affordable, short.blocks, short.pilot) == (free.needed, 26, 26, PILOT)
    assert "which takes another" in short.told
    assert "the budget of 43 min has time for 26: 20 more, about 33 min" in short.told
    few = design(Aim(0.03, 1000), [noisy], 600, 100, 999)
    assert (few.blocks, few.pilot, few.looks) == (10, 0, (6, 10)), "fixed by the time alone"
    none = design(Aim(0.03, 600), [noisy], 600, 100, 999)
    assert (none.blocks, none.looks) == (PILOT, ())
    assert none.look(PILOT).level(0.05) == 0.05, "no second look, nothing to share"
    alone = design(Aim(None, 3000), [noisy], 600, 100, 999)
    assert (alone.needed, alone.blocks, alone.pilot) == (None, 30, 0)


def test_nobody_who_was_measured_needs_no_more() -> None:
    assert design(Aim(0.03, None), [[], [0.1]], 600, 100, 999).blocks == PILOT


# ---- the study ----


def test_it_goes_on_to_what_the_scatter_needs() -> None:
    study = asking(detect=0.03)
    assert len(study.outline()) == PILOT
    said = told_to(study)
    trials = made(study, noise=0.04)
    found = study.conclude(trials, Baselines()).conclusions
    assert found.design is not None
    assert len(trials) == found.design.blocks == found.design.needed
    assert len(trials) > LEAST
    assert found.looks == [PILOT, len(trials)]
    assert len(study.outline()) == len(trials), "the estimate follows"
    _, *news = said
    assert news == [found.design.told]
    assert re.search(
        r"after 6 blocks: to detect 3 % with a power of 80 % this host needs \d+ blocks: \d+ more, about \d+ min",
        news[0],
    )
    quiet = made(asking(detect=0.03), noise=0.001)
    assert len(quiet) == PILOT, "equivalent at once"


def test_a_large_difference_ends_it_after_the_pilot() -> None:
    study = asking(detect=0.03)
    said = told_to(study)
    assert len(made(study, effect=1.3)) == PILOT
    assert "is decided" in said[-1]
    found = study.conclude(made(asking(detect=0.03), effect=1.3), Baselines()).conclusions
    assert found.blocks == PILOT
    one = found.contrast("B", study.primary)
    assert one is not None
    assert one.word == "dearer"


def test_the_plan_is_the_same_when_it_is_told_again() -> None:
    """As after an interruption: the same request and trials lead to the same blocks."""
    first, again = made(asking(detect=0.03), noise=0.04), made(asking(detect=0.03), noise=0.04)
    assert [trial.spec for trial in first] == [trial.spec for trial in again]
    plain = asking()
    assert [trial.spec for trial in first[:6]] == [spec for [spec] in plain.outline()], (
        "nor are its blocks others"
    )


def test_the_budget_is_kept_by_the_time_that_blocks_take() -> None:
    trials = made(asking(budget_s=1500), noise=0.2)
    assert PILOT < len(trials) * BLOCK_S <= 1500
    void = made(asking(budget_s=1500), noise=0.2, void=(2, 8, 9))
    assert any(trial.spec.attempt == 2 for trial in void)
    assert len(void) * BLOCK_S <= 1500 + BLOCK_S


def test_void_blocks_of_the_pilot_are_made_again_before_it_is_looked_at() -> None:
    trials = made(asking(detect=0.03), void=(2,))
    assert [trial.spec.key for trial in trials[5:8]] == ["block-6", "block-2.2", "block-7"]


def test_the_end_says_what_is_excluded() -> None:
    study = asking(detect=0.03)
    concluded = study.conclude(made(study), Baselines())
    told = text(report.report(result_of(study.request, concluded)))
    assert "to detect 3 % with a power of 80 % this host needs" in told
    assert re.search(
        r"B, app CPU, all at once and at one rate, \d+ blocks: differences above [\d.]+ % are excluded; the smallest that"
        r" these blocks can detect is [\d.]+ %",
        told,
    )
    large = study.conclude(made(asking(detect=0.03), effect=1.3), Baselines())
    assert re.search(
        r"differences above 3\d[\d.]* % and below 2\d[\d.]* % are excluded",
        text(report.report(result_of(study.request, large))),
    )
    plain = asking()
    nothing = plain.conclude(made(plain), Baselines())
    assert "excluded" not in text(report.report(result_of(plain.request, nothing)))
    assert nothing.conclusions.design is None


def test_what_goes_on_is_said_beforehand() -> None:
    [told] = told_before(asking(detect=0.03, budget_s=2700))
    assert "until a difference of 3 % can be detected, for 45 min at the most" in told
    assert "for the first 6 blocks" in told


# ---- what may be asked ----


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"detect": 0.03, "looks": [6, 9]}, "give one of them"),
        ({"budget_s": 600, "looks": [6, 9]}, "give one of them"),
        ({"detect": 0.0}, "a difference to detect is 0.1 % to 100 %, not 0 %"),
        ({"detect": 5.0}, "0.1 % to 100 %"),
        ({"budget_s": 0}, "budget_s: Input should be greater than 0"),
    ],
)
def test_what_cannot_be_asked(options: dict[str, JsonValue], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        asking(**options)


def test_a_plan_that_looks_is_told_what_to_detect_instead() -> None:
    asked = request("A", "B", study="compare", plan="claim", options={"detect": 0.03})
    assert Compare(CATALOG, asked).looks == ()


def test_the_difference_is_read_from_the_command() -> None:
    assert (read_effect("3%"), read_effect("1.5 %")) == (0.03, 0.015)
    for wrong in ("3", "three", "-3%", "3%%", "0,5%"):
        with pytest.raises(UsageError, match="a difference such as 3%"):
            read_effect(wrong)


def test_a_budget_below_the_first_blocks_is_refused() -> None:
    enough_for_the_first(600, 600)
    enough_for_the_first(600, None)
    with pytest.raises(
        UsageError, match="--budget 5 min is too short: the first 6 blocks alone take about 10 min"
    ):
        enough_for_the_first(600, 300)


# ---- the figures are those of the records as they were made ----


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
