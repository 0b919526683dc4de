"""tandem.analysis.block_model: means, errors, and what is missing."""

import numpy as np
import pytest

from tandem.analysis.block_model import fit
from tandem.analysis.ratios import t_interval


def test_two_cells_are_the_paired_t_interval() -> None:
    one, other = [1.0, 1.4, 0.9, 1.1], [1.5, 2.1, 1.2, 1.9]
    found = fit([*one, *other], [0] * 4 + [1] * 4, [1, 2, 3, 4] * 2)
    ln, error = found.estimate([-1, 1])
    apart = [b - a for a, b in zip(one, other, strict=True)]
    assert ln == pytest.approx(np.mean(apart))
    half = found.half_width(error, 0.95)
    assert half is not None
    assert (ln - half, ln + half) == pytest.approx(t_interval(apart))
    assert found.freedom == 3


def test_a_missing_value_leaves_the_blocks_out_of_a_difference() -> None:
    """Without the blocks' effects the cell that misses the slow block would look fast."""
    cells, blocks = [0, 1, 2, 0, 1, 2, 0, 1], [1, 1, 1, 2, 2, 2, 3, 3]
    effects, means = {1: 0.0, 2: 0.3, 3: -2.0}, [1.0, 2.0, 1.5]
    values = [means[cell] + effects[block] for cell, block in zip(cells, blocks, strict=True)]
    found = fit(values, cells, blocks)
    assert np.diff(found.means) == pytest.approx([1.0, -0.5])
    assert found.means[0] == pytest.approx(1.0 + np.mean(list(effects.values()))), "of an average block"
    assert found.sd == pytest.approx(0, abs=1e-12)
    more, less = found.spread[2, 2], found.spread[0, 0]
    assert more > less, "it is known less well"


def test_one_value_each_has_no_error() -> None:
    found = fit([1.0, 2.0], [0, 1], [1, 1])
    assert (found.freedom, found.sd) == (0, None)
    ln, error = found.estimate([-1, 1])
    assert ln == pytest.approx(1.0)
    assert (error, found.half_width(error, 0.95)) == (None, None)


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(ValueError, match="common cell"):
        fit([1.0, 1.1, 2.0, 2.1], [0, 0, 1, 1], [1, 1, 2, 2])
    with pytest.raises(ValueError, match="no values"):
        fit([], [], [])
