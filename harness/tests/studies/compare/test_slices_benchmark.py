"""harness/benchmarks/slices.py: the scatter of slices, and of merged ones."""

import importlib.util
import random
from statistics import stdev
from types import ModuleType

import pytest
from harness_places import ROOT

from tandem.record.window import Slices


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("slices", ROOT / "harness/benchmarks/slices.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(seed: int, number: int = 400, noise: float = 0.05) -> Slices:
    chance = random.Random(seed)
    good = [round(10_000 * (1 + chance.gauss(0, noise))) for _ in range(number)]
    return Slices(
        from_s=list(range(number)),
        measured_s=[0.8] * number,
        good=good,
        app_cpu_s=[0.4] * number,
        not_timed=0,
        clock_error_ms=0,
    )


def test_longer_slices_of_independent_noise_scatter_by_the_root_less(benchmark: ModuleType) -> None:
    one, other = made(1), made(2)
    short, long = (benchmark.ln_ratios(one, other, "goodput", merged) for merged in (1, 4))
    assert len(short) == 400
    assert len(long) == 100
    assert stdev(short) == pytest.approx(0.05 * 2**0.5, rel=0.1)
    assert stdev(long) == pytest.approx(stdev(short) / 2, rel=0.15)


def test_a_cost_is_the_sum_of_cpu_by_the_sum_of_answers(benchmark: ModuleType) -> None:
    one = made(1, number=2)
    assert benchmark.figure(one, "CPU per request", 0, 2) == pytest.approx(0.8 / sum(one.good))
