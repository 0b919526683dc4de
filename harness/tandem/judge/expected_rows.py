"""What the answers of a window imply: how many rows each statement returned, and whether the choice was random. Pure."""

from collections.abc import Mapping

import numpy as np
import scipy

from tandem.record.window import ImpliedRows

EXPECTED_LEAST = 2
"""Answers for each key that could come, in the mean: below, the chi-squared distribution does not hold far out. Here the
test says one in a million up to ten times as often as it should, which its limit of one in a billion bears."""


def implied_rows(
    answers: Mapping[int, int], keys: Mapping[int, int], rows_of: Mapping[str, Mapping[int, int]], own: int
) -> dict[str, ImpliedRows]:
    """Statement -> rows.

    answers: length of a right answer -> how many. keys: what an answer can be about -> its length. rows_of: statement
    -> key -> rows. own: right answers that the harness fetched itself; it keeps no count of which. Answers of one
    length are of any of its keys, and the harness's own of any at all: that is the error.
    """
    out = {}
    for statement, of_key in rows_of.items():
        groups = [(own, np.array([of_key[key] for key in keys], dtype=np.float64))]
        for length, number in answers.items():
            same = [of_key[key] for key in keys if keys[key] == length]
            groups.append((number, np.array(same, dtype=np.float64)))
        out[statement] = ImpliedRows(
            rows=float(sum(number * rows.mean() for number, rows in groups)),
            error=float(sum(number * rows.var() for number, rows in groups) ** 0.5),
            most=max(of_key.values()),
        )
    return out


def choice_p(answers: Mapping[int, int], keys: Mapping[int, int]) -> float | None:
    """The probability of answers as uneven as these where each was drawn from all keys alike (Pearson's chi-squared
    test); None below EXPECTED_LEAST."""
    lengths, weights = np.unique(list(keys.values()), return_counts=True)
    total = sum(answers.values())
    if len(lengths) < 2 or total < EXPECTED_LEAST * len(keys):
        return None
    seen = np.array([answers.get(int(length), 0) for length in lengths])
    expected = total * weights / weights.sum()
    return float(scipy.stats.chi2.sf(((seen - expected) ** 2 / expected).sum(), len(lengths) - 1))
