"""benchmarks: how well the interval for the next session holds, and whether the windows of a session are long enough."""

import json
import math

import pytest
from harness_places import ROOT

from benchmarks.prediction import KINDS, SCATTERS, SESSIONS, Predictions, predictions
from benchmarks.window_length import doubled, ln_cost, slices_of
from tandem.engine.blocks import counting
from tandem.record.trial import Trial
from tandem.studies.registry import read_folder

FOLDER = ROOT / "results/reference-benchmarks"
COMMITTED = Predictions.model_validate_json((FOLDER / "prediction.json").read_text())
NORMAL = list(KINDS)[: len(SCATTERS)]


def test_the_next_session_is_where_it_is_expected_whatever_the_scatter() -> None:
    found = [one for one in COMMITTED.found if one.kind in NORMAL]
    assert len(found) == len(SCATTERS) * len(SESSIONS)
    assert all(0.93 <= one.holds <= 0.97 for one in found)


def test_a_shifted_session_is_outside_where_the_scatter_is_small() -> None:
    small = [kind for kind, scatter in zip(NORMAL, SCATTERS, strict=True) if scatter <= 0.03]
    assert all(one.shifted_outside >= 0.9 for one in COMMITTED.found if one.kind in small)
    # Control: elsewhere it is not.
    assert all(one.shifted_outside < 0.5 for one in COMMITTED.found if one.kind == NORMAL[-1])


def test_what_is_committed_is_what_the_benchmark_finds() -> None:
    for own, other in zip(predictions(2_000).found, COMMITTED.found, strict=True):
        assert own.model_dump() == pytest.approx(other.model_dump(), abs=0.05)


@pytest.fixture(scope="module")
def blocks() -> list[Trial]:
    return counting(read_folder(ROOT / "results/comparisons/falcon-long")[2])


def test_twice_as_long_moves_the_ratio_by_less_than_one_percent(blocks: list[Trial]) -> None:
    committed = json.loads((FOLDER / "window-doubled.json").read_text())
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
