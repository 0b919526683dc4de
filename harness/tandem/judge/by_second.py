"""What rows imply: the responses of each second, the rows of each statement, whether a choice was random. Pure."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import scipy

from tandem.load.rows import Floats, OpenLoop
from tandem.record.window import Growth, ImpliedRows, ResponsesPerSecond

LEAST_SECONDS = 4
GROWTH_MS_PER_S = 5.0
"""A queue that grows by 0.5 % of the offered rate makes every second's requests wait 5 ms longer than the last one's."""
GROWTH_FACTOR = 2.0
"""The last third of the window must also be slower than the first by this factor: a slope in noise is not a queue."""
QUANTILES = (0.5, 0.9, 0.99, 0.999)


def seconds(found: OpenLoop, from_s: float, to_s: float) -> Iterator[Floats]:
    """The response times of all answers, right or wrong, that were due in each whole second between two moments."""
    for second in np.arange(from_s, to_s - 1 + 1e-9):
        first, last = np.searchsorted(found.intended_s, (second, second + 1))
        yield found.response_s[first:last]


def per_second(
    found: OpenLoop, quantiles: Sequence[float], from_s: float, to_s: float
) -> list[list[float | None]]:
    """The response times, for each quantile, in milliseconds of what was due in each whole second; None for an empty
    one."""
    rows = [
        (np.quantile(inside, quantiles) * 1e3).tolist() if len(inside) else [None] * len(quantiles)
        for inside in seconds(found, from_s, to_s)
    ]
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in quantiles]


def growth(found: OpenLoop, from_s: float, to_s: float) -> Growth | None:
    """Does the backlog grow between two moments of a window? None below four seconds with answers."""
    [column] = per_second(found, [0.5], from_s, to_s)
    medians = [(at, ms) for at, ms in enumerate(column) if ms is not None]
    if len(medians) < LEAST_SECONDS:
        return None
    at, ms = np.array(medians).T
    slope = float(scipy.stats.theilslopes(ms, at).slope)
    third = max(1, len(ms) // 3)
    first, last = float(np.median(ms[:third])), float(np.median(ms[-third:]))
    return Growth(
        slope_ms_per_s=slope,
        first_third_ms=first,
        last_third_ms=last,
        growing=slope > GROWTH_MS_PER_S and last > GROWTH_FACTOR * first,
    )


def by_second(found: OpenLoop, duration_s: float) -> ResponsesPerSecond:
    """The whole window, its first and last seconds too, second by second."""
    p50, p90, p99, p999 = per_second(found, QUANTILES, 0.0, duration_s)
    answered = [len(inside) for inside in seconds(found, 0.0, duration_s)]
    return ResponsesPerSecond(answered=answered, p50_ms=p50, p90_ms=p90, p99_ms=p99, p999_ms=p999)


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
