"""Turns a campaign's cells and trials into an ordered list of visits. Pure and fixed by the seed."""

import random
from collections import Counter
from dataclasses import dataclass

from tandem.errors import UsageError, unknown


@dataclass(frozen=True)
class Visit:
    """One fresh start of one run."""

    block: int
    run: str


def schedule(runs: list[str], trials: int, seed: int) -> list[Visit]:
    """Randomised complete blocks: every block has each run once, in an order of its own.

    runs: names of the campaign's runs. trials: blocks. seed: the same seed gives the same order.
    """
    generator = random.Random(seed)
    visits: list[Visit] = []
    for block in range(1, trials + 1):
        order = list(runs)
        generator.shuffle(order)
        visits.extend(Visit(block, run) for run in order)
    return visits


@dataclass(frozen=True)
class Entrant:
    """One of the compared containers of a block."""

    name: str
    copy: int = 1
    """2 for the second container of the reference."""

    @property
    def label(self) -> str:
        return self.name if self.copy == 1 else f"{self.name}~{self.copy}"


@dataclass(frozen=True)
class Block:
    """One fresh start of every entrant, and the order in which their windows alternate."""

    index: int
    starts: list[Entrant]
    rounds: list[list[Entrant]]


def alternation(entrants: list[str], reference: str, rounds: int, blocks: int, seed: int) -> list[Block]:
    """Blocks of fresh starts in which windows alternate, with the reference twice.

    entrants: names, the reference among them. rounds: windows of each entrant in a block. The first round of
    a pair has a random order and the second its reverse (A B B A), so a drift that is linear over the pair
    falls on all alike. seed: the same seed gives the same order.
    Raises UsageError for a reference that does not take part, a name given twice, or nothing to do.
    """
    if reference not in entrants:
        raise unknown("entrant", reference, entrants)
    twice = [name for name, number in Counter(entrants).items() if number > 1]
    if twice:
        raise UsageError(f"'{twice[0]}' is given twice; name each implementation once.")
    if rounds < 1 or blocks < 1:
        raise UsageError(f"{blocks} blocks of {rounds} rounds measure nothing; give at least one of each.")
    generator = random.Random(seed)
    everyone = [*(Entrant(name) for name in entrants), Entrant(reference, 2)]

    def shuffled() -> list[Entrant]:
        return generator.sample(everyone, len(everyone))

    found = []
    for index in range(1, blocks + 1):
        starts = shuffled()
        order: list[list[Entrant]] = []
        while len(order) < rounds:
            first = shuffled()
            order += [first, first[::-1]]
        found.append(Block(index, starts, order[:rounds]))
    return found
