"""tandem.analysis.alternation: blocks of windows that take turns."""

import pytest
from harness_samples import PROPERTY
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.alternation import alternation
from tandem.errors import UsageError

NAMES = st.lists(st.text("abcdef-", min_size=1, max_size=8), min_size=1, max_size=5, unique=True)
COUNTS = st.integers(1, 9)
SEEDS = st.integers(0, 2**31 - 1)


@PROPERTY
@given(NAMES, COUNTS, COUNTS, SEEDS)
def test_every_round_and_start_has_each_once_and_each_second_is_the_reverse(
    names: list[str], rounds: int, blocks: int, seed: int
) -> None:
    found = alternation(names, rounds, blocks, seed)
    assert found == alternation(list(names), rounds, blocks, seed), "the seed fixes it"
    assert [block.number for block in found] == list(range(1, blocks + 1))
    for block in found:
        assert len(block.rounds) == rounds
        for order in (block.starts, *block.rounds):
            assert sorted(order) == sorted(names)
        for first, second in zip(block.rounds[::2], block.rounds[1::2], strict=False):
            assert second == first[::-1]


def test_pairs_blocks_and_seeds_differ() -> None:
    names = ["a", "b", "c", "d", "a~2"]
    [block] = alternation(names, 40, 1, 1)
    assert len({tuple(order) for order in block.rounds[::2]}) > 15
    assert len({tuple(block.starts) for block in alternation(names, 1, 40, 1)}) > 30
    assert len({tuple(alternation(names, 1, 1, seed)[0].starts) for seed in range(40)}) > 30


def test_a_linear_drift_falls_on_all_alike() -> None:
    for block in alternation(["a", "b", "c"], 6, 3, 7):
        windows = [label for order in block.rounds for label in order]
        mean = {one: sum(i for i, w in enumerate(windows) if w == one) / 6 for one in set(windows)}
        assert set(mean.values()) == {(len(windows) - 1) / 2}


@pytest.mark.parametrize(
    ("names", "rounds", "blocks", "told"),
    [
        (["a", "b", "a"], 1, 1, "'a' is given twice"),
        (["a"], 0, 1, "measure nothing"),
        (["a"], 1, 0, "measure nothing"),
    ],
)
def test_what_cannot_be_scheduled(names: list[str], rounds: int, blocks: int, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        alternation(names, rounds, blocks, 1)


def test_the_order_is_that_of_older_records() -> None:
    """That of results/comparisons/python-sync, by its seed."""
    first = alternation(["python-sync", "python-async", "python-sync~2"], 6, 6, 41)[0]
    assert first.starts == ["python-async", "python-sync~2", "python-sync"]
    assert first.rounds[1] == first.rounds[0][::-1] == ["python-sync~2", "python-async", "python-sync"]
