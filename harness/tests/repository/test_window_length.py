"""benchmarks.window_length: whether the windows of a session are long enough."""

import json
import math
from pathlib import Path

import pytest
from harness_places import ROOT

from benchmarks.window_length import doubled, ln_cost, slices_of
from tandem.engine.blocks import counting
from tandem.record.trial import Trial
from tandem.studies.registry import read_folder

RECORD: Path = ROOT / "results/comparisons/falcon-long"


@pytest.fixture(scope="module")
def blocks() -> list[Trial]:
    return counting(read_folder(RECORD)[2])


def test_twice_as_long_moves_the_ratio_by_less_than_one_percent(blocks: list[Trial]) -> None:
    committed = json.loads((ROOT / "results/reference-benchmarks/window-doubled.json").read_text())
    again = doubled(blocks, "falcon-async", "falcon-sync")
    assert json.loads(json.dumps(again)) == committed["found"][0]
    assert abs(math.log(committed["found"][0]["moved"])) < 0.01


def test_a_start_that_gets_cheaper_would_be_seen(blocks: list[Trial]) -> None:
    one = slices_of(blocks[0], "falcon-async")
    assert one is not None
    number = len(one.good) // 2
    dearer = [cpu_s * 1.1 for cpu_s in one.app_cpu_s[:number]] + one.app_cpu_s[number:]
    slow = one.model_copy(update={"app_cpu_s": dearer})
    assert ln_cost(slow, 0.5) - ln_cost(one, 0.5) == pytest.approx(math.log(1.1))
    assert ln_cost(slow, 1.0) - ln_cost(one, 1.0) < math.log(1.06)
