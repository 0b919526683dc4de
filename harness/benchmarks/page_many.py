"""How long `just report` and `just page` take with many results, and how large the first page becomes.

    python3 harness/benchmarks/page_many.py [--count N] [RESULT_FOLDER...]

RESULT_FOLDER: of a study with a real result; default: all that are committed. N copies (default 1,000) of their result.json, in turn and
each with a time of its own, are made in a temporary folder. Printed are the seconds of the list of all and of the report of one result,
both in this process; those of the page's build, its most resident memory and the size of the first page. In the image with a browser,
the time to first paint and to a filled table as well, the medians of five loads from a file URL. Exits with 1 where a thousand results
are listed after a second, the page has 3 MB or more, is first painted after a second, or has its table after three.
"""

import argparse
import importlib.util
import io
import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console

from tandem.commands.report import listed, notes
from tandem.page.site import build
from tandem.record.store import RESULT
from tandem.studies.registry import index, read_folder

ROOT = Path(__file__).resolve().parents[2]
TIMES, LOADS, MANY = 5, 5, 1_000
LIST_MOST_S, SIZE_MOST, PAINT_MOST_MS, TABLE_MOST_MS = 1.0, 3_000_000, 1_000.0, 3_000.0


def committed() -> list[Path]:
    """Folders of all results in results/reference* and results/comparisons."""
    trees = ("reference", "reference-*/*", "comparisons/*")
    return sorted(file.parent for tree in trees for file in ROOT.glob(f"results/{tree}/{RESULT}"))


def copies(of: Sequence[Path], count: int, into: Path) -> None:
    """Folders with these results in turn, an hour apart."""
    results = [json.loads((each / RESULT).read_text()) for each in of]
    for number in range(count):
        began = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(hours=number)
        folder = into / f"{began:%Y%m%dT%H%M%SZ}-copy"
        (folder / "trials").mkdir(parents=True)
        copy = {**results[number % len(results)], "id": folder.name, "started_at": began.isoformat()}
        (folder / RESULT).write_text(json.dumps(copy))


def quickest_s(work: Callable[[], None]) -> float:
    """The shortest of TIMES calls: what else runs on the machine only adds."""
    found = []
    for _ in range(TIMES):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


def report(of: Sequence[Path], many: Path) -> bool:
    """Prints what the list of all and the report of one take; returns whether the list is quick."""
    console = Console(file=io.StringIO(), width=140)

    def whole() -> None:
        found = index(many)
        console.print(listed(found), *notes(found), sep="\n")

    def each() -> None:
        for folder in of:
            kind, result, _ = read_folder(folder)
            console.print(kind.report(result))

    whole_s, one_s = quickest_s(whole), quickest_s(each) / len(of)
    print(f"list of all: {whole_s:.2f} s; report of one: {one_s:.3f} s")
    return whole_s < LIST_MOST_S


def loads(page: Path) -> list[tuple[float, float]]:
    """Milliseconds to first paint and to a filled table."""
    from selenium import webdriver
    from selenium.webdriver.support.ui import WebDriverWait

    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    options.binary_location = "/usr/bin/chromium"
    driver: Any = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    script = """const paint = performance.getEntriesByName('first-contentful-paint')[0];
        const filled = document.querySelector('#lines tbody tr') && performance.timing.domContentLoadedEventEnd;
        return paint && filled ? [paint.startTime, filled - performance.timing.navigationStart] : null"""
    found = []
    for _ in range(LOADS):
        driver.get("about:blank")
        driver.get(page.as_uri())
        found.append(tuple(WebDriverWait(driver, 60).until(lambda each: each.execute_script(script))))
    driver.quit()
    return found


def page(many: Path, out: Path) -> bool:
    """Prints what the page takes; returns whether it is small and quick."""
    began = time.perf_counter()
    build([many], out, ROOT, lambda text: print(text, file=sys.stderr))
    took_s = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = (out / "index.html").stat().st_size
    print(f"page built in {took_s:.1f} s, at most {memory:,.0f} MiB, first page {size / 1e6:.2f} MB")
    if not importlib.util.find_spec("selenium"):
        return size < SIZE_MOST
    paint, table = (statistics.median(each) for each in zip(*loads(out / "index.html"), strict=True))
    print(f"first paint after {paint:.0f} ms, table after {table:.0f} ms (medians of {LOADS} loads)")
    return size < SIZE_MOST and paint < PAINT_MOST_MS and table < TABLE_MOST_MS


def main() -> int:
    """Prints both. Returns the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=MANY)
    parser.add_argument("folders", nargs="*", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        many, of = Path(temporary) / "results", given.folders or committed()
        copies(of, given.count, many)
        quick = report(of, many)
        return int(not page(many, Path(temporary) / "site") or (given.count <= MANY and not quick))


if __name__ == "__main__":
    sys.exit(main())
