"""Whether longer windows would tell another ratio.

    PYTHONPATH=harness python3 harness/benchmarks/window_length.py FOLDER > results/reference-benchmarks/window-length.json

FOLDER: of a comparison or a session. Of each block the ratio is taken twice: from the first half of each variant's measured
seconds, and from all of them. What the second has more is the doubling. Both share their first half, so the difference of their
logarithms scatters far less than either.
"""

import json
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tandem.analysis.cost import ROLES
from tandem.analysis.ratios import t_interval
from tandem.engine.blocks import counting
from tandem.record.part import Number, Part
from tandem.record.trial import Trial, WindowSpec
from tandem.record.window import Verdict, Window
from tandem.studies.registry import read_folder

FIGURES = ("application's CPU per request at full load", "total CPU per request at an equal rate")
BLOCKS_LEAST = 3


class Doubled(Part):
    """One ratio from half the seconds and from all of them."""

    of: str
    to: str
    figure: str
    blocks: int
    half_s: Number
    """Measured seconds of a variant in a block."""
    ratio_of_half: Number
    ratio_of_all: Number
    moved: Number
    """The second by the first."""
    moved_interval: tuple[Number, Number] | None
    """95 % over the blocks."""


class WindowLength(Part):
    """window-length.json"""

    record: str
    found: list[Doubled]


def of_slices(spec: WindowSpec, window: Window, share: float) -> tuple[float, float] | None:
    """CPU per request (µs) of the first share of a window's slices, and their seconds."""
    if spec.slices is None or window.slices is None:
        return None
    number = round(len(window.slices.good) * share)
    good, seconds = sum(window.slices.good[:number]), sum(window.slices.measured_s[:number])
    return (sum(window.slices.app_cpu_s[:number]) / good * 1e6, seconds) if good else None


def of_seconds(spec: WindowSpec, window: Window, share: float) -> tuple[float, float] | None:
    """CPU per request (µs) over all roles of the first share of the seconds at an equal rate, and how many these are."""
    if spec.equal_share is None or window.per_second is None:
        return None
    number = round(len(window.per_second.second) * share)
    good = sum(window.per_second.good[:number])
    used_s = sum(sum(window.per_second.role_cpu_s[role][:number]) for role in ROLES if role in window.roles)
    return (used_s / good * 1e6, number) if good else None


WAYS: dict[str, Callable[[WindowSpec, Window, float], tuple[float, float] | None]] = dict(
    zip(FIGURES, (of_slices, of_seconds), strict=True)
)


def of_block(block: Trial, label: str, figure: str) -> tuple[float, float, float] | None:
    """A variant's figure from half and from all of its good windows of a kind, and the seconds of the half."""
    for record in block.windows:
        window = record.windows.get(label)
        if window is None or window.verdict is not Verdict.OK:
            continue
        half, whole = (WAYS[figure](record.spec, window, share) for share in (0.5, 1.0))
        if half is not None and whole is not None:
            return half[0], whole[0], half[1]
    return None


def doubled(blocks: Sequence[Trial], of: str, to: str, figure: str) -> Doubled | None:
    """The ratio from half of the seconds and from all, and its move; None below BLOCKS_LEAST blocks."""
    both = [(of_block(block, of, figure), of_block(block, to, figure)) for block in blocks]
    pairs = [(one, other) for one, other in both if one is not None and other is not None]
    if len(pairs) < BLOCKS_LEAST:
        return None
    half = [math.log(one[0] / other[0]) for one, other in pairs]
    whole = [math.log(one[1] / other[1]) for one, other in pairs]
    moved = [all_ - first for all_, first in zip(whole, half, strict=True)]
    interval = t_interval(moved)
    return Doubled(
        of=of,
        to=to,
        figure=figure,
        blocks=len(pairs),
        half_s=statistics.fmean(one[2] for one, _ in pairs),
        ratio_of_half=math.exp(statistics.fmean(half)),
        ratio_of_all=math.exp(statistics.fmean(whole)),
        moved=math.exp(statistics.fmean(moved)),
        moved_interval=(math.exp(interval[0]), math.exp(interval[1])) if interval else None,
    )


def measured(folder: Path) -> WindowLength:
    """The doubling of each pair of a session; of another comparison each variant by the baseline. Raises TandemError for a folder that is no
    record."""
    _, result, trials = read_folder(folder)
    groups: Any = result.request.options.get("groups") or [
        [variant.label for variant in result.request.variants]
    ]
    pairs = [(of, group[0]) for group in groups for of in group[1:]]
    found = [doubled(counting(trials), of, to, figure) for of, to in pairs for figure in FIGURES]
    return WindowLength(record=result.id, found=[one for one in found if one is not None])


if __name__ == "__main__":
    print(json.dumps(measured(Path(sys.argv[1])).model_dump(mode="json"), indent=1))
