"""tandem.analysis.shapley against the definition, every order one after the other, and against shapiq."""

import json
import math
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
import pytest
from harness_places import ROOT
from harness_samples import there

from tandem.analysis.block_model import fit
from tandem.analysis.ratios import Floats, t_interval
from tandem.analysis.shapley import Orders


def by_definition(
    values: Floats, factors: int, allowed: Callable[[Sequence[int]], bool] = lambda order: True
) -> tuple[list[float], int]:
    """The mean over all allowed orders of what each factor's step adds, and how many orders there are."""
    shares, count = np.zeros(factors), 0
    for order in permutations(range(factors)):
        if not allowed(order):
            continue
        count, state = count + 1, 0
        for factor in order:
            shares[factor] += values[state | 1 << factor] - values[state]
            state |= 1 << factor
    return list(shares / count), count


def values_of(factors: int) -> Floats:
    return np.random.default_rng(factors).normal(0, 1, 1 << factors)


@pytest.mark.parametrize("factors", [1, 2, 3, 4, 5, 6])
def test_the_shares_are_those_of_all_orders(factors: int) -> None:
    values, orders = values_of(factors), Orders(factors)
    right, count = by_definition(values, factors)
    assert orders.count == count
    assert orders.weights() @ values == pytest.approx(right)
    assert sum(orders.weights() @ values) == pytest.approx(values[-1] - values[0])
    assert orders.states == list(range(1 << factors))


def test_the_shares_are_those_of_shapiq() -> None:
    """Games of two to six factors, whose shares are those of its ExactComputer; the fixture names the version."""
    games = json.loads((ROOT / "harness/tests/fixtures/shapley-by-shapiq.json").read_text())["games"]
    assert [len(game["shares"]) for game in games] == [2, 3, 4, 5, 6]
    for game in games:
        found = Orders(len(game["shares"])).weights() @ np.asarray(game["values"])
        assert found == pytest.approx(game["shares"])


def test_what_belongs_together_follows_each_other() -> None:
    values, groups = values_of(5), [0b00011, 0b10100]

    def together(order: Sequence[int]) -> bool:
        return all(abs(order.index(one) - order.index(other)) == 1 for one, other in ((0, 1), (2, 4)))

    orders = Orders(5, groups)
    right, count = by_definition(values, 5, together)
    assert orders.count == count == 6 * 2 * 2
    assert orders.weights() @ values == pytest.approx(right)
    assert len(orders.states) < 32, "cells that no such order goes through need no start"
    # A group's share is that of the game in which it is one factor.
    quotient = [0b00000, 0b00011, 0b01000, 0b01011, 0b10100, 0b10111, 0b11100, 0b11111]
    one, _ = by_definition(values[quotient], 3)
    assert (orders.weights() @ values)[[0, 1]].sum() == pytest.approx(one[0])


def test_orders_through_what_cannot_be_are_left_out() -> None:
    values, missing = values_of(4), {0b0011, 0b0100}

    def walkable(order: Sequence[int]) -> bool:
        states = np.cumsum([1 << factor for factor in order])
        return not missing & {int(state) for state in states}

    orders = Orders(4, missing=missing)
    right, count = by_definition(values, 4, walkable)
    holes = values.copy()
    holes[list(missing)] = 1e9  # never looked at
    assert orders.count == count < 24
    assert orders.weights() @ holes == pytest.approx(right)
    assert not missing & {*orders.states}


@pytest.mark.parametrize("missing", [{0}, {0b111}, {0b001, 0b010, 0b100}])
def test_without_an_order_there_are_no_shares(missing: set[int]) -> None:
    orders = Orders(3, missing=missing)
    assert orders.count == 0
    with pytest.raises(ValueError, match="no order"):
        orders.weights()
    none = Orders(0)
    assert (none.count, none.states, none.weights().shape) == (1, [0], (0, 1)), "no factor has one order"


# ---- means, errors, and what is missing ----


def test_two_cells_are_the_paired_t_interval() -> None:
    one, other = [1.0, 1.4, 0.9, 1.1], [1.5, 2.1, 1.2, 1.9]
    cells = {"one": one, "other": other}
    found = there(fit((name, block, ln) for name, own in cells.items() for block, ln in enumerate(own)))
    ratio, interval = found.ratio({"one": -1.0, "other": 1.0}, 0.95)
    apart = [b - a for a, b in zip(one, other, strict=True)]
    assert math.log(ratio) == pytest.approx(np.mean(apart))
    assert np.log(there(interval)) == pytest.approx(t_interval(apart))
    assert found.freedom == 3


def test_a_missing_value_leaves_the_blocks_out_of_a_difference() -> None:
    """Without the blocks' effects the cell that misses the slow block would look fast."""
    effects, means = {1: 0.0, 2: 0.3, 3: -2.0}, {"a": 1.0, "b": 2.0, "c": 1.5}
    trials = zip("abcabcab", [1, 1, 1, 2, 2, 2, 3, 3], strict=True)
    found = there(fit((cell, block, means[cell] + effects[block]) for cell, block in trials))
    assert np.diff(found.means) == pytest.approx([1.0, -0.5])
    assert found.means[0] == pytest.approx(1.0 + np.mean(list(effects.values()))), "of an average block"
    assert found.sd == pytest.approx(0, abs=1e-12)
    more, less = found.spread[2, 2], found.spread[0, 0]
    assert more > less, "it is known less well"


def test_one_value_each_has_no_error() -> None:
    found = there(fit([("a", 1, 1.0), ("b", 1, 2.0)]))
    assert (found.freedom, found.sd) == (0, None)
    ratio, interval = found.ratio({"a": -1.0, "b": 1.0})
    assert ratio == pytest.approx(math.e)
    assert interval is None
    assert found.known({"c": 1.0}) is None


def test_blocks_without_a_common_cell_cannot_be_fitted() -> None:
    assert fit([("a", 1, 1.0), ("a", 1, 1.1), ("b", 2, 2.0), ("b", 2, 2.1)]) is None
    assert fit([]) is None
