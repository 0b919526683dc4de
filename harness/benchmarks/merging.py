"""How long it takes to make a window's figures from the rows of several generators, and how much memory.

PYTHONPATH=harness python3 harness/benchmarks/merging.py [ROWS] [GENERATORS]

From their files to percentiles and histograms of the merged rows; by default ten million rows of four generators.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rows import RATE, write

from tandem.analysis import histogram
from tandem.load import rows
from tandem.load.dealing import Dealt, merged


def main() -> None:
    """Prints the seconds of each stage and the sum, and the most memory that the process had."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    generators = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    took: dict[str, float] = {}

    def stage[T](name: str, work: Callable[[], T]) -> T:
        began = time.perf_counter()
        result = work()
        took[name] = time.perf_counter() - began
        return result

    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"open-g{one}.sqlite" for one in range(generators)]
        duration_s = max(write(file, number // generators) for file in files)

        def parts() -> Iterator[Dealt]:
            for one, file in enumerate(files):
                yield Dealt(rows.read_rows(file), one / (RATE * generators), RATE)

        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found = stage("read and merge", lambda: merged(parts()))
    rate = RATE * generators
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
    main()
