"""tandem.analysis.schedule.alternation: blocks of windows that take turns, the reference twice."""

import pytest
from harness_samples import PROPERTY
from hypothesis import given
from hypothesis import strategies as st

from tandem.analysis.schedule import Entrant, alternation
from tandem.errors import UsageError

NAMES = st.lists(st.text("abcdef-", min_size=1, max_size=8), min_size=1, max_size=5, unique=True)
COUNTS = st.integers(1, 9)
SEEDS = st.integers(0, 2**31 - 1)


@PROPERTY
@given(NAMES, COUNTS, COUNTS, SEEDS)
def test_every_round_and_start_has_each_once_and_the_reference_twice(
    names: list[str], rounds: int, blocks: int, seed: int
) -> None:
    found = alternation(names, names[0], rounds, blocks, seed)
    everyone = sorted([*names, f"{names[0]}~2"])
    assert [block.index for block in found] == list(range(1, blocks + 1))
    for block in found:
        assert len(block.rounds) == rounds
        for order in (block.starts, *block.rounds):
            assert sorted(entrant.label for entrant in order) == everyone


@PROPERTY
@given(NAMES, COUNTS, COUNTS, SEEDS)
def test_each_second_round_is_the_reverse_of_the_one_before(
    names: list[str], rounds: int, blocks: int, seed: int
) -> None:
    for block in alternation(names, names[-1], rounds, blocks, seed):
        for first, second in zip(block.rounds[::2], block.rounds[1::2], strict=False):
            assert second == first[::-1]


@PROPERTY
@given(NAMES, COUNTS, COUNTS, SEEDS)
def test_the_seed_fixes_it(names: list[str], rounds: int, blocks: int, seed: int) -> None:
    given_names = list(names)
    assert alternation(names, names[0], rounds, blocks, seed) == alternation(
        names, names[0], rounds, blocks, seed
    )
    assert names == given_names


def test_pairs_blocks_and_seeds_differ() -> None:
    names = ["a", "b", "c", "d"]
    [block] = alternation(names, "a", 40, 1, 1)
    assert len({tuple(order) for order in block.rounds[::2]}) > 15
    assert len({tuple(block.starts) for block in alternation(names, "a", 1, 40, 1)}) > 30
    assert len({tuple(alternation(names, "a", 1, 1, seed)[0].starts) for seed in range(40)}) > 30


def test_a_linear_drift_falls_on_all_alike() -> None:
    for block in alternation(["a", "b", "c"], "b", 6, 3, 7):
        windows = [entrant for order in block.rounds for entrant in order]
        mean = {e: sum(i for i, w in enumerate(windows) if w == e) / 6 for e in set(windows)}
        assert set(mean.values()) == {(len(windows) - 1) / 2}


def test_the_copy_is_told_from_the_first() -> None:
    assert Entrant("rust-async").label == "rust-async"
    assert Entrant("rust-async", 2).label == "rust-async~2"
    assert Entrant("a") != Entrant("a", 2)


@pytest.mark.parametrize(
    ("names", "reference", "rounds", "blocks", "told"),
    [
        (["rust-sync"], "rust-snyc", 1, 1, "Did you mean 'rust-sync'"),
        (["a", "b", "a"], "b", 1, 1, "'a' is given twice"),
        (["a"], "a", 0, 1, "measure nothing"),
        (["a"], "a", 1, 0, "measure nothing"),
    ],
)
def test_what_cannot_be_scheduled(
    names: list[str], reference: str, rounds: int, blocks: int, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        alternation(names, reference, rounds, blocks, 1)
