"""How long a large history takes: one more night after thousands, and judging 5,000 series of 365 nights.

python harness/benchmarks/history.py
"""

import random
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tandem.history import files
from tandem.history.judged import judge, series_of, steps
from tandem.history.night import Line, Night, Point

NIGHTS, SERIES, KEPT = 365, 5_000, 4_000
FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def night(number: int, series: int, chance: random.Random) -> Night:
    started = FIRST + timedelta(days=number)
    lines: list[Line] = ["today"]
    return Night(
        id=f"{started:%Y%m%dT%H%M%SZ}-nightly-all",
        machine="m",
        cpu_model="c",
        started_at=started,
        points=[
            Point(
                implementation=f"i{n}",
                scenario="index",
                metric="goodput_rps",
                line=line,
                value=chance.gauss(0, 0.01),
            )
            for n in range(series)
            for line in lines
        ],
    )


def timed[T](what: str, call: Callable[[], T]) -> T:
    began = time.monotonic()
    found = call()
    print(f"{what}: {time.monotonic() - began:.2f} s", flush=True)
    return found


def main() -> None:
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(KEPT):
            files.append(folder, night(number, 60, chance))
        timed(
            f"one more night of 60 points after {KEPT:,}",
            lambda: files.append(folder, night(KEPT, 60, chance)),
        )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(NIGHTS):
            files.append(folder, night(number, SERIES, chance))
        history = timed(f"reading {NIGHTS} nights of {SERIES:,} points", lambda: files.read(folder))
        judged = timed(f"judging {SERIES:,} series of {NIGHTS}", lambda: judge(history.nights, []))
        print(f"  {sum(one.raised is not None for one in judged)} alarms")
        timed("once a week, all of them over their whole length", lambda: steps(history.nights))
        assert len(series_of(history.nights)) == SERIES


if __name__ == "__main__":
    main()
