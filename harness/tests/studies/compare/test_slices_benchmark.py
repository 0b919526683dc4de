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


def drifting(seed: int, number: int = 48, slow: float = 0.0) -> Slices:
    """Independent noise of 5 %, and a part that stays for eight slices."""
    chance = random.Random(seed)
    levels = [chance.gauss(0, slow) for _ in range(number // 8 + 1)]
    good = [round(10_000 * (1 + levels[n // 8] + chance.gauss(0, 0.05))) for n in range(number)]
    return made(seed, number).model_copy(update={"good": good})


def blocks_of(slow: float, alternating: float = 0.0) -> list[tuple[Slices, Slices]]:
    """alternating: what every second slice of one side has more, and the next less."""
    found = []
    for seed in range(0, 24, 2):
        one, other = (drifting(seed + side, slow=slow) for side in (0, 1))
        good = [round(count * (1 + alternating * (-1) ** n)) for n, count in enumerate(other.good)]
        found.append((one, other.model_copy(update={"good": good})))
    return found


def test_of_independent_noise_no_length_is_better(benchmark: ModuleType) -> None:
    found = benchmark.lengths(blocks_of(0.0), 1.0)
    assert [one.slice_s for one in found] == [1.0, 2.0, 4.0, 8.0]
    expected = 0.05 * 2**0.5 / 48**0.5
    assert found[0].errors["goodput"] == pytest.approx(expected, rel=0.15)
    # Of 0.8 s measured in each, two of 1 s have 1.6 s and one of 2 s has 1.8 s.
    assert found[1].errors["goodput"] == pytest.approx(expected * (1.6 / 1.8) ** 0.5, rel=0.15)


@pytest.mark.parametrize(("slow", "alternating", "best"), [(0.2, 0.0, 1.0), (0.0, 0.5, 2.0)])
def test_the_best_length_is_chosen(
    benchmark: ModuleType, slow: float, alternating: float, best: float
) -> None:
    """What lasts for seconds wants short slices; what alternates with them wants longer ones."""
    assert benchmark.best_s(blocks_of(slow, alternating), 1.0) == best
