"""How long a study takes: the sum over its specs, with overheads taken from the newest records. Pure but for reading these."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from tandem.engine.stand_ins import is_look
from tandem.errors import TandemError
from tandem.record.request import Variant
from tandem.record.store import TRIALS, read_trial
from tandem.record.trial import Trial, TrialSpec

NEWEST = 120
"""Number of trials that are read."""


type Seconds = tuple[float, float]
"""Seconds besides loads: of each start of a variant, of each window."""


@dataclass(frozen=True)
class Overheads:
    """What is spent besides loads. The defaults: 2 cores, programs in Python."""

    near: Seconds = (5.0, 1.5)
    far: Seconds = (8.0, 2.0)
    """Overhead where round trips to the database take longer: verifying, and waiting at the end, does too."""
    together: Seconds = (4.0, 1.5)
    """Overhead with several variants up side by side: they share one reset, one challenge and one end."""
    of: Mapping[tuple[str, bool], Seconds] = field(default_factory=dict)
    """Implementation, whether far -> its own. A start of Django takes twice that of a program in Rust."""
    by_label: Mapping[str, Seconds] = field(default_factory=dict)

    def named(self, variants: Iterable[Variant], far: bool) -> "Overheads":
        """The overheads by label, as specs name what they start. far: whether a variant is that says nothing of it. Of
        what no record tells nothing better than the defaults is expected: the records may all be of quick programs."""
        least, found = Overheads(), {}
        for one in variants:
            away = far or one.db_rtt_ms is not None
            known, slow = (self.far, least.far) if away else (self.near, least.near)
            rest = max(known[0], slow[0]), max(known[1], slow[1])
            found[one.label] = self.of.get((one.implementation, away), rest)
        return replace(self, by_label=found)


def trial_s(spec: TrialSpec, overheads: Overheads) -> float:
    """How long a trial takes where its warm-ups are steady as soon as they can be."""
    if spec.expected_s is not None:
        return spec.expected_s
    own = overheads.by_label.get(spec.variants[0], overheads.near)
    start_s, window_s = overheads.together if len(spec.variants) > 1 else own
    starts = len(spec.variants) * (start_s + steady_after_s(spec))
    return starts + sum(window.after_s + window.seconds + window_s for window in spec.windows)


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
    """Medians of overheads, of each implementation by itself too. The defaults where nothing tells. Trials of several
    variants tell nothing of those of one: their starts share too much."""
    # A trial that tells is the start of a program: a look at a stand-in verifies nothing and stops at once.
    known = [one for one in trials if one.overhead_s is not None and one.starts and not is_look(one.spec)]
    known = [trial for trial in known if any(record.windows for record in trial.windows)]
    alone: dict[bool, list[Trial]] = defaultdict(list)
    own: dict[tuple[str, bool], list[Trial]] = defaultdict(list)
    for trial in known:
        if len(trial.starts) == 1:
            [start] = trial.starts.values()
            far = any(w.db_rtt_ms is not None for record in trial.made for w in record.windows.values())
            alone[far].append(trial)
            if start.implementation is not None:
                own[start.implementation, far].append(trial)
    together = [trial for trial in known if len(trial.starts) > 1]
    least = Overheads()
    return Overheads(
        _median(alone[False]) or least.near,
        _median(alone[True]) or least.far,
        _median(together) or least.together,
        {key: seconds for key, of in own.items() if (seconds := _median(of))},
    )


def _median(trials: Sequence[Trial]) -> Seconds | None:
    if not trials:
        return None
    windows = [max(0.0, one.duration_s - one.spec.seconds) for trial in trials for one in trial.made]
    return statistics.median(map(_start_s, trials)), statistics.median(windows)


def _start_s(trial: Trial) -> float:
    """Overhead of each start: what is no load, and by how much its warm-up was longer than was asked for. A generator is
    started for it, and a slow program's last answers are waited for."""
    warm_s = sum(phase.duration_s for phase in trial.phases if phase.name == "warm up")
    asked_s = sum(start.warm_up_s or 0.0 for start in trial.starts.values())
    return ((trial.overhead_s or 0.0) + max(0.0, warm_s - asked_s)) / len(trial.starts)


def recorded_overheads(results: Path) -> Overheads:
    """Overheads from the newest trials of this machine's results; a file that cannot be read is left out."""
    files = [(file.stat().st_mtime_ns, file) for file in results.glob(f"2*/{TRIALS}/*.json")]
    newest = sorted(files, reverse=True)[:NEWEST]
    return overheads_of(trial for changed_ns, file in newest if (trial := _read(file, changed_ns)))


@lru_cache(maxsize=NEWEST)
def _read(file: Path, changed_ns: int) -> Trial | None:
    """Read a file once for as long as it stays the same: `reproduce list` tells dozens of estimates."""
    try:
        return read_trial(file)
    except TandemError:
        return None
