"""Cells and blocks: the logarithm of a figure is its cell's value, plus its block's, plus an error. Least squares. Pure.

Every cell of a design is in each block, so what a block had in common drops out of any difference of cells. A trial that
is missing costs precision and no more, as long as the blocks hang together.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from tandem.analysis.ratios import CONFIDENCE, Floats


@dataclass(frozen=True)
class CellMeans:
    """The model, fitted."""

    place: dict[str, int]
    """Label of a cell -> its place in the arrays."""
    means: Floats
    """Mean of each cell, with the blocks' effects averaged out."""
    spread: Floats
    """Covariance of the means for an error of 1."""
    sd: float | None
    """Standard deviation of the errors: pooled over all residuals; None without degrees of freedom."""
    freedom: int

    def knows(self, weights: Mapping[str, float]) -> bool:
        return weights.keys() <= self.place.keys()

    def ratio(
        self, weights: Mapping[str, float], confidence: float = CONFIDENCE
    ) -> tuple[float, tuple[float, float] | None]:
        """What a weighted sum of the cells' logarithms is the logarithm of, with its two-sided Student's t interval; None without
        degrees of freedom. The cells have to be there."""
        each: Floats = np.zeros(len(self.place))
        for label, weight in weights.items():
            each[self.place[label]] = weight
        ln = float(each @ self.means)
        if self.sd is None:
            return math.exp(ln), None
        error = self.sd * math.sqrt(max(float(each @ self.spread @ each), 0.0))
        half = float(scipy.special.stdtrit(self.freedom, (1 + confidence) / 2)) * error
        return math.exp(ln), (math.exp(ln - half), math.exp(ln + half))

    def known(self, weights: Mapping[str, float]) -> float | None:
        """The same, without the interval; None where a cell is missing."""
        return self.ratio(weights)[0] if self.knows(weights) else None


def fit(values: Iterable[tuple[str, int, float]]) -> CellMeans | None:
    """values: label of the cell, block and logarithm of each trial. None without any, and where blocks have nothing in common,
    directly or through others: they cannot be held against each other."""
    found = list(values)
    if not found:
        return None
    place = {label: number for number, label in enumerate(dict.fromkeys(label for label, _, _ in found))}
    y = np.array([ln for _, _, ln in found], float)
    block = np.unique([block for _, block, _ in found], return_inverse=True)[1]
    effects = np.eye(block.max() + 1)[block]
    # They add up to 0, so that a cell's value is that of an average block.
    cells = np.eye(len(place))[[place[label] for label, _, _ in found]]
    design = np.hstack([cells, effects[:, :-1] - effects[:, -1:]])
    solution, _, rank, _ = np.linalg.lstsq(design, y)
    if rank < design.shape[1]:
        return None
    spread = np.asarray(np.linalg.inv(design.T @ design)[: len(place), : len(place)], float)
    freedom = len(y) - int(rank)
    left = y - design @ solution
    sd = float(np.sqrt(left @ left / freedom)) if freedom else None
    return CellMeans(place, solution[: len(place)], spread, sd, freedom)
