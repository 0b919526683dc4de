"""What each of several factors contributes to a difference: Shapley's value (1953), averaged over the orders that can be
made; where factors belong together, Owen's (1977). Pure.

A state says which factors have been changed, one bit each: 0 is the beginning, in `all` each has been. An order goes
from one to the other and changes one factor at a time; a step's difference is its factor's, and a share is the mean over
the orders. Every order's steps add up to the whole difference, so the shares do.
"""

from collections.abc import Collection, Sequence

import numpy as np

from tandem.analysis.ratios import Floats


class Orders:
    """The orders in which so many factors can be changed. groups: bits of factors that follow each other in every order;
    disjoint. missing: states that cannot be; what goes through one is left out."""

    def __init__(self, factors: int, groups: Sequence[int] = (), missing: Collection[int] = ()) -> None:
        self.factors, self.all = factors, (1 << factors) - 1
        self._steps: list[tuple[int, int, int]] = []
        """State, the factor that is changed, and the state after."""
        for state in (one for one in range(self.all + 1) if one not in missing):
            begun = next((group for group in groups if state & group not in (0, group)), self.all)
            self._steps += [
                (state, factor, after)
                for factor in range(factors)
                if begun & ~state & 1 << factor and (after := state | 1 << factor) not in missing
            ]
        self._before = [0] * (self.all + 1)
        """State -> in how many ways it is reached."""
        self._after = [0] * (self.all + 1)
        """State -> in how many ways the end is reached from it."""
        self._before[0] = int(0 not in missing)
        self._after[-1] = int(self.all not in missing)
        for state, _, after in self._steps:  # a step leads to a higher number
            self._before[after] += self._before[state]
        for state, _, after in reversed(self._steps):
            self._after[state] += self._after[after]

    @property
    def count(self) -> int:
        """How many orders there are."""
        return self._before[-1] if self._after[-1] else 0

    @property
    def states(self) -> list[int]:
        """The states that an order goes through: what has to be measured."""
        return [state for state in range(self.all + 1) if self._before[state] and self._after[state]]

    def weights(self) -> Floats:
        """Shape (factors, states): a factor's share is this sum of the states' values. Raises ValueError without an
        order."""
        if not self.count:
            raise ValueError("there is no order from the first state to the last")
        found = np.zeros((self.factors, self.all + 1))
        for state, factor, after in self._steps:
            share = self._before[state] * self._after[after] / self.count
            found[factor, after] += share
            found[factor, state] -= share
        return found
