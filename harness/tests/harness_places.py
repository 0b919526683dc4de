"""Where the tests find things."""

import os
from pathlib import Path

TESTS = Path(__file__).resolve().parent
FIXTURES = TESTS / "fixtures"
"""Output of real tools."""
EXPERIMENTS = TESTS / "experiments"
PLANS = TESTS / "plans"
ROOT = Path(os.environ.get("TANDEM_ROOT", TESTS.parents[1]))
"""The repository."""
