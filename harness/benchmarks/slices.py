"""How much the slices of one comparison scatter, and what slices of other lengths would.

    python3 harness/benchmarks/slices.py FOLDER...

FOLDER: of a `tandem compare` in slices. The reference against its second start is the data: the same program, so all
scatter is noise. Of each block and figure: the scatter of ln ratios of slices of the same number, merged by 1, 2, 4 and so
on as if slices had been so long (they are a little worse than real ones, which have one settling time each). Then the
scatter from block to block, which has what two starts differ by, and the difference that blocks of that length find in
15 minutes (80 % power, two-sided 5 %).
"""

import math
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from tandem.analysis.ratios import detectable_ratio
from tandem.engine.blocks import counting
from tandem.record.trial import Trial
from tandem.record.window import Slices, Verdict
from tandem.studies.compare.conclusions import second
from tandem.studies.registry import read_folder

BUDGET_S = 15 * 60
MERGED = (1, 2, 4, 8)
FIGURES = ("goodput", "CPU per request")


def figure(slices: Slices, name: str, first: int, number: int) -> float:
    """Of so many slices from one on."""
    part = slice(first, first + number)
    good = sum(slices.good[part])
    return good / sum(slices.measured_s[part]) if name == "goodput" else sum(slices.app_cpu_s[part]) / good


def ln_ratios(one: Slices, other: Slices, name: str, merged: int) -> list[float]:
    """Of slices with the same number, merged by so many."""
    whole = len(one.good) // merged * merged
    return [
        math.log(figure(other, name, n, merged) / figure(one, name, n, merged))
        for n in range(0, whole, merged)
    ]


def pairs(blocks: Sequence[Trial], reference: str) -> list[tuple[Slices, Slices]]:
    """The reference's slices and those of its second start, of each block in which both are good."""
    found = []
    for record in (record for block in blocks for record in block.windows if record.spec.slices):
        windows = [record.windows.get(label) for label in (reference, second(reference))]
        good = [w.slices for w in windows if w is not None and w.slices and w.verdict is Verdict.OK]
        if len(good) == 2:
            found.append((good[0], good[1]))
    return found


def lines(blocks: Sequence[Trial], reference: str) -> list[str]:
    """What is told of one comparison."""
    found, out = pairs(blocks, reference), []
    lasts_s = statistics.fmean(sum(phase.duration_s for phase in block.phases) for block in blocks)
    for name in FIGURES:
        for merged in MERGED:
            each = [ln_ratios(one, other, name, merged) for one, other in found]
            scatter = [statistics.stdev(values) for values in each if len(values) > 1]
            if scatter:
                error = [
                    statistics.stdev(values) / math.sqrt(len(values)) for values in each if len(values) > 1
                ]
                out.append(
                    f"  {name:16} slices merged by {merged}: scatter {statistics.fmean(scatter):.2%},"
                    f" standard error of a block {statistics.fmean(error):.2%}"
                )
        of_blocks = [ln_ratios(one, other, name, len(one.good))[0] for one, other in found]
        if len(of_blocks) > 2:
            spread, number = statistics.stdev(of_blocks), max(2, int(BUDGET_S / lasts_s))
            effect = detectable_ratio(spread, number)
            told = "-" if effect is None else f"{effect - 1:.1%}"
            out.append(
                f"  {name:16} {len(of_blocks)} blocks of {lasts_s:.0f} s: A/A {statistics.fmean(of_blocks):+.2%},"
                f" scatter {spread:.2%}; {number} blocks in 15 min find {told}"
            )
    return out


def main() -> None:
    for folder in map(Path, sys.argv[1:]):
        _, result, trials = read_folder(folder)
        print(f"{folder.name}:", *lines(counting(trials), result.conclusions.reference), sep="\n")


if __name__ == "__main__":
    main()
