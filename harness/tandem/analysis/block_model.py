"""Cells and blocks: the logarithm of a figure is its cell's value, plus its block's, plus an error. Least squares. Pure.

Every cell of a design is in each block, so what a block had in common drops out of any difference of cells. A trial that
is missing costs precision and no more, as long as the blocks hang together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from tandem.analysis.ratios import Floats


@dataclass(frozen=True)
class CellMeans:
    """The model, fitted."""

    means: Floats
    """Mean of each cell, with the blocks' effects averaged out."""
    spread: Floats
    """Covariance of the means for an error of 1."""
    sd: float | None
    """Standard deviation of the errors: pooled over all residuals; None without degrees of freedom."""
    freedom: int

    def estimate(self, weights: ArrayLike) -> tuple[float, float | None]:
        """A weighted sum of the cells and its standard error."""
        each = np.asarray(weights, float)
        error = None if self.sd is None else self.sd * float(np.sqrt(max(each @ self.spread @ each, 0.0)))
        return float(each @ self.means), error

    def half_width(self, error: float | None, confidence: float) -> float | None:
        """Half the width of the two-sided Student's t interval of an estimate; None without an error."""
        if error is None:
            return None
        return float(scipy.special.stdtrit(self.freedom, (1 + confidence) / 2)) * error


def fit(values: Sequence[float], cells: Sequence[int], blocks: Sequence[int]) -> CellMeans:
    """values: logarithms, one for each trial. cells: which one it is of, from 0 without a gap.

    Raises ValueError where blocks have nothing in common, directly or through others, and where there is nothing.
    """
    if not values:
        raise ValueError("there are no values")
    y = np.asarray(values, float)
    cell, block = np.asarray(cells), np.unique(np.asarray(blocks), return_inverse=True)[1]
    effects = np.eye(block.max() + 1)[block]
    # They add up to 0, so that a cell's value is that of an average block.
    design = np.hstack([np.eye(cell.max() + 1)[cell], effects[:, :-1] - effects[:, -1:]])
    solution, _, rank, _ = np.linalg.lstsq(design, y)
    if rank < design.shape[1]:
        raise ValueError("blocks without a common cell cannot be held against each other")
    of_cells = slice(0, int(cell.max()) + 1)
    spread = np.linalg.inv(design.T @ design)[of_cells, of_cells]
    freedom = len(y) - int(rank)
    left = y - design @ solution
    sd = float(np.sqrt(left @ left / freedom)) if freedom else None
    return CellMeans(solution[of_cells], spread, sd, freedom)
