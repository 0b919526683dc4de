"""The schedule of trials in blocks, and the one rule for void ones. Pure and fixed by the seed."""

import random
from collections.abc import Generator, Iterable, Sequence
from typing import Any

from tandem.record.trial import Trial, TrialSpec
from tandem.record.window import Verdict

type Blocks = Generator[list[TrialSpec], list[Trial], Any]
"""Yields a block of trial specs, receives its trials. What it returns at its end is for a plan around it."""


def in_order[T](ones: Iterable[T]) -> Generator[T, object]:
    """Yield each of these, whatever becomes of it."""
    for one in ones:  # noqa: UP028 (a list cannot be sent anything)
        yield one


def in_blocks(
    blocks: Iterable[list[TrialSpec]] | Blocks,
) -> Generator[list[TrialSpec], list[Trial], list[Trial]]:
    """Yields every block, and each block in which the host disturbed a trial once more at the end.

    A ratio lives within its block: a trial that is repeated alone would be compared with neighbours of another hour.
    blocks: a plan among them is sent the trials of each block, so that it can decide about the next. Returns all trials.
    """
    source = blocks if isinstance(blocks, Generator) else in_order(blocks)
    void: list[list[TrialSpec]] = []
    made: list[Trial] = []
    block = next(source, None)
    while block is not None:
        trials = yield block
        made += trials
        if any(map(disturbed, trials)):
            void.append(block)
        try:
            block = source.send(trials)
        except StopIteration:
            block = None
    for block in void:
        made += yield [spec.again() for spec in block]
    return made


def disturbed(trial: Trial) -> bool:
    """Whether the host did it. Of several variants that were up side by side one may be wrong, which makes the trial
    invalid, and the host have disturbed another."""
    if trial.verdict is not Verdict.INVALID or len(trial.spec.variants) == 1:
        return trial.verdict is Verdict.VOID
    found = [one for record in trial.windows for one in record.windows.items()]
    wrong = {label for label, window in found if window.verdict is Verdict.INVALID}
    return any(window.verdict is Verdict.VOID and label not in wrong for label, window in found)


def counting(trials: Iterable[Trial]) -> list[Trial]:
    """The trials that count: of each name the last attempt, in the order in which they were first made."""
    last: dict[str, Trial] = {}
    for trial in trials:
        if trial.spec.attempt >= last.setdefault(trial.spec.name, trial).spec.attempt:
            last[trial.spec.name] = trial
    return list(last.values())


def complete_blocks[T](names: Sequence[T], blocks: int, seed: int) -> list[list[T]]:
    """Randomised complete blocks: every block has each name once, in an order of its own.

    The same seed gives the same order.
    """
    generator = random.Random(seed)
    found = [list(names) for _ in range(blocks)]
    for order in found:
        generator.shuffle(order)
    return found


def rounds_of_blocks[T](groups: Sequence[Sequence[T]], rounds: int, seed: int) -> list[list[T]]:
    """Rounds of randomised complete blocks, one of each group in every round, the groups in an order of their own.

    groups: names that are compared with one another. They stand side by side, because the speed of a host drifts, and
    a void trial costs the block of its group alone. A ratio of names of two groups has no block in common.
    """
    orders = [complete_blocks(names, rounds, seed + number) for number, names in enumerate(groups)]
    return [
        orders[group][number]
        for number, chosen in enumerate(complete_blocks(range(len(groups)), rounds, seed + len(groups)))
        for group in chosen
    ]
