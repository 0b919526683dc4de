"""tandem.analysis.histogram: the library's own bins, and percentiles within three digits of the raw ones."""

import numpy as np
import pytest
from harness_samples import PROPERTY, floats, there
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.histogram import HIGHEST_US, LOWEST_US, curve, encode, over_starts
from tandem.load.rows import times

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


def test_the_mean_of_percentiles_would_be_wrong() -> None:
    """The negative control: what pooling without histograms would give."""
    fast, slow = np.full(90_000, 0.001), np.full(10_000, 0.1)
    assert pooled_ms([fast, slow])[0.5] == pytest.approx(1.0, rel=0.001)
    assert np.mean([there(times(one).p50) for one in (fast, slow)]) == pytest.approx(50.5, rel=0.001)


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
