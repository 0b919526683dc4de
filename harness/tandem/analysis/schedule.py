"""Turns a campaign's cells and trials into an ordered list of visits. Pure and fixed by the seed."""

import random
from dataclasses import dataclass


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
