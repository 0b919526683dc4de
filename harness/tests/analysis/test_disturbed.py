"""tandem.analysis.disturbed: seconds with steal are cut by a rule that is fixed beforehand."""

import math
import random

import numpy as np
import pytest
from harness_samples import PROPERTY
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.disturbed import STEAL_LIMIT, Cut, cut

SECOND = st.tuples(st.integers(0, 10_000), st.floats(0, 4), st.floats(0, 0.2))
WINDOWS = st.lists(SECOND, min_size=1, max_size=40)
Window = list[tuple[int, float, float]]


def cut_of(window: Window, limit: float = STEAL_LIMIT) -> Cut:
    good, cpu_s, steal = zip(*window, strict=True)
    return cut(good, cpu_s, steal, limit)


def test_an_example_by_hand() -> None:
    found = cut([100, 10, 110, 90], [0.2, 9.0, 0.22, 0.18], [0.0, 0.5, 0.02, 0.0])
    assert (found.kept_s, found.cut_s) == (3, 1)
    assert found.goodput_rps == pytest.approx(100)
    assert found.app_cpu_us_per_request == pytest.approx(2000)


@PROPERTY
@given(WINDOWS)
def test_seconds_are_kept_or_cut_and_half_is_needed(window: Window) -> None:
    found = cut_of(window)
    kept = [each for each in window if each[2] <= 0.02]
    assert (found.kept_s, found.kept_s + found.cut_s) == (len(kept), len(window))
    assert (found.goodput_rps is None) == (2 * len(kept) < len(window))
    if found.goodput_rps is not None:
        assert found.goodput_rps == pytest.approx(sum(each[0] for each in kept) / len(kept))
        assert (found.app_cpu_us_per_request is None) == (found.goodput_rps == 0)


@PROPERTY
@given(WINDOWS, st.randoms())
def test_what_is_cut_and_the_order_do_not_matter(window: Window, chance: random.Random) -> None:
    other = [(g, c, s) if s <= 0.02 else (0, 99.0, s) for g, c, s in window]
    chance.shuffle(other)
    one, two = cut_of(window), cut_of(other)
    assert one.model_dump() == pytest.approx(two.model_dump())


@PROPERTY
@given(WINDOWS, st.floats(0, 0.2), st.floats(0, 0.2))
def test_a_higher_limit_never_cuts_more(window: Window, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert cut_of(window, low).cut_s >= cut_of(window, high).cut_s


def test_a_second_that_was_not_measured_is_cut() -> None:
    found = cut([100, math.nan], [0.1, math.nan], [0.0, math.nan])
    assert (found.kept_s, found.goodput_rps) == (1, 100)


def test_no_second_at_all_is_no_window() -> None:
    assert cut([], [], []).goodput_rps is None


@pytest.mark.parametrize("good", [[1.0], [[1.0, 1.0]], [1.0, math.nan]])
def test_what_does_not_fit_is_refused(good: list[float]) -> None:
    with pytest.raises(ValueError, match="second"):
        cut(np.array(good), [1.0, 1.0], [0.0, 0.0])
