"""How long a study takes: the sum over its specs, with overheads taken from the newest records. Pure but for reading these."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import TandemError
from tandem.record.store import TRIALS, read_trial
from tandem.record.trial import Trial, TrialSpec

NEWEST = 40
"""So many trials are read."""


@dataclass(frozen=True)
class Overheads:
    """Seconds besides loads, of each start of a variant and of each window. The defaults: 2 cores, rust-async."""

    start_s: float = 4.0
    window_s: float = 1.5


def trial_s(spec: TrialSpec, overheads: Overheads) -> float:
    """How long a trial takes where its warm-ups are steady as soon as they can be."""
    if spec.expected_s is not None:
        return spec.expected_s
    starts = len(spec.variants) * (overheads.start_s + steady_after_s(spec))
    return starts + sum(window.after_s + window.seconds + overheads.window_s for window in spec.windows)


def steady_after_s(spec: TrialSpec) -> int:
    """The shortest warm-up in which so many seconds can be looked at: the first of each part is not."""
    warm_up = spec.warm_up
    missing = warm_up.steady_buckets - (warm_up.least_s - 1)
    if missing <= 0:
        return warm_up.least_s
    return min(warm_up.cap_s, warm_up.least_s + max(2, missing + 1, warm_up.steady_buckets // 3))


def estimate_s(blocks: Iterable[Iterable[TrialSpec]], overheads: Overheads) -> float:
    """How long the trials of all blocks take, without builds."""
    return sum(trial_s(spec, overheads) for block in blocks for spec in block)


def overheads_of(trials: Iterable[Trial]) -> Overheads:
    """What starts and windows took besides their loads, in the median; the defaults where nothing tells."""
    starts, windows = [], []
    for trial in trials:
        made = [record for record in trial.windows if record.windows]
        if trial.overhead_s is None or not trial.starts or not made:
            continue
        around = [max(0.0, record.duration_s - record.spec.seconds) for record in made]
        windows += around
        starts.append(trial.overhead_s / len(trial.starts))
    if not starts:
        return Overheads()
    return Overheads(statistics.median(starts), statistics.median(windows))


def recorded_overheads(results: Path) -> Overheads:
    """The same from the newest trials of this machine's results; a file that cannot be read is left out."""
    files = sorted(results.glob(f"2*/{TRIALS}/*.json"), key=lambda file: file.stat().st_mtime, reverse=True)
    found = []
    for file in files[:NEWEST]:
        try:
            found.append(read_trial(file))
        except TandemError:
            continue
    return overheads_of(found)
