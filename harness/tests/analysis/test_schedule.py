"""tandem.analysis.schedule: randomised complete blocks."""

from collections import Counter

from harness_samples import PROPERTY
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tandem.analysis.schedule import schedule

RUNS = st.lists(st.text("abcdef-", min_size=1, max_size=8), min_size=1, max_size=6, unique=True)
SEEDS = st.integers(0, 2**31 - 1)


@PROPERTY
@given(RUNS, st.integers(1, 20), SEEDS)
def test_each_block_has_each_run_once_and_blocks_follow_each_other(
    runs: list[str], trials: int, seed: int
) -> None:
    visits = schedule(runs, trials, seed)
    assert [visit.block for visit in visits] == [b for b in range(1, trials + 1) for _ in runs]
    for block in range(1, trials + 1):
        assert sorted(visit.run for visit in visits if visit.block == block) == sorted(runs)


@PROPERTY
@given(RUNS, st.integers(1, 20), SEEDS)
def test_the_same_seed_gives_the_same_order(runs: list[str], trials: int, seed: int) -> None:
    assert schedule(runs, trials, seed) == schedule(runs, trials, seed)


def test_the_argument_is_left_as_it_is() -> None:
    runs = ["a", "b", "c", "d"]
    schedule(runs, 10, 1)
    assert runs == ["a", "b", "c", "d"]


def test_seeds_and_blocks_differ_in_their_order() -> None:
    runs = [f"run-{i}" for i in range(6)]
    orders = [tuple(visit.run for visit in schedule(runs, 1, seed)) for seed in range(50)]
    assert len(set(orders)) > 40
    visits = schedule(runs, 50, 1)
    blocks = {tuple(v.run for v in visits[i : i + 6]) for i in range(0, len(visits), 6)}
    assert len(blocks) > 40


def test_positions_are_uniform_over_many_seeds() -> None:
    """Chi-square of run x position; the seeds are fixed, so the outcome is."""
    runs = ["a", "b", "c", "d"]
    counts = Counter(
        (visit.run, place % 4) for seed in range(1000) for place, visit in enumerate(schedule(runs, 3, seed))
    )
    table = [[counts[run, place] for place in range(4)] for run in runs]
    assert sum(map(sum, table)) == 12_000
    assert stats.chi2_contingency(table).pvalue > 0.01


def test_the_test_of_uniform_positions_can_fail() -> None:
    """Negative control: an order that is never shuffled."""
    table = [[3000 if place == run else 1 for place in range(4)] for run in range(4)]
    assert stats.chi2_contingency(table).pvalue < 1e-6
