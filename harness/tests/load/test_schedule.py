"""tandem.load.vegeta: when requests are due and which they are."""

from dataclasses import replace

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from tandem.errors import TandemError
from tandem.load.generator import Load
from tandem.load.vegeta import CLOSED, instants_s, schedule
from tandem.record.trial import Arrivals

LOAD = Load("http://app/", 10, 50, 1, {}, rate_rps=500)
POISSON = Arrivals(process="poisson", seed=7)
MIXED = replace(LOAD, weight=95, beside=(replace(LOAD, weight=4), replace(LOAD, weight=1)), arrivals=POISSON)


def due_s(arrivals: Arrivals, rate_rps: int = 500, duration_s: int = 10) -> np.typing.NDArray[np.float64]:
    due, _ = schedule(replace(LOAD, rate_rps=rate_rps, duration_s=duration_s, arrivals=arrivals), [1])
    return due / 1e9


@given(
    st.sampled_from([Arrivals(), POISSON, Arrivals(process="bursts", size=20, pause_ms=1)]),
    st.integers(1, 5_000),
    st.integers(1, 20),
)
def test_the_rate_is_exact_and_all_is_due_in_time(arrivals: Arrivals, rate_rps: int, duration_s: int) -> None:
    found = due_s(arrivals, rate_rps, duration_s)
    assert len(found) == rate_rps * duration_s
    assert (np.diff(found) >= 0).all()
    assert found[0] >= 0
    assert found[-1] < duration_s


def test_arrivals_at_random_have_exponential_gaps_and_evenly_spaced_ones_have_not() -> None:
    evenly, randomly = (due_s(Arrivals(process=one, seed=3)) for one in ("paced", "poisson"))
    assert scipy.stats.kstest(np.diff(randomly) * 500, "expon").pvalue > 0.01
    assert scipy.stats.kstest(np.diff(evenly) * 500, "expon").pvalue < 1e-9
    assert np.diff(evenly) == pytest.approx(1 / 500)


def test_the_seed_draws_the_same_again_and_another_other_ones() -> None:
    same, other = POISSON.model_copy(), POISSON.model_copy(update={"seed": 8})
    assert (due_s(POISSON) == due_s(same)).all()
    assert (due_s(POISSON) != due_s(other)).any()


def test_bursts_leave_their_pauses() -> None:
    """100 requests in each fifth of a second: evenly in 50 ms, then nothing for 150 ms."""
    found = due_s(Arrivals(process="bursts", size=100, pause_ms=150))
    assert found[:100] == pytest.approx(np.arange(100) * 0.0005)
    assert found[100] == pytest.approx(0.2)
    with pytest.raises(TandemError, match=r"comes every 200 ms, which leaves no pause of 200 ms"):
        due_s(Arrivals(process="bursts", size=100, pause_ms=200))


def test_a_mix_has_its_exact_shares_in_random_order() -> None:
    """2 light requests, 3 writes and one heavy one, numbered one after the other."""
    _, which = schedule(MIXED, [2, 3, 1])
    assert np.bincount(np.searchsorted([2, 5], which, side="right")).tolist() == [4750, 200, 50]
    assert np.bincount(which, minlength=6).min() > 40, "each of a class alike"
    places = np.flatnonzero(which == 5)
    assert scipy.stats.kstest(places / len(which), "uniform").pvalue > 0.01


def test_a_closed_loop_is_due_at_once() -> None:
    due, which = schedule(replace(MIXED, rate_rps=None), [1, 1, 1])
    assert (len(due), int(due.max())) == (CLOSED, 0)
    assert np.bincount(which).tolist() == [19_000, 800, 200]


@pytest.mark.parametrize("generators", [2, 3])
def test_several_generators_together_are_the_schedule(generators: int) -> None:
    whole = schedule(MIXED, [1, 1, 1])
    each = [
        schedule(replace(MIXED, rate_rps=1, whole_rps=500, share=(number, generators)), [1, 1, 1])
        for number in range(generators)
    ]
    due, which = (np.concatenate(columns) for columns in zip(*each, strict=True))
    order = np.argsort(due, kind="stable")
    assert (due[order] == whole[0]).all()
    assert (which[order] == whole[1]).all()


def test_bursts_that_are_not_described_are_none() -> None:
    assert instants_s(Arrivals(process="bursts"), 10, 1, np.random.default_rng(0)) == pytest.approx(
        np.arange(10) / 10
    )
