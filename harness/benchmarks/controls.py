"""Whether the baseline against itself differs by chance alone, over many comparisons.

    python3 harness/benchmarks/controls.py FOLDER...

FOLDER: of a `tandem compare`. For each: whether its control fails (tandem.analysis.control). For each metric over all: whether
the p values are spread evenly, as those of equal pairs are (Kolmogorov and Smirnov), and whether the second start's place
matters. The starts of a block have an order that is drawn; it is also that of their rates in a duet. If the later of two
starts is better off, then the second is where it is the later one.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy

from tandem.analysis.ratios import p_difference
from tandem.engine.blocks import counting
from tandem.engine.stand_ins import is_look
from tandem.studies.compare.conclusions import METRICS, control_of, ln_ratios, same, second
from tandem.studies.registry import read_folder

LEAST = 3
"""Blocks, or a session tells nothing."""


class Line(NamedTuple):
    """The second start against the first in one session and metric."""

    p: float
    later: list[float]
    """Later by earlier start, the logarithm in standard deviations of the session's blocks."""


def lines(folder: Path) -> dict[str, Line]:
    """By metric; says whether the control fails."""
    kind, result, trials = read_folder(folder)
    if kind.name != "compare":
        return {}
    blocks = counting(trial for trial in trials if not is_look(trial.spec))
    reference = result.conclusions.reference
    control = control_of(same(blocks, reference))
    differing = (
        ", ".join(f"{name} x {one.ratio:.3f}" for name, one in control.differing.items()) if control else ""
    )
    print(
        f"{folder.name}: {len(blocks)} blocks; control {control.verdict if control else 'not tested'} {differing}"
    )
    again, found = second(reference), {}
    for name, metric in METRICS.items():
        made = [(b.spec.variants, v) for b in blocks for v in ln_ratios([b], again, [reference], metric)]
        values = np.array([value for _, value in made])
        if len(values) >= LEAST and np.ptp(values) > 0:
            signs = [1 if labels.index(again) > labels.index(reference) else -1 for labels, _ in made]
            found[name] = Line(float(p_difference(values)), list(signs * values / values.std(ddof=1)))
    return found


def main() -> None:
    sessions = [lines(Path(folder)) for folder in sys.argv[1:]]
    for name in METRICS:
        own = [found[name] for found in sessions if name in found]
        if len(own) < LEAST:
            continue
        later = np.concatenate([line.later for line in own])
        even = scipy.stats.kstest([line.p for line in own], "uniform").pvalue
        print(
            f"{name}: {len(own)} sessions, {sum(line.p < 0.05 for line in own)} below 5 %, evenly spread p {even:.2f};"
            f" later by earlier start {later.mean():+.2f} standard deviations of a block, p {p_difference(later):.3f}"
        )


if __name__ == "__main__":
    main()
