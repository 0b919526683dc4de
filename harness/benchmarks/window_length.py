"""Whether longer windows would tell another ratio: of each block of a comparison, from half of each variant's seconds and from all.

    PYTHONPATH=harness python3 harness/benchmarks/window_length.py FOLDER > results/reference-benchmarks/window-doubled.json

Both share their first half, so the difference of their logarithms scatters far less than either.
"""

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from tandem.analysis.ratios import t_interval
from tandem.engine.blocks import counting
from tandem.record.trial import Trial
from tandem.record.window import Slices, Verdict
from tandem.studies.registry import read_folder


def ln_cost(sliced: Slices, share: float) -> float:
    """Logarithm of the application's CPU seconds per right answer in the first share of its slices."""
    number = round(len(sliced.good) * share)
    return math.log(sum(sliced.app_cpu_s[:number]) / sum(sliced.good[:number]))


def slices_of(block: Trial, label: str) -> Slices | None:
    """Those of the variant's window in slices, if it is good."""
    windows = [record.windows[label] for record in block.windows if label in record.windows]
    return next((one.slices for one in windows if one.slices and one.verdict is Verdict.OK), None)


def doubled(blocks: Sequence[Trial], of: str, to: str) -> dict[str, object]:
    """How far the ratio moves from half of the seconds to all of them, with its 95 % interval over the blocks."""
    both = [(slices_of(block, of), slices_of(block, to)) for block in blocks]
    pairs = [(one, other) for one, other in both if one and other]
    half, whole = ([ln_cost(a, share) - ln_cost(b, share) for a, b in pairs] for share in (0.5, 1.0))
    moved = [late - early for late, early in zip(whole, half, strict=True)]
    interval = t_interval(moved)
    return {
        "of": of,
        "to": to,
        "blocks": len(pairs),
        "half_s": fmean(sum(a.measured_s) / 2 for a, _ in pairs),
        "ratio_of_half": math.exp(fmean(half)),
        "ratio_of_all": math.exp(fmean(whole)),
        "moved": math.exp(fmean(moved)),
        "moved_interval": [math.exp(end) for end in interval] if interval else None,
    }


if __name__ == "__main__":
    _, result, trials = read_folder(Path(sys.argv[1]))
    first, *others = [variant.label for variant in result.request.variants]
    found = [doubled(counting(trials), of, first) for of in others]
    print(json.dumps({"record": result.id, "found": found}, indent=1))
