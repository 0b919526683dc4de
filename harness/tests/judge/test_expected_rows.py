"""tandem.judge.expected_rows: what answers say of the rows behind them, and of the choice that was made."""

import numpy as np
import pytest
from harness_samples import there

from tandem.judge.expected_rows import choice_p, implied_rows

KEYS = {1: 100, 2: 200, 3: 300, 4: 300}
STEPS = {1: 5, 2: 6, 3: 4, 4: 8}
VISIBLE = {n: 1000 + n for n in range(72)}


@pytest.mark.parametrize(
    ("lengths", "own", "rows", "error"),
    [
        ({100: 10, 200: 20}, 0, 10 * 5 + 20 * 6, 0.0),
        ({300: 100}, 0, 100 * 6, 100**0.5 * 2),  # two keys of one length
        ({}, 40, 40 * 5.75, 40**0.5 * np.std([5, 6, 4, 8])),  # the harness's own are of any key
    ],
)
def test_a_length_tells_the_rows(lengths: dict[int, int], own: int, rows: float, error: float) -> None:
    found = implied_rows(lengths, KEYS, {"steps": STEPS}, own=own)["steps"]
    assert (found.rows, found.error, found.most) == pytest.approx((rows, error, 8))
    assert implied_rows(lengths, {}, {}, own=own) == {}, "of what depends on nothing"


def drawn(weights: list[float], number: int) -> dict[int, int]:
    """So many answers, drawn from 72 lengths."""
    counts = np.random.default_rng(7).multinomial(number, np.array(weights) / sum(weights))
    return {1000 + n: int(count) for n, count in enumerate(counts)}


@pytest.mark.parametrize("number", [150, 3_000, 30_000, 1_000_000])
def test_an_even_choice_is_likely(number: int) -> None:
    assert there(choice_p(drawn([1.0] * 72, number), VISIBLE)) > 1e-4


@pytest.mark.parametrize(
    ("weights", "number"),
    [([1.0] + [0.0] * 71, 150), ([0.0] + [1.0] * 71, 8_000), ([1.3] * 36 + [1.0] * 36, 8_000)],
    ids=["always one", "never one", "half of them preferred"],
)
def test_an_uneven_choice_is_not(weights: list[float], number: int) -> None:
    assert there(choice_p(drawn(weights, number), VISIBLE)) < 1e-9


def test_two_of_one_length_come_twice_as_often() -> None:
    assert choice_p({100: 100, 200: 100, 300: 200}, KEYS) == pytest.approx(1.0)
    assert there(choice_p({100: 133, 200: 133, 300: 134}, KEYS)) < 1e-9


def test_few_answers_say_nothing() -> None:
    assert choice_p({1000: 143}, VISIBLE) is None
    assert choice_p({1000: 3000}, {1: 1000}) is None, "there is no choice"
