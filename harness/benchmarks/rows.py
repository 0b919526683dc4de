"""How long the analysis of a million rows takes, stage by stage, beside SQLite's own SELECT in the same run.

PYTHONPATH=harness python3 harness/benchmarks/rows.py [ROWS]
"""

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

RATE = 30_000
TABLE = (
    "create table oha (url text not null, start real not null, start_latency_correction real, end real not null,"
    " duration real not null, status integer not null, len_bytes integer not null, run integer not null)"
)


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


def main() -> None:
    """Prints milliseconds of each stage and the sum, absolute and by the plain SELECT."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    took: dict[str, float] = {}

    def stage[T](name: str, work: Callable[[], T]) -> T:
        began = time.perf_counter()
        result = work()
        took[name] = time.perf_counter() - began
        return result

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "open.sqlite"
        duration_s = write(file, number)
        with closing(sqlite3.connect(file)) as database:
            query = "select start, start_latency_correction, end, status, len_bytes from oha"
            stage("plain SELECT", lambda: sum(1 for _ in database.execute(query)))
        found = stage("read_rows", lambda: rows.read_rows(file))
    plain = took.pop("plain SELECT")
    load = stage("open_loop", lambda: rows.open_loop(found, RATE, duration_s, 0))
    good = stage("right_answers", lambda: rows.right_answers(found, 200, {1000}))
    stage("failures", lambda: rows.failures(found, 200, {1000}))
    inside = stage("steady", lambda: rows.steady(found, duration_s, 2, 1))
    stage("in_flight", lambda: rows.in_flight(found, duration_s, 2, 1))
    stage("times of response", lambda: rows.times(load.response_s))
    stage("times of service", lambda: rows.times((found.end_s - found.start_s)[inside & good]))
    stage("times of lateness", lambda: rows.times(load.lateness_s))
    stage("histogram of response", lambda: histogram.encode(load.response_s))
    stage("histogram of service", lambda: histogram.encode(found.end_s - found.start_s))
    print(f"{'plain SELECT':24}{plain * 1e3:8.0f} ms")
    for name, seconds in (*took.items(), ("all stages", sum(took.values()))):
        print(f"{name:24}{seconds * 1e3:8.0f} ms{seconds / plain:8.2f} x")


if __name__ == "__main__":
    main()
