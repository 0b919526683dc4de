"""Where the tests find things."""

import json
import os
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
FIXTURES = TESTS / "fixtures"
"""Output of real tools."""
EXPERIMENTS = TESTS / "experiments"
PLANS = TESTS / "plans"
ROOT = Path(os.environ.get("TANDEM_ROOT", TESTS.parents[1]))
"""The repository."""


def result_alone(record: Path) -> dict[str, Any]:
    """The result of a committed record, as of a study whose trials nobody kept."""
    result: dict[str, Any] = json.loads((record / "result.json").read_text())
    del result["packed_sha256"]
    return result
