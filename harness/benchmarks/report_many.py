"""How long `just report FOLDER` needs where the folder holds a thousand results, and by how much that is more than one.

    python3 harness/benchmarks/report_many.py [RESULT_FOLDER...]

RESULT_FOLDER: of a study with a real result; default: all that are committed. A thousand copies of their result.json,
in turn and each with an id and a time of its own, are made in a temporary folder. Told are the seconds to read and to
print the list of all, the seconds to read and to print one result (in the mean of the given ones), both in this
process (the start of the interpreter and its imports are the same for every command), and their ratio. Exits with 1 if
the list takes a second.
"""

import io
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.console import Console

from tandem.commands.report import listed, notes
from tandem.record.store import RESULT
from tandem.studies.registry import index, read_folder

ROOT = Path(__file__).resolve().parents[2]
COUNT, MOST_S, TIMES = 1000, 1.0, 5


def committed() -> list[Path]:
    """Folders of all results in results/reference* and results/comparisons."""
    return sorted(
        file.parent
        for tree in ("reference*", "reference*/*", "comparisons/*")
        for file in ROOT.glob(f"results/{tree}/{RESULT}")
    )


def copies(of: Sequence[Path], into: Path) -> None:
    """Folders with these results in turn, an hour apart."""
    results = [json.loads((each / RESULT).read_text()) for each in of]
    for number in range(COUNT):
        result = results[number % len(results)]
        began = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number)
        name = f"{began:%Y%m%dT%H%M%SZ}-copy-{number}"
        (into / name / "trials").mkdir(parents=True)
        copy = {**result, "id": name, "started_at": began.isoformat()}
        (into / name / RESULT).write_text(json.dumps(copy, indent=1))


def quickest_s(work: Callable[[], None]) -> float:
    """Of several times: what else runs on the machine only adds."""
    found = []
    for _ in range(TIMES):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


def main(of: Sequence[Path]) -> int:
    console = Console(file=io.StringIO(), width=140)

    def each() -> None:
        for folder in of:
            kind, result, _ = read_folder(folder)
            console.print(kind.report(result))

    with tempfile.TemporaryDirectory() as folder:
        copies(of, Path(folder))
        size = sum(file.stat().st_size for file in Path(folder).glob(f"*/{RESULT}"))

        def read() -> None:
            assert len(index(Path(folder)).entries) == COUNT

        def whole() -> None:
            found = index(Path(folder))
            console.print(listed(found), *notes(found), sep="\n")

        reading_s, many_s = quickest_s(read), quickest_s(whole)
        one_s = quickest_s(each) / len(of)
    print(f"{COUNT:,} results, {size / 1e6:,.0f} MB, copies of {', '.join(one.name for one in of)}")
    print(f"list of all: {many_s:.2f} s (reading {reading_s:.2f}, printing {many_s - reading_s:.2f})")
    print(f"one: {one_s:.3f} s; ratio {many_s / one_s:.1f}")
    return int(many_s >= MOST_S)


if __name__ == "__main__":
    sys.exit(main([Path(given) for given in sys.argv[1:]] or committed()))
