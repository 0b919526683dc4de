# /// script
# requires-python = ">=3.13"
# dependencies = ["shapiq==1.8.0"]
# ///
"""What shapiq, a library of Shapley values, says of games with random values: the oracle of tests/analysis/test_shapley.py.

    uv run harness/benchmarks/shapley_by_shapiq.py >harness/tests/fixtures/shapley-by-shapiq.json

shapiq brings pandas, scikit-learn and matplotlib with it, so it is in no image: the tests read what it said.
"""

import json
from importlib.metadata import version

import numpy as np
from shapiq import ExactComputer

SEED, MOST = 20261123, 6


def game(factors: int) -> dict[str, list[float]]:
    """A value for each state (a bit for each factor that has been changed), and the factors' shares."""
    values = np.random.default_rng([SEED, factors]).normal(0, 1, 1 << factors)
    bits = 1 << np.arange(factors)
    computer = ExactComputer(n_players=factors, game=lambda changed: values[changed @ bits])
    shares = computer("SV").get_n_order_values(1)
    return {"values": values.tolist(), "shares": shares.tolist()}


if __name__ == "__main__":
    games = [game(factors) for factors in range(2, MOST + 1)]
    print(json.dumps({"shapiq": version("shapiq"), "games": games}, indent=1))
