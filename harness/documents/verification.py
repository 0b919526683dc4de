"""What verification costs, by the records that have it. Pure."""

from collections.abc import Iterator, Sequence
from statistics import median

from documents.records import Records
from documents.tables import span
from tandem.record.trial import Trial

PHASES = ("verify", "challenge")
"""Of a visit: what is asked before the load, and after it."""


def tap_cores(trials: Sequence[Trial]) -> Iterator[float]:
    """Of each window whose load was read on the wire: what that took of a core."""
    for record in (record for trial in trials for record in trial.windows):
        taps = [window.tap for window in record.windows.values() if window.tap is not None]
        if taps:  # one capture for all that are loaded in the same seconds
            yield taps[0].capture_cpu_s / record.spec.seconds


def starts_s(trials: Sequence[Trial]) -> Iterator[float]:
    """Of each visit of one variant that was asked before and after its load: how long that took."""
    for trial in trials:
        took = {phase.name: phase.duration_s for phase in trial.phases if phase.name in PHASES}
        if len(took) == len(PHASES) and len(trial.spec.variants) == 1:
            yield sum(took.values())


def on_the_wire(records: Records, folder: str) -> str:
    """folder: in results/."""
    shares = [100 * cores for cores in tap_cores(records.trials_of(folder))]
    return f"{span(shares, 1)} % of a core ({len(shares)} windows)"


def of_a_start(records: Records, folder: str) -> str:
    seconds = list(starts_s(records.trials_of(folder)))
    return f"{span(seconds, 1)} s, median {median(seconds):.1f} s ({len(seconds)} starts)"
