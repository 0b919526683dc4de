"""Turns the generator's rows into the figures of a window. Pure: arrays in, numbers out.

A row is one answered request: actual start, the start that the generator's pacer stamped, end (seconds
since the load began), status, length of the body in bytes.
"""

import sqlite3
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tandem.errors import TandemError
from tandem.record.window import Times

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SAMPLES_BEYOND = 100
"""A percentile is published only with this many samples beyond it: 10,000 for p99, 100,000 for p99.9."""
WRONG_LENGTH = "wrong length"
PERCENTILES = {0.5: "p50", 0.9: "p90", 0.99: "p99", 0.999: "p999"}


@dataclass(frozen=True)
class Rows:
    """Columns of equal length, in the order of `start`."""

    start_s: Floats
    paced_s: Floats
    """Paced starts; NaN in a closed loop."""
    end_s: Floats
    status: Ints
    length_bytes: Ints
    due_s: Floats | None = None
    """When each request was due, where that is known; None: row i at i / rate."""
    classes: Ints | None = None
    """Class of a mix that each request is of; None: there is one."""

    def due(self, rate_rps: float) -> Floats:
        """When each request was due in an open loop."""
        return np.arange(len(self)) / rate_rps if self.due_s is None else self.due_s

    def is_of(self, number: int) -> NDArray[np.bool_]:
        """Which rows are of one class."""
        of = np.zeros(len(self), dtype=np.int64) if self.classes is None else self.classes
        return np.asarray(of == number)

    def at(self, places: NDArray[np.bool_] | NDArray[np.intp]) -> "Rows":
        """The rows at these places, in the order of these."""
        columns = {name: column for name, column in vars(self).items() if column is not None}
        return replace(self, **{name: column[places] for name, column in columns.items()})

    def __len__(self) -> int:
        return len(self.start_s)


def no_rows() -> Rows:
    """Rows of a load without any request."""
    floats, integers = np.empty(0, dtype=np.float64), np.empty(0, dtype=np.int64)
    return Rows(floats, floats, floats, integers, integers)


def read_rows(file: Path) -> Rows:
    """Reads oha's SQLite file. Raises TandemError if it is missing, truncated or has other columns."""
    if not file.is_file():
        raise TandemError(f"{file}: the load generator left no rows")
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as database:
            # One flat stream of numbers is the fastest way out of SQLite: a null would stop it.
            found = database.execute(
                "select start, coalesce(start_latency_correction, -1), end, status, len_bytes from oha"
            )
            flat = np.fromiter(chain.from_iterable(found), dtype=np.float64)
    except (sqlite3.DatabaseError, TypeError, ValueError) as error:
        raise TandemError(f"{file}: the load generator's rows cannot be read: {error}") from None
    start, paced, end, status, length = flat.reshape(-1, 5).T
    paced = np.where(paced < 0, np.nan, paced)
    due = np.where(np.isnan(paced), start, paced)
    rows = Rows(start, paced, end, status.astype(np.int64), length.astype(np.int64))
    return rows.at(np.argsort(due, kind="stable"))


def enough(samples: float, q: float) -> bool:
    """Whether so many samples have SAMPLES_BEYOND beyond the quantile q, but for rounding."""
    return samples * (1 - q) >= SAMPLES_BEYOND * (1 - 1e-9)


def times(values_s: Floats, censored: int = 0, timeout_s: float = 0.0) -> Times:
    """The distribution of durations given in seconds, in milliseconds. A percentile is a time that was seen (nearest
    rank), as in the histograms, and none between two.

    censored: so many more samples of which only is known that they are at least `timeout_s`. Percentiles that
    fall among them, and the maximum, are then that time (or the longest that was seen); the mean is null.
    """
    if censored:
        values_s = np.append(values_s, np.full(censored, timeout_s))
    n = len(values_s)
    if n == 0:
        return Times(samples=0)
    wanted = [q for q in PERCENTILES if enough(n, q)]
    found = np.quantile(values_s, wanted, method="inverted_cdf") * 1e3
    known = {PERCENTILES[q]: float(value) for q, value in zip(wanted, found, strict=True)}
    return Times(
        samples=n,
        mean=None if censored else float(values_s.mean()) * 1e3,
        max=float(values_s.max()) * 1e3,
        censored=censored,
        **known,
    )


def right_answers(rows: Rows, status: int, lengths: Collection[int] | None) -> NDArray[np.bool_]:
    """Which rows have the right status and a body length that a right answer can have. lengths: None: any."""
    of_status = np.asarray(rows.status == status)
    if lengths is None:
        return of_status
    return of_status & np.isin(rows.length_bytes, np.fromiter(lengths, dtype=np.int64))


def failures(rows: Rows, status: int, lengths: Collection[int] | None) -> dict[str, int]:
    """The rows that are no right answers, counted by reason."""
    other = np.unique(rows.status[rows.status != status], return_counts=True)
    counts = {f"status {code}": int(number) for code, number in zip(*other, strict=True)}
    if wrong := int(((rows.status == status) & ~right_answers(rows, status, lengths)).sum()):
        counts[WRONG_LENGTH] = wrong
    return counts


def steady(rows: Rows, duration_s: float, trim_start_s: float, trim_end_s: float) -> NDArray[np.bool_]:
    """Which rows ended in the measured part of the window."""
    return np.asarray((rows.end_s >= trim_start_s) & (rows.end_s < duration_s - trim_end_s))


def answers_per_second(rows: Rows) -> list[int]:
    """Answers that ended in each second since the load began, right or wrong."""
    return [int(number) for number in np.bincount(rows.end_s.astype(np.int64))]


def in_flight(rows: Rows, duration_s: float, trim_start_s: float, trim_end_s: float) -> float | None:
    """Requests that were in flight, mean over the measured part: from the actual send to the last byte."""
    low, high = trim_start_s, duration_s - trim_end_s
    if not len(rows) or high <= low:
        return None
    inside = np.clip(rows.end_s, low, high) - np.clip(rows.start_s, low, high)
    return float(inside.sum() / (high - low))


@dataclass(frozen=True)
class OpenLoop:
    """The schedule of an open loop, and what became of it."""

    scheduled: int
    unsent: int
    intended_s: Floats
    response_s: Floats
    lateness_s: Floats


def open_loop(rows: Rows, rate_rps: float, duration_s: float, errors: int) -> OpenLoop:
    """Rebuilds the intended send times of an open loop from its rows.

    Arrival i was due at i / rate; the pacer stamped it when it woke, which is later. The rows in order of
    the stamp are the arrivals in order. `errors` arrivals have no row: every one of them shifts the later
    rows to earlier intended times, so response times are then over- and never understated. Rows of several
    generators, and of one that is told a schedule, bring their intended times with them.
    """
    scheduled = int(np.ceil(duration_s * rate_rps - 1e-9))
    intended = rows.due(rate_rps)
    return OpenLoop(
        scheduled=scheduled,
        unsent=max(0, scheduled - len(rows) - errors),
        intended_s=intended,
        response_s=rows.end_s - intended,
        lateness_s=rows.paced_s - intended,
    )
