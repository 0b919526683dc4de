"""tandem.studies.compare.detecting: how many blocks follow from a difference, a scatter and a budget."""

import math
import random
import re

import pytest
from harness_engine import request, result_of, text, told_before, told_to, window_spec
from harness_places import ROOT
from harness_samples import NOW, good_window, there
from pydantic import JsonValue

from tandem.analysis.cost import APP, TOTAL
from tandem.catalog.catalog import Catalog
from tandem.engine.run import drive
from tandem.engine.stand_ins import is_look
from tandem.errors import UsageError
from tandem.record.result import Baselines, Result
from tandem.record.trial import Phase, Trial, TrialSpec, WindowRecord
from tandem.record.window import Verdict
from tandem.report.markdown import of_result, pictures_in
from tandem.studies.compare import report
from tandem.studies.compare.command import enough_for_the_first, read_effect
from tandem.studies.compare.conclusions import METRICS, Compared, conclude
from tandem.studies.compare.detecting import LEAST, PILOT, CompareOptions, Design, design
from tandem.studies.compare.study import Compare
from tandem.studies.registry import read_folder

CATALOG = Catalog(ROOT)
BLOCK_S, DUET = 100.0, "duet_cpu_us_per_request"


def asking(**options: JsonValue) -> Compare:
    asked = request("A", "B", study="compare", plan="quick", options={"primary": DUET, **options})
    return Compare(CATALOG, asked)


def made(study: Compare, effect: float = 1.0, noise: float = 0.02, void: tuple[int, ...] = ()) -> list[Trial]:
    """Blocks in which B costs so many times as much, each of 100 s."""

    def make(spec: TrialSpec) -> Trial:
        chance = random.Random(f"5 {spec.key}")
        costs = {"A": 100.0, "A~2": 100.0, "B": 100.0 * effect}
        window = window_spec("duet", *costs, load="open")
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

    return drive(study.plan(), make)


# ---- the design ----

NOISY = [0.08, -0.08, 0.05, -0.05, 0.08, -0.08]


def designed(detect: float | None = 0.03, budget_s: float | None = None, *scatter: list[float]) -> Design:
    """What follows from six blocks of 100 s, as all are."""
    options = CompareOptions(detect=detect, budget_s=budget_s)
    return design(options, scatter or [NOISY], 6 * BLOCK_S, BLOCK_S, 999)


def test_more_scatter_needs_more_blocks_and_the_means_play_no_part() -> None:
    def blocks(times: float, away: float = 0.0, variants: int = 1) -> int:
        values = [times * one + away for one in (0.02, -0.02, 0.01, -0.01, 0.02, -0.02)]
        return designed(0.03, None, *[values] * variants).blocks

    assert blocks(0.1) == LEAST, "the later blocks need a scatter of their own"
    assert LEAST < blocks(2) < blocks(4)
    assert blocks(2) == blocks(2, away=0.5)
    assert blocks(2, variants=3) > blocks(2), "three variants share the 5 %"
    assert designed(0.03, None, [], [0.1]).blocks == PILOT, "nobody who was measured needs no more"


def test_a_budget_ends_it_and_the_scatter_is_not_asked_where_that_leaves_few() -> None:
    free = designed()
    assert free.needed == free.blocks
    assert (free.pilot, free.affordable) == (PILOT, None)
    short = designed(budget_s=2600)
    assert (short.needed, short.affordable, short.blocks, short.pilot) == (free.needed, 26, 26, PILOT)
    assert "which takes another" in short.told
    assert "the budget of 43 min has time for 26: 20 more, about 33 min" in short.told
    few = designed(budget_s=1000)
    assert (few.blocks, few.pilot, few.looks) == (10, 0, (6, 10)), "fixed by the time alone"
    none = designed(budget_s=600)
    assert (none.blocks, none.looks) == (PILOT, ())
    assert none.look(PILOT).level(0.05) == 0.05, "no second look, nothing to share"
    alone = designed(None, 3000)
    assert (alone.needed, alone.blocks, alone.pilot) == (None, 30, 0)


# ---- the study ----


def test_it_goes_on_to_what_the_scatter_needs() -> None:
    study = asking(detect=0.03)
    assert len(study.outline()) == PILOT
    said = told_to(study)
    trials = made(study, noise=0.04)
    found = study.conclude(trials, Baselines()).conclusions
    planned = there(found.design)
    assert len(trials) == planned.blocks == planned.needed
    assert len(trials) > LEAST
    assert found.looks == [PILOT, len(trials)]
    assert len(study.outline()) == len(trials), "the estimate follows"
    assert said[1:] == [planned.told]
    assert re.fullmatch(
        r"after 6 blocks: to detect 3 % with a power of 80 % this host needs \d+ blocks: \d+ more, about \d+ min",
        planned.told,
    )
    quiet = made(asking(detect=0.03), noise=0.001)
    assert len(quiet) == PILOT, "equivalent at once"


def test_a_large_difference_ends_it_after_the_pilot() -> None:
    study = asking(detect=0.03)
    said = told_to(study)
    found = study.conclude(made(study, effect=1.3), Baselines()).conclusions
    assert found.blocks == PILOT
    assert "is decided" in said[-1]
    assert there(found.contrast("B", study.primary)).word == "dearer"


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
    def end_of(study: Compare, effect: float = 1.0) -> str:
        concluded = study.conclude(made(study, effect), Baselines())
        assert (concluded.conclusions.design is not None) is bool(study.asked.detect)
        return text(report.report(result_of(study.request, concluded)))

    equal = end_of(asking(detect=0.03))
    assert "to detect 3 % with a power of 80 % this host needs" in equal
    assert re.search(
        r"B, app CPU, all at once and at one rate, \d+ blocks: differences above [\d.]+ % are excluded; the smallest that"
        r" these blocks can detect is [\d.]+ %",
        equal,
    )
    large = end_of(asking(detect=0.03), effect=1.3)
    assert re.search(r"differences above 3\d[\d.]* % and below 2\d[\d.]* % are excluded", large)
    assert "excluded" not in end_of(asking())


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
    claim = request("A", "B", study="compare", plan="claim", options={"detect": 0.03})
    assert Compare(CATALOG, claim).looks == ()


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


def of_record(folder: str) -> tuple[Result[Compared], Compared]:
    """A committed comparison, and the conclusions that follow from its windows today."""
    _, result, trials = read_folder(ROOT / "results/comparisons" / folder)
    made = [trial for trial in trials if not is_look(trial.spec)]
    return result, conclude(
        made, result.variants, result.baselines, primary=result.conclusions.primary
    ).conclusions


@pytest.mark.parametrize("folder", ["falcon", "python-async", "python-sync"])
def test_a_committed_comparison_of_before_concludes_what_it_did(folder: str) -> None:
    """In words, too. An older record said of a difference within the margin one of both."""
    result, new = of_record(folder)
    for before in (one for one in result.conclusions.contrasts if one.ratio is not None):
        now = there(new.contrast(before.of, before.metric))
        assert (now.n, now.not_ranked) == (before.n, before.not_ranked)
        assert now.ratio == pytest.approx(before.ratio, rel=1e-5)
        assert now.interval == pytest.approx(before.interval, rel=1e-5)
        assert now.p_alone == pytest.approx(before.p_alone, rel=1e-3)
        assert report.told(now) == report.told(before)
    for one in result.conclusions.estimates:
        if one.metric in METRICS and one.mean is not None:
            assert new.mean_of(one.metric, one.position) == pytest.approx(one.mean, rel=1e-5)


def test_the_figures_of_committed_comparisons_are_the_published_ones() -> None:
    """Async Falcon's application needs half as much again, all roles a tenth more, which its record did not tell."""
    for folder, variant, metric, ratio in (
        ("falcon", "falcon-async", APP, 1.450),
        ("falcon", "falcon-async", TOTAL, 1.134),
        ("python-async", "python-sync", DUET, 1.716),
        ("python-async", "python-async-slow", DUET, 1.018),
        ("python-sync", "python-async", APP, 0.563),
    ):
        assert there(of_record(folder)[1].contrast(variant, metric)).ratio == pytest.approx(ratio, abs=0.001)
    falcon, _ = of_record("falcon")
    shown = report.report(falcon)
    assert "at equal rates" not in of_result(shown, falcon), "an older record has none"
    assert pictures_in(shown) == []


def test_what_comes_near_the_one_look_of_an_old_record_is_not_ranked() -> None:
    result, new = of_record("python-async")
    for found in (result.conclusions, new):
        assert [one.censored for one in found.variants.values()] == [True, True, False]
        assert [found.limit(label) for label in found.variants] == ["database", "database", "app-cpu"]
