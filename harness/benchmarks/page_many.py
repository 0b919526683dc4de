"""How long `just page` takes with many results, and how large the first page becomes.

    python3 harness/benchmarks/page_many.py [--count N] [--out DIR] [RESULT_FOLDER...]

RESULT_FOLDER: of a study with a real result; default: all that are committed. N copies (default 1,000) of their result.json, in turn and
each with a time of its own, are made in a temporary folder. Told are the seconds of the build, the most resident memory and the size of
the first page. In the image with a browser, the time to first paint and to a filled table as well, the medians of five loads from a
file URL. Exits with 1 where the page has 3 MB or more, where it is first painted after a second, or, with more than 1,000 results,
where the table is there after three.
"""

import argparse
import importlib.util
import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tandem.page.site import build
from tandem.record.store import RESULT

ROOT = Path(__file__).resolve().parents[2]
LOADS, SIZE_MOST, PAINT_MOST_MS, TABLE_MOST_MS = 5, 3_000_000, 1_000.0, 3_000.0
MANY = 1_000


def copies(of: Sequence[Path], count: int, into: Path) -> None:
    """Folders with these results in turn, an hour apart."""
    results = [json.loads((each / RESULT).read_text()) for each in of]
    for number in range(count):
        began = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(hours=number)
        folder = into / f"{began:%Y%m%dT%H%M%SZ}-copy"
        folder.mkdir(parents=True)
        copy = {**results[number % len(results)], "id": folder.name, "started_at": began.isoformat()}
        (folder / RESULT).write_text(json.dumps(copy))


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


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=MANY)
    parser.add_argument("folders", nargs="*", type=Path)
    given = parser.parse_args()
    committed = (
        file.parent
        for tree in ("reference", "reference-*/*", "comparisons/*")
        for file in ROOT.glob(f"results/{tree}/{RESULT}")
    )
    with tempfile.TemporaryDirectory() as temporary:
        results, out = Path(temporary) / "results", Path(temporary) / "site"
        copies(given.folders or sorted(committed), given.count, results)
        began = time.perf_counter()
        build([results], out, ROOT, lambda text: print(text, file=sys.stderr))
        took = time.perf_counter() - began
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = (out / "index.html").stat().st_size
        print(
            f"{given.count:,} results: built in {took:.1f} s, at most {memory:,.0f} MiB, first page {size / 1e6:.2f} MB"
        )
        if not importlib.util.find_spec("selenium"):
            return int(size >= SIZE_MOST)
        paint, table = (statistics.median(each) for each in zip(*loads(out / "index.html"), strict=True))
        print(f"first paint after {paint:.0f} ms, table after {table:.0f} ms (medians of {LOADS} loads)")
        return int(size >= SIZE_MOST or paint >= PAINT_MOST_MS or table >= TABLE_MOST_MS)


if __name__ == "__main__":
    sys.exit(main())
