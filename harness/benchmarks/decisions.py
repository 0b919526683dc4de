"""How often a conclusion is wrong by chance, by the rules of before and by today's. Simulated; seeded.

    python3 harness/benchmarks/decisions.py [TIMES] > results/reference-benchmarks/decisions.json

Before: a capacity was a bracket of one start's search; a sweep told what the largest value was behind the highest as a loss;
a comparison told a difference where the sign-flip test did, for each metric by itself. The scatter of starts (8 %) and
probes (5 %) is that of a small shared machine.
"""

import json
import math
import random
import sys

import numpy as np

from tandem.analysis import ratios
from tandem.analysis.curves import loss
from tandem.selftest.capacity import brackets, coverage
from tandem.studies.capacity.search import Search

START_SD, PROBE_SD = 0.08, 0.05
TIMES = 1000
ROUNDS, VALUES = 3, 6
BLOCKS, METRICS = 6, 4

CAPACITY = (
    f"capacity: what is told holds the truth (starts differ by {START_SD:.0%}, probes by {PROBE_SD:.0%})"
)
SWEEP = f"false alarms: a sweep of {VALUES} equal values in {ROUNDS} rounds is told a loss at the largest"
COMPARED = f"false alarms: of two equal variants any of {METRICS} metrics is told different, {BLOCKS} blocks"
PRIMARY = "the same of the metric that is named beforehand"
NAMES = (CAPACITY, SWEEP, COMPARED, PRIMARY)


def bracket(chance: random.Random) -> bool:
    """Whether the bracket of one start's search holds the limit of a middle start."""
    limit_rps = 200 * 100 ** chance.random()
    own = limit_rps * math.exp(chance.gauss(0, START_SD))
    state = Search(max(1, int(limit_rps * chance.uniform(0.3, 1.6))))
    while (rate := state.next_rps()) is not None:
        state.tell(rate, rate <= own * math.exp(chance.gauss(0, PROBE_SD)))
    return brackets(state, limit_rps)


def losses(times: int) -> tuple[float, float]:
    """Of flat sweeps: how many have the peak elsewhere than at the end, and how many show it by the test."""
    chance = np.random.default_rng(1)
    behind, shown = 0, 0
    for _ in range(times):
        rates = np.exp(chance.normal(0, START_SD, (ROUNDS, VALUES)))
        behind += int(rates.mean(axis=0).argmax()) < VALUES - 1
        found = loss(rates)
        shown += found is not None and found.shown
    return behind / times, shown / times


def told_different(times: int) -> dict[str, tuple[float, float]]:
    """Of equal variants: by sign flips for each metric alone, and by the t test with the primary metric's 5 % of its own and
    Holm over the others."""
    chance = np.random.default_rng(2)
    any_, primary = [0, 0], [0, 0]
    for _ in range(times):
        values = chance.normal(0, START_SD, (METRICS, BLOCKS))
        flips = ratios.p_sign_flip(values) <= ratios.ALPHA
        first, *others = ratios.compare_many(values)
        now = [ratios.verdicts([first], "lower")[0], *ratios.verdicts(others, "lower")]
        different = [word in ("dearer", "cheaper") for word in now]
        any_[0], any_[1] = any_[0] + bool(flips.any()), any_[1] + any(different)
        primary[0], primary[1] = primary[0] + bool(flips[0]), primary[1] + different[0]
    return {
        COMPARED: (any_[0] / times, any_[1] / times),
        PRIMARY: (primary[0] / times, primary[1] / times),
    }


def decisions(times: int) -> dict[str, dict[str, float]]:
    """Name -> share before and after."""
    chance = random.Random(3)
    of: dict[str, tuple[float, float]] = {
        CAPACITY: (
            sum(bracket(chance) for _ in range(times)) / times,
            coverage(START_SD, PROBE_SD, times)[0],
        ),
        SWEEP: losses(times),
        **told_different(times),
    }
    return {name: {"before": before, "after": after} for name, (before, after) in of.items()}


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else TIMES
    print(json.dumps({"times": number, "shares": decisions(number)}, indent=1))
