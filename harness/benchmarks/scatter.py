"""Where the scatter of a comparison comes from: its starts, or the seconds within them.

    python3 harness/benchmarks/scatter.py FOLDER...

FOLDER: of a `tandem compare` whose blocks have slices or a duet. The baseline's second start against its first is the data, so
all scatter is noise. Within a block, a window's slices (in a duet: seconds) say how exact its ratio is; between the blocks it
scatters by that and by what differs from start to start. For each window and figure, pooled over the sessions: both, the share
of the variance that the window itself makes, the same with the first half of the window, how alike neighbouring slices are,
and the correlation of a block's ratio with the difference of stolen time. Then how small a difference other blocks would find in
the same time: with windows half as long, and for a duet without the slices, which it does not need.
"""

import math
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tandem.analysis.ratios import Floats, detectable_ratio
from tandem.engine.blocks import counting
from tandem.engine.stand_ins import is_look
from tandem.record.trial import Trial
from tandem.record.window import Verdict, Window
from tandem.studies.compare.conclusions import DUET, SLICED, second
from tandem.studies.registry import read_folder

BUDGET_S = 15 * 60
LEAST = 5
"""Blocks of a session, and parts of a window, or they tell nothing."""


class Pair(NamedTuple):
    """A window of one block, of both starts of the baseline."""

    ln: Floats
    """Logarithm of second by first start, of each slice or second."""
    stolen: float
    """The difference of their stolen shares."""
    lasts_s: float
    block_s: float
    slices_s: float
    """Seconds of the block that are in slices."""


def costs(window: Window) -> Floats | None:
    """The logarithms of the CPU per request, of each slice or second."""
    parts = window.slices or window.per_second
    if parts is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(np.array(parts.app_cpu_s) / np.array(parts.good))


def rates(window: Window) -> Floats | None:
    """The logarithms of the goodput of each slice."""
    if window.slices is None:
        return None
    with np.errstate(divide="ignore"):
        return np.log(np.array(window.slices.good) / np.array(window.slices.measured_s))


FIGURES = {
    "goodput in slices": (SLICED, rates),
    "CPU per request in slices": (SLICED, costs),
    "CPU per request in the duet": (DUET, costs),
}


def pairs(block: Trial, reference: str) -> Iterator[tuple[str, Pair]]:
    """Names of the figures that a block has, each with its pair of windows."""
    block_s = sum(phase.duration_s for phase in block.phases)
    slices_s = sum(record.duration_s for record in block.windows if record.spec.name == SLICED)
    for record in block.windows:
        both = [record.windows.get(label) for label in (second(reference), reference)]
        for name, (of, figure) in FIGURES.items():
            again, first = both
            if record.spec.name != of or again is None or first is None:
                continue
            values = figure(again), figure(first)
            good = again.verdict is Verdict.OK and first.verdict is Verdict.OK
            if not good or values[0] is None or values[1] is None:
                continue
            count = min(map(len, (values[0], values[1])))
            ln = values[0][:count] - values[1][:count]
            if count >= LEAST and np.isfinite(ln).all():
                stolen = (again.host.steal_share or 0.0) - (first.host.steal_share or 0.0)
                yield name, Pair(ln, stolen, record.duration_s, block_s, slices_s)


def pooled(sessions: list[list[float]]) -> float:
    """The standard deviation within sessions."""
    return math.sqrt(float(np.mean([np.var(own, ddof=1) for own in sessions])))


def told(name: str, sessions: list[list[Pair]]) -> str:
    """Lines of the report on one figure."""
    between = pooled([[float(pair.ln.mean()) for pair in own] for own in sessions])
    half = pooled([[float(pair.ln[: len(pair.ln) // 2].mean()) for pair in own] for own in sessions])
    every = [pair for own in sessions for pair in own]
    within = math.sqrt(float(np.mean([pair.ln.var(ddof=1) / len(pair.ln) for pair in every])))
    alike = np.nanmean([np.corrcoef(pair.ln[:-1], pair.ln[1:])[0, 1] for pair in every])
    stolen = np.array([pair.stolen for pair in every])
    off = np.concatenate(
        [np.array([p.ln.mean() for p in own]) - np.mean([p.ln.mean() for p in own]) for own in sessions]
    )
    covariate = f"{np.corrcoef(stolen, off)[0, 1]:+.2f}" if np.ptp(stolen) else "none stolen"
    block_s, window_s, slices_s = (
        float(np.mean([getattr(pair, of) for pair in every])) for of in ("block_s", "lasts_s", "slices_s")
    )
    lines = [
        f"{name}: {len(sessions)} sessions, {len(every)} blocks; scatter of a block {between:.2%}, of its own slices or seconds"
        f" {within:.2%} ({min(1.0, within**2 / between**2):.0%} of the variance); of its first half {half:.2%}; neighbours"
        f" alike {alike:+.2f}; with stolen time {covariate}"
    ]
    others = {"as they are": (block_s, between), "half as long": (block_s - window_s / 2, half)}
    if FIGURES[name][0] == DUET:
        others["without the slices"] = (block_s - slices_s, between)
    for what, (lasts_s, scatter) in others.items():
        blocks = max(2, int(BUDGET_S / lasts_s))
        effect = (detectable_ratio(scatter, blocks) or math.nan) - 1
        lines.append(f"    {what}: {blocks} blocks of {lasts_s:.0f} s find {effect:.2%} in 15 min")
    return "\n".join(lines)


def main() -> None:
    found: dict[str, list[list[Pair]]] = defaultdict(list)
    for folder in map(Path, sys.argv[1:]):
        kind, result, trials = read_folder(folder)
        if kind.name != "compare":
            continue
        own: dict[str, list[Pair]] = defaultdict(list)
        for block in counting(trial for trial in trials if not is_look(trial.spec)):
            for name, pair in pairs(block, result.conclusions.reference):
                own[name].append(pair)
        for name, made in own.items():
            if len(made) >= LEAST:
                found[name].append(made)
    for name, sessions in found.items():
        print(told(name, sessions))


if __name__ == "__main__":
    main()
