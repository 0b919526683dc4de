"""How long the analysis of an explanation takes: 64 cells in 12 blocks (aim: below 2 s).

PYTHONPATH=harness python3 harness/benchmarks/explaining.py
"""

import time

import numpy as np

from tandem.selftest.explaining import leg
from tandem.studies.explain.shares import explanation, fitted

BLOCKS = 12


def main() -> None:
    """Two legs of five factors: 64 cells, 120 orders each."""
    names = "one", "two", "three", "four", "five"
    legs, chance = [leg(0, *names), leg(1, *names)], np.random.default_rng(1)
    labels = [side.label(state) for side in legs for state in side.orders().states]
    found = [(label, block, chance.normal(6, 0.1)) for block in range(BLOCKS) for label in labels]
    began = time.perf_counter()
    told = explanation(legs, [{}, {}], fitted(found))
    assert told is not None
    took_s = time.perf_counter() - began
    print(f"{len(labels)} cells, {BLOCKS} blocks, {len(told.factors)} factors: {took_s * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
