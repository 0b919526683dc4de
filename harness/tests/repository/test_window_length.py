"""benchmarks.window_length: what the ratio would be from half of the measured seconds."""

import json
import math

import pytest
from harness_places import ROOT

from benchmarks.window_length import FIGURES, doubled, measured
from tandem.engine.blocks import counting
from tandem.record.trial import Trial
from tandem.studies.registry import read_folder

RECORD = ROOT / "results/comparisons/falcon"
PAIR = ("falcon-async", "falcon-sync")


@pytest.fixture
def blocks() -> list[Trial]:
    return counting(read_folder(RECORD)[2])


def test_a_ratio_that_drifts_is_moved_by_the_doubling(blocks: list[Trial]) -> None:
    """The control: without the drift the same record moves by less."""
    steady = doubled(blocks, *PAIR, FIGURES[0])
    assert steady is not None
    assert abs(math.log(steady.moved)) < 0.02
    for block in blocks:
        for record in block.windows:
            window = record.windows.get(PAIR[0])
            if window is not None and window.slices is not None:
                number = len(window.slices.app_cpu_s)
                later = enumerate(window.slices.app_cpu_s)
                window.slices.app_cpu_s = [used * (1.1 if n >= number / 2 else 1) for n, used in later]
    drifting = doubled(blocks, *PAIR, FIGURES[0])
    assert drifting is not None
    assert drifting.moved == pytest.approx(steady.moved * 1.05, rel=0.01)
    assert drifting.moved_interval is not None
    assert drifting.moved_interval[0] > 1


def test_a_duet_is_no_window_at_an_equal_rate() -> None:
    assert [one.figure for one in measured(RECORD).found] == [FIGURES[0]]


def test_few_blocks_tell_nothing(blocks: list[Trial]) -> None:
    assert doubled(blocks[:2], *PAIR, FIGURES[0]) is None
    assert json.loads(measured(RECORD).model_dump_json())["found"][0]["blocks"] == 6
