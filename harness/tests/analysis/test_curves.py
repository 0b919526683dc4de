"""tandem.analysis.curves: what noise makes of a flat curve, and of one that falls."""

import math
import random

import numpy as np
import pytest
from harness_samples import PROPERTY, floats, there
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tandem.analysis.curves import _dunnett, loss, where
from tandem.analysis.histogram import HIGHEST_US, LOWEST_US, curve, encode, over_starts
from tandem.analysis.ratios import ALPHA, Floats
from tandem.analysis.threshold import StartProbes, threshold
from tandem.load.rows import times

SETS = 1000
FLAT = np.full(10, 1000.0)
FALLING = 1000 * np.array([0.2, 0.4, 0.7, 0.95, 1.0, 1.0, 0.97, 0.9, 0.85, 0.8])


def sweeps(curve: Floats, noise: float = 0.05, rounds: int = 3, seed: int = 1) -> list[Floats]:
    """Rounds of a host that is of another speed in each."""
    chance = np.random.default_rng(seed)
    shape = (SETS, rounds, len(curve))
    host = np.exp(chance.normal(0, 0.15, (SETS, rounds, 1)))
    return list(curve * host * np.exp(chance.normal(0, noise, shape)))


def told(curve: Floats, **changes: float) -> float:
    """Share of sweeps in which a loss is shown."""
    found = [loss(rates) for rates in sweeps(curve, **changes)]  # type: ignore[arg-type]
    return float(np.mean([one is not None and one.shown for one in found]))


@pytest.mark.parametrize("rounds", [2, 3, 6])
def test_a_flat_curve_shows_a_loss_in_five_percent(rounds: int) -> None:
    error = 3 * (ALPHA * (1 - ALPHA) / SETS) ** 0.5
    assert told(FLAT, rounds=rounds) <= ALPHA + error


def test_a_paired_test_against_the_highest_does_not_hold_that() -> None:
    """The control: the peak was chosen from the same data."""
    false = []
    for rates in sweeps(FLAT):
        ln = np.log(rates)
        peak = ln[:, :-1].mean(axis=0).argmax()
        false.append(stats.ttest_rel(ln[:, peak], ln[:, -1], alternative="greater").pvalue < ALPHA)
    assert np.mean(false) > 0.10


def test_a_loss_of_a_fifth_is_shown_and_none_of_a_curve_that_rises() -> None:
    assert told(FALLING) > 0.9
    assert told(FALLING, noise=0.02) == 1
    assert told(1000 * np.array([0.1, 0.2, 0.4, 0.8, 1.0, 1.0])) <= ALPHA + 0.02


@pytest.mark.parametrize("noise", [0.02, 0.05])
def test_the_interval_of_the_loss_holds_the_truth(noise: float) -> None:
    for shape, truth in ((FALLING, 0.2), (FLAT, 0.0)):
        found = [one.interval for rates in sweeps(shape, noise) if (one := loss(rates))]
        assert np.mean([low <= truth <= high for low, high in found]) >= 0.93


def test_the_draws_are_dunnetts() -> None:
    """As scipy's multivariate t has them."""
    for others, freedom in ((3, 15), (4, 20), (9, 18)):
        largest, all_within = _dunnett(others, freedom)
        point = float(np.quantile(largest, 0.95))
        shape = 0.5 * (np.eye(others) + 1)
        exact = stats.multivariate_t.cdf(np.full(others, point), shape=shape, df=freedom, random_state=1)
        assert exact == pytest.approx(0.95, abs=3e-3)
        ends = np.full(others, all_within)
        exact = stats.multivariate_t.cdf(ends, shape=shape, df=freedom, lower_limit=-ends, random_state=1)
        assert exact == pytest.approx(0.95, abs=3e-3)


def test_without_noise_it_is_exact() -> None:
    rates = np.array([[50.0, 100.0, 100.0, 80.0], [100.0, 200.0, 200.0, 160.0]])
    found = there(loss(rates))
    assert found.interval == pytest.approx((0.2, 0.2), abs=1e-6)
    assert found.p < 1e-3
    assert there(where(rates, 0.9)).reaches == (1, 1)


def test_where_it_reaches_its_share_is_within_the_range() -> None:
    found = [there(where(rates, 0.9)) for rates in sweeps(FALLING)]
    noisy = [there(where(rates, 0.9)) for rates in sweeps(FALLING, 0.10)[:200]]
    assert np.mean([one.reaches[0] <= 3 <= one.reaches[1] for one in found]) >= 0.93
    assert np.mean([one.peak[0] <= 5 and one.peak[1] >= 4 for one in found]) >= 0.93
    widths = [np.mean([one.reaches[1] - one.reaches[0] for one in sets]) for sets in (found, noisy)]
    assert widths[0] < widths[1]


@pytest.mark.parametrize("shape", [(1, 4), (3, 1)])
def test_too_little_says_nothing(shape: tuple[int, int]) -> None:
    assert loss(np.ones(shape)) is None
    assert where(np.ones(shape), 0.9) is None


# ---- a limit from probes of several starts ----


def edges(limit: float, width: float = 1.02) -> StartProbes:
    """A start that passes just below a limit and fails just above it."""
    return [(limit / width, True), (limit * width, False)]


@PROPERTY
@given(st.floats(10, 1e6), st.integers(2, 6))
def test_starts_that_agree_have_their_limit(limit: float, starts: int) -> None:
    found = there(threshold([edges(limit)] * starts))
    assert found.rate_rps == pytest.approx(limit, rel=0.01)
    assert found.interval_rps[0] < limit < found.interval_rps[1]
    assert (found.starts, found.probes) == (starts, 2 * starts)


@PROPERTY
@given(st.floats(0.01, 1000))
def test_another_unit_changes_nothing_else(factor: float) -> None:
    starts = [edges(1000.0), edges(1100.0), [(1000.0, True), (1050.0, True), (1200.0, False)]]
    scaled = [[(r * factor, p) for r, p in start] for start in starts]
    found, other = there(threshold(starts)), there(threshold(scaled))
    assert other.rate_rps == pytest.approx(found.rate_rps * factor, rel=2e-3)
    assert other.interval_rps == pytest.approx([end * factor for end in found.interval_rps], rel=4e-3)


def test_more_starts_narrow_it_and_more_scatter_widens_it() -> None:
    def width(sd: float, starts: int) -> float:
        chance = random.Random(2)
        found = there(threshold([edges(1000 * math.exp(chance.gauss(0, sd))) for _ in range(starts)]))
        return math.log(found.interval_rps[1] / found.interval_rps[0])

    assert width(0.08, 12) < width(0.08, 6) < width(0.08, 3)
    assert width(0.02, 6) < width(0.08, 6)


def test_a_start_counts_and_not_its_probes() -> None:
    """Once each start's limit is known, further probes of the same starts say nothing of the next one."""
    limits = (900.0, 950.0, 1000.0, 1050.0, 1100.0)
    few, many = (there(threshold([[*edges(one)] * times for one in limits])) for times in (10, 40))
    assert many.interval_rps == pytest.approx(few.interval_rps, rel=0.05)
    assert many.start_sd == pytest.approx(0.08, abs=0.03)


def test_probes_on_one_side_tell_no_limit() -> None:
    assert threshold([[(100.0, True)], [(200.0, True)]]) is None
    assert threshold([]) is None
    assert threshold([[], [(100.0, False)]]) is None


# ---- the library's own bins, and percentiles within three digits of the raw ones ----


PARTS = st.lists(st.lists(st.floats(1e-6, 60), min_size=1, max_size=40), min_size=1, max_size=4)


def pooled_ms(parts: list[np.ndarray]) -> dict[float, float]:
    """The percentiles of all that the histograms hold, as far as there are samples for them."""
    return dict(curve([encode(part) for part in parts], (0.5, 0.9, 0.99, 0.999)))


def chance_times(n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).lognormal(-5, 1.2, n)


def test_it_is_what_the_library_would_record() -> None:
    values = np.concatenate(
        [chance_times(2000), floats(0, 1e-6, 2047e-6, 2048e-6, 2049e-6, 4095e-6, 59.99, 60, 99)]
    )
    own = HdrHistogram(LOWEST_US, HIGHEST_US, 3)
    for value in values:
        own.record_value(int(np.clip(np.rint(value * 1e6), LOWEST_US, HIGHEST_US)))
    ours = HdrHistogram.decode(encode(values))
    assert ours.get_total_count() == len(values)
    assert [ours.get_count_at_index(i) for i in range(own.counts_len)] == [
        own.get_count_at_index(i) for i in range(own.counts_len)
    ]


@PROPERTY
@given(PARTS)
def test_pooled_percentiles_are_those_of_the_pooled_values(parts: list[list[float]]) -> None:
    arrays = [np.array(part * 500) for part in parts]
    pooled = np.sort(np.concatenate(arrays))
    found, n = pooled_ms(arrays), len(pooled)
    assert set(found) == {q for q in (0.5, 0.9, 0.99, 0.999) if n * (1 - q) >= 100 * (1 - 1e-9)}
    for q, value in found.items():
        least, greatest = pooled[[max(0, int(q * n + 0.5) - 2), min(n - 1, int(q * n + 0.5))]] * 1e3
        assert least * 0.999 - 0.001 <= value <= greatest * 1.001 + 0.001


def test_a_million_values_agree_with_the_raw_percentiles() -> None:
    one, other = chance_times(400_000), chance_times(600_000, seed=2)
    raw = times(np.concatenate([one, other]))
    found = pooled_ms([one, other])
    assert list(found.values()) == pytest.approx([raw.p50, raw.p90, raw.p99, raw.p999], rel=0.001)
    assert len(encode(one)) < 20_000, "it is small"


def test_what_never_came_counts_as_the_time_out() -> None:
    found = dict(curve([encode(np.full(9_000, 0.005), censored=1_000, timeout_s=10)], (0.5, 0.99)))
    assert found == pytest.approx({0.5: 5, 0.99: 10_000}, rel=0.001)


def test_few_values_have_no_percentiles() -> None:
    assert pooled_ms([]) == pooled_ms([floats()]) == pooled_ms([np.full(199, 0.01)]) == {}
    assert pooled_ms([np.full(200, 0.01)]) == pytest.approx({0.5: 10}, rel=0.001)


def test_over_starts_the_median_and_the_range_are_told() -> None:
    parts = [
        np.full(6_000, 0.010),
        np.full(6_000, 0.030),
        np.append(np.full(5_400, 0.020), np.full(600, 9.0)),
    ]
    found = over_starts([encode(part) for part in parts])
    assert found["p50"] == pytest.approx((20, 10, 30), rel=0.001)
    assert found["p99"] == pytest.approx((30, 10, 9_000), rel=0.001)
    assert "p999" not in found, "18 samples beyond it are too few"
    assert found["p99"][0] < pooled_ms(parts)[0.99], "the control: the pooled tail"
    assert over_starts([]) == over_starts([encode(floats())]) == {}
