"""How long it takes to make a window's figures from the rows of its generators, stage by stage, and how much memory.

PYTHONPATH=harness python3 harness/benchmarks/merging.py [ROWS] [GENERATORS]

From files like oha's to percentiles and histograms; by default ten million rows of four generators. Before the stages stands
SQLite's own SELECT of all rows of one file, as the least that reading them can take.
"""

import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np

from tandem.analysis import histogram
from tandem.load import rows
from tandem.load.shares import Dealt, merged

RATE = 30_000
"""Requests per second of each generator."""
TABLE = (
    "create table oha (url text not null, start real not null, start_latency_correction real, end real not null,"
    " duration real not null, status integer not null, len_bytes integer not null, run integer not null)"
)
QUERY = "select start, start_latency_correction, end, status, len_bytes from oha"


def write(file: Path, number: int) -> float:
    """Makes a file like oha's of an open loop; returns the length of its window in seconds."""
    chance = np.random.default_rng(1)
    paced = np.arange(number) / RATE + chance.exponential(0.0002, number)
    start = paced + 0.0001
    end = start + chance.lognormal(-6, 0.8, number)
    columns = (paced.tolist(), start.tolist(), end.tolist())
    with closing(sqlite3.connect(file)) as database:
        database.execute(TABLE)
        database.executemany(
            "insert into oha values ('http://proxy:8080/api/v1/recipes', ?, ?, ?, ?, 200, 1000, 1)",
            ((s, p, e, e - s) for p, s, e in zip(*columns, strict=True)),
        )
        database.commit()
    return number / RATE


def main(number: int, generators: int) -> None:
    """Prints the seconds of each stage and the sum, and the most memory that the process had."""
    took: dict[str, float] = {}

    def stage[T](name: str, work: Callable[[], T]) -> T:
        began = time.perf_counter()
        result = work()
        took[name] = time.perf_counter() - began
        return result

    rate = RATE * generators
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"open-g{one}.sqlite" for one in range(generators)]
        duration_s = max(write(file, number // generators) for file in files)
        with closing(sqlite3.connect(files[0])) as database:
            stage("plain SELECT", lambda: sum(1 for _ in database.execute(QUERY)))
        print(f"plain SELECT of one file: {took.pop('plain SELECT'):.2f} s")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        parts = (Dealt(rows.read_rows(file), one / rate, RATE) for one, file in enumerate(files))
        found = stage("read and merge", lambda: merged(parts))
    load = stage("open_loop", lambda: rows.open_loop(found, rate, duration_s, 0))
    good = stage("right_answers", lambda: rows.right_answers(found, 200, {1000}))
    stage("failures", lambda: rows.failures(found, 200, {1000}))
    inside = stage("steady", lambda: rows.steady(found, duration_s, 2, 1))
    stage("in_flight", lambda: rows.in_flight(found, duration_s, 2, 1))
    stage("times of response", lambda: rows.times(load.response_s))
    stage("times of service", lambda: rows.times((found.end_s - found.start_s)[inside & good]))
    stage("times of lateness", lambda: rows.times(load.lateness_s))
    stage("histogram of response", lambda: histogram.encode(load.response_s))
    stage("histogram of service", lambda: histogram.encode(found.end_s - found.start_s))
    for name, seconds in (*took.items(), ("all stages", sum(took.values()))):
        print(f"{name:24}{seconds:8.2f} s")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{len(found):,} rows of {generators} generators; at most {after / 2**20:.2f} GiB, {before / 2**20:.2f} before"
    )


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*given, *(10_000_000, 4)[len(given) :])
