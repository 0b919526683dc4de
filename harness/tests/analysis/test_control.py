"""tandem.analysis.control: the baseline against itself, and what its failing does to the intervals."""

import math
import random

import numpy as np
import pytest
from harness_samples import there
from scipy import stats

from tandem.analysis.control import judged
from tandem.analysis.ratios import Floats, Ratio, compare, compare_many, decide

SETS = 20_000
METRICS = 4


def ratios_of(**shifts: float) -> dict[str, Ratio]:
    """The A/A line: metric -> so far off, in six blocks that scatter by 1 %."""
    return {
        name: compare([shift + 0.01 * off for off in (-1, 1, -1, 1, -1, 1)]) for name, shift in shifts.items()
    }


def test_it_passes_where_the_starts_agree_and_fails_where_one_metric_differs() -> None:
    good = there(judged(ratios_of(goodput=0.0, cpu=0.001)))
    assert (good.verdict, good.metrics, good.differing, good.widened_ln) == ("passed", 2, {}, {})
    found = there(judged(ratios_of(goodput=0.003, cpu=-0.03)))
    assert (found.verdict, list(found.differing)) == ("failed", ["cpu"])
    assert found.differing["cpu"].ratio == pytest.approx(math.exp(-0.03))
    assert found.widened_ln == pytest.approx({"goodput": 0.003, "cpu": 0.03}), "of each metric its own"


def test_the_limit_is_one_for_all_metrics() -> None:
    """A p of 0.02 is enough where it stands alone, and is to be expected among eight."""
    one = 0.0135
    assert 0.01 < there(judged(ratios_of(cpu=one))).differing["cpu"].p_adjusted < 0.05
    eight = there(judged(ratios_of(cpu=one, **{f"other_{n}": 0.0 for n in range(7)})))
    assert eight.verdict == "passed"


def test_what_was_not_measured_does_not_count() -> None:
    assert judged({}) is None
    assert judged({"cpu": compare([]), "goodput": compare([0.01])}) is None
    assert there(judged({**ratios_of(cpu=0.0), "duet": compare([])})).metrics == 1


@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_fewer_than_five_percent_of_good_sessions_fail(shared: float) -> None:
    """shared: how much of a metric's scatter all have in common. The more, the fewer fail."""
    chance = np.random.default_rng(2)
    own, common = chance.standard_normal((2000, METRICS, 6)), chance.standard_normal((2000, 1, 6))
    lines = math.sqrt(1 - shared) * own + math.sqrt(shared) * common
    found = [there(judged(dict(zip("abcd", compare_many(line * 0.01), strict=True)))) for line in lines]
    failed = np.mean([one.verdict == "failed" for one in found])
    assert failed <= 0.055
    if shared:
        assert failed < 0.04


# ---- the widened interval ----


def held(drift: float, blocks: int = 6) -> tuple[Floats, Floats, Floats]:
    """Of sessions whose baseline's second start is off by so many standard deviations of a block: whether the control
    fails, and whether the 95 % interval of a variant holds the truth, as it is and widened."""
    first, again, variant = np.random.default_rng(5).standard_normal((3, SETS, blocks))
    again = again + drift
    control, values = again - first, variant - (first + again) / 2
    failed = stats.ttest_1samp(control, 0, axis=-1).pvalue < 0.05 / METRICS
    off, most = np.abs(values.mean(-1)), stats.t.ppf(0.975, blocks - 1) * stats.sem(values, axis=-1)
    return failed, off <= most, off <= most + np.abs(control.mean(-1))


@pytest.mark.parametrize("drift", [1.0, 2.0, 4.0])
def test_a_widened_interval_holds_the_truth_where_the_other_does_not(drift: float) -> None:
    failed, plain, wide = held(drift)
    assert plain[failed].mean() < 0.90, "the negative control"
    assert wide[failed].mean() >= 0.93


def test_what_the_control_cannot_find_it_does_not_mend() -> None:
    """Of all sessions, those whose drift six blocks do not show among them: the loss is told, not hidden."""
    failed, plain, wide = held(2.0)
    assert 0.3 < failed.mean() < 0.7
    assert plain.mean() < np.where(failed, wide, plain).mean() < 0.93


def test_the_verdict_follows_the_widened_interval() -> None:
    """A difference is found exactly where the interval excludes 1, whatever the values."""
    chance = random.Random(3)
    words = set()
    for _ in range(300):
        values = [chance.gauss(chance.choice([0.0, 0.02]), 0.01) for _ in range(8)]
        for widened in (0.0, 0.012):
            ratio = compare(values, widened_ln=widened)
            low, high = there(ratio.interval)
            assert (there(ratio.p_t) < 0.05) == (not low <= 1 <= high)
            words.add((widened, decide([ratio], ["lower"])[0].word))
    assert {(0.0, "dearer"), (0.012, "dearer"), (0.012, "inconclusive"), (0.0, "equivalent")} <= words


def test_a_widening_moves_both_ends_and_the_smallest_difference_and_not_the_ratio() -> None:
    values = [0.02, 0.03, 0.01, 0.025, 0.015, 0.02]
    plain, wide = compare(values), compare(values, widened_ln=0.005)
    assert wide.ratio == plain.ratio
    ends = zip(there(wide.interval), there(plain.interval), strict=True)
    moved = [math.log(w / p) for w, p in ends]
    assert moved == pytest.approx([-0.005, 0.005])
    assert wide.detectable_ratio == pytest.approx((plain.detectable_ratio or 0) * math.exp(0.005))
    beyond = compare(values, widened_ln=0.04)
    assert (beyond.p_t, beyond.p_sign_flip) == (1.0, 1.0)
    assert (beyond.p_equivalent or 0) > 0.5, "wider than the margin: nothing is equivalent"
    constant = compare([0.1] * 6, widened_ln=0.1)
    assert constant.p_t == 1.0, "no scatter is no evidence against what the control allows"
