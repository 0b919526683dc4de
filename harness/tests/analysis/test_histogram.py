"""tandem.analysis.histogram: the library's own bins, and percentiles within three digits of the raw ones."""

import numpy as np
import pytest
from harness_samples import PROPERTY, floats
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.histogram import HIGHEST_US, LOWEST_US, encode, merge, over_starts
from tandem.load.rows import times

PARTS = st.lists(st.lists(st.floats(1e-6, 60), min_size=1, max_size=40), min_size=1, max_size=4)


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
def test_merged_percentiles_are_those_of_the_pooled_values(parts: list[list[float]]) -> None:
    arrays = [np.array(part * 500) for part in parts]
    pooled = np.concatenate(arrays)
    found, n = merge([encode(array) for array in arrays]), len(pooled)
    assert found.samples == n
    for q, value in ((0.5, found.p50), (0.9, found.p90), (0.99, found.p99), (0.999, found.p999)):
        if value is None:
            assert n * (1 - q) < 100
            continue
        ranked = np.sort(pooled)[[max(0, int(q * n + 0.5) - 2), min(n - 1, int(q * n + 0.5))]] * 1e3
        assert ranked[0] * 0.999 - 0.001 <= value <= ranked[1] * 1.001 + 0.001
    assert found.max == pytest.approx(float(pooled.max()) * 1e3, rel=0.001, abs=0.001)
    assert found.mean == pytest.approx(float(pooled.mean()) * 1e3, rel=0.001, abs=0.001)


def test_a_million_values_agree_with_the_raw_percentiles() -> None:
    one, other = chance_times(400_000), chance_times(600_000, seed=2)
    merged, raw = merge([encode(one), encode(other)]), times(np.concatenate([one, other]))
    for name in ("p50", "p90", "p99", "p999", "max"):
        assert getattr(merged, name) == pytest.approx(getattr(raw, name), rel=0.001)


def test_the_mean_of_percentiles_would_be_wrong() -> None:
    """The negative control: what merging without histograms would give."""
    fast, slow = np.full(90_000, 0.001), np.full(10_000, 0.1)
    merged = merge([encode(fast), encode(slow)])
    assert merged.p50 == pytest.approx(1.0, rel=0.001)
    wrong = np.mean([times(fast).p50 or 0, times(slow).p50 or 0])
    assert wrong == pytest.approx(50.5, rel=0.001)


def test_what_never_came_counts_as_the_time_out() -> None:
    found = merge([encode(np.full(9_000, 0.005), censored=1_000, timeout_s=10)])
    assert found.samples == 10_000
    assert found.p50 == pytest.approx(5, rel=0.001)
    assert found.p99 == pytest.approx(10_000, rel=0.001)


def test_nothing_has_no_figures() -> None:
    assert merge([]).samples == merge([encode(floats())]).samples == 0
    assert merge([encode(floats())]).p50 is None


def test_few_values_have_no_percentiles() -> None:
    assert merge([encode(np.full(199, 0.01))]).p50 is None
    assert merge([encode(np.full(200, 0.01))]).p50 == pytest.approx(10, rel=0.001)


def test_it_is_small() -> None:
    assert len(encode(chance_times(1_000_000))) < 20_000


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
    assert found["p99"][0] < (merge([encode(part) for part in parts]).p99 or 0), (
        "the control: the pooled tail"
    )
    assert over_starts([]) == over_starts([encode(floats())]) == {}
