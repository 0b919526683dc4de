"""Would the host's speed, as the harness's own wake-ups tell it, sharpen a comparison? Analysis of covariance.

    python3 harness/benchmarks/host_speed.py FOLDER...

FOLDER: of a `tandem bench` (does goodput follow the cost of the wake-ups from start to start?) or of a `tandem compare`
(with each window's figure corrected by that cost, slope over all its windows: does the reference scatter less against
itself, and are known differences still found?). The meter of hiccups wakes every 15 ms on each CPU and does the same
each time, so its CPU time is the price of a wake-up.
"""

import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy import stats

from tandem.engine.blocks import counting
from tandem.record.trial import Trial
from tandem.record.window import Verdict, Window
from tandem.studies.bench.conclusions import CLOSED
from tandem.studies.registry import read_folder

FIGURES: dict[str, Callable[[Window], float | None]] = {
    "goodput": lambda window: window.goodput_rps,
    "CPU per request": lambda window: window.app_cpu_us_per_request,
}
Point = tuple[float, float]
"""ln of the wake-ups' cost, ln of the figure."""


def points(windows: Sequence[Window], figure: str) -> list[Point]:
    """Of the good windows that have both."""
    out = []
    for window in windows:
        value, meter = FIGURES[figure](window), window.host.hiccup
        if window.verdict is Verdict.OK and value and meter and meter.cpu_cores > 0:
            out.append((math.log(meter.cpu_cores), math.log(value)))
    return out


def within(groups: Sequence[Sequence[Point]]) -> tuple[float, float]:
    """Slope and correlation of all points together, each less the mean of its own group."""
    x, y = [], []
    for group in groups:
        middle = [statistics.fmean(part) for part in zip(*group, strict=True)]
        x += [point[0] - middle[0] for point in group]
        y += [point[1] - middle[1] for point in group]
    found = stats.linregress(x, y)
    return float(found.slope), float(found.rvalue)


@dataclass(frozen=True)
class Line:
    """One variant against the reference: ln ratios, one for each block."""

    variant: str
    raw: list[float]
    corrected: list[float]
    wake_ups: list[float]

    def __str__(self) -> str:
        raw, corrected, wake_ups = (
            f"x {math.exp(statistics.fmean(part)):.3f}, scatter {statistics.stdev(part):.1%}"
            for part in (self.raw, self.corrected, self.wake_ups)
        )
        return f"    {self.variant:24} raw {raw}; corrected {corrected}; wake-ups {wake_ups}"


def compared(folder: Path, figure: str) -> tuple[float, float, list[Line]]:
    """Slope, correlation and lines of a comparison."""
    _, result, trials = read_folder(folder)
    blocks, reference = counting(trials), result.conclusions.reference
    names = sorted({label for block in blocks for label in block.spec.variants})

    def of(block: Trial, name: str) -> list[Point]:
        return points(block.of(name, "closed"), figure)

    slope, correlation = within([[p for block in blocks for p in of(block, name)] for name in names])
    out = []
    for name in (name for name in names if name != reference):
        x, y = [], []
        for block in blocks:
            own, other = (
                [statistics.fmean(part) for part in zip(*of(block, n), strict=True)]
                for n in (name, reference)
            )
            x.append(own[0] - other[0])
            y.append(own[1] - other[1])
        out.append(Line(name, y, [b - slope * a for a, b in zip(x, y, strict=True)], x))
    return slope, correlation, out


def started(folder: Path, figure: str) -> tuple[float, float]:
    """Slope and correlation over the fresh starts of a bench, within its variants."""
    _, result, trials = read_folder(folder)
    return within(
        [
            points([w for t in trials if (w := t.window(CLOSED, variant.label)) is not None], figure)
            for variant in result.request.variants
        ]
    )


def main() -> None:
    for folder in map(Path, sys.argv[1:]):
        print(folder.name)
        for figure in FIGURES:
            lines: list[Line] = []
            if read_folder(folder)[0].name == "compare":
                slope, correlation, lines = compared(folder, figure)
            else:
                slope, correlation = started(folder, figure)
            print(f"  {figure}: slope {slope:.2f}, correlation {correlation:.2f}", *lines, sep="\n")


if __name__ == "__main__":
    main()
