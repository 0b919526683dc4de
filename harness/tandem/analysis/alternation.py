"""The order of a comparison: blocks of fresh starts, and windows that take turns. Pure and fixed by the seed."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tandem.errors import UsageError


@dataclass(frozen=True)
class AlternatingBlock:
    """One fresh start of everybody, and the order in which their windows alternate."""

    number: int
    starts: list[str]
    rounds: list[list[str]]


def balanced(labels: Sequence[str], groups: int, seed: int) -> list[str]:
    """The order of slices: groups that hold each label once, each in an order of its own, drawn by the seed. Whatever
    changes more slowly than a group lasts falls on all alike."""
    generator = random.Random(seed)
    return [label for _ in range(groups) for label in generator.sample(sorted(labels), len(labels))]


def alternation(labels: list[str], rounds: int, blocks: int, seed: int) -> list[AlternatingBlock]:
    """Blocks of fresh starts in which windows alternate.

    labels: who takes part. rounds: windows of each in a block. The first round of a pair has a random order and the
    second its reverse (A B B A), so a drift that is linear over the pair falls on all alike. seed: the same seed gives
    the same order. Raises UsageError for a label given twice, or nothing to do.
    """
    twice = [label for label, number in Counter(labels).items() if number > 1]
    if twice:
        raise UsageError(f"'{twice[0]}' is given twice; name each variant once.")
    if rounds < 1 or blocks < 1:
        raise UsageError(f"{blocks} blocks of {rounds} rounds measure nothing; give at least one of each.")
    generator = random.Random(seed)

    def block(number: int) -> AlternatingBlock:
        starts, *firsts = (generator.sample(labels, len(labels)) for _ in range(1 + math.ceil(rounds / 2)))
        order = [one for first in firsts for one in (first, first[::-1])]
        return AlternatingBlock(number, starts, order[:rounds])

    return [block(number) for number in range(1, blocks + 1)]
