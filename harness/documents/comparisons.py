"""Figures of the comparisons that tell how small a difference each design finds. Pure."""

import math
from statistics import fmean, stdev

from rich.table import Table

from documents.records import Records
from documents.tables import percent, times
from tandem.report.markdown import of_terminal, table
from tandem.studies.compare.conclusions import METRICS, ComparedRatio, second
from tandem.studies.compare.report import COLUMNS, tables, told
from tandem.wording import number

FOLDERS = ("python-async", "python-sync")
KNOWN, BASELINE, ADDED_US = "python-async-slow", "python-async", 37
"""A variant that spends so much more in its handler, by its own clock, and what it is compared with."""
GOODPUT, CPU = "goodput", "CPU per request"
IN_TURN = {
    "fresh starts in blocks, one window of 4 s each": ("rate, 1 rounds", "CPU per request, 1 rounds"),
    "alternation, 6 windows of 4 s per start": ("rate, 6 rounds", "CPU per request, 6 rounds"),
    "the same, seconds with steal left out": (
        "rate, stolen seconds cut, 6 rounds",
        "CPU, stolen seconds cut, 6 rounds",
    ),
}
"""Design -> its names in harness/benchmarks/pairing.py, for the rate and for the cost."""
DUET = ("duet of 15 s after one window of 4 s", "CPU per request, all at once")


def _compared(records: Records, folder: str, variant: str, metric: str) -> ComparedRatio:
    found = records.comparison(folder).conclusions
    if variant == second(found.reference):
        return found.same_against_itself[metric]
    return next(entry for entry in found.entries if entry.variant == variant).against_reference[metric]


def _mean(records: Records, folder: str, variant: str, metric: str) -> float:
    entries = records.comparison(folder).conclusions.entries
    value = next(entry for entry in entries if entry.variant == variant).means[metric]
    if value is None:
        raise ValueError(f"{variant} has no {metric}")
    return value


def compared_table(records: Records, folder: str, metric: str) -> str:
    """The table of one metric, as `just report` prints it."""
    shown = [one for one in tables(records.comparison(folder)) if isinstance(one, Table)]
    return of_terminal(next(one for one in shown if str(one.title).startswith(f"{COLUMNS[metric][0]}:")))


def compared(records: Records, folder: str, variant: str, metric: str) -> str:
    """The ratio to the baseline with its interval."""
    return times(_compared(records, folder, variant, metric).ratio, 3)


def word(records: Records, folder: str, variant: str, metric: str) -> str:
    """The verdict, with its size."""
    return told(_compared(records, folder, variant, metric), METRICS[metric].better)


def setting(records: Records, implementation: str, changed: str, metric: str) -> str:
    """The ratio with one setting changed, such as `DB_PREPARE=0`, to the implementation as it ships."""
    entries = records.settings(implementation).conclusions.entries
    found = next(entry for entry in entries if entry.variant == f"{implementation}:{changed}")
    return times(found.against_reference[metric].ratio)


def by_mode(records: Records, folder: str, variant: str, mode: str) -> str:
    """The ratio to the baseline of the time in user mode, or in the kernel, with its interval."""
    return times(records.by_mode(folder, variant, mode), 3)


def mean(records: Records, folder: str, variant: str, metric: str) -> str:
    value = number(_mean(records, folder, variant, metric))
    return f"{value}/s" if metric == "goodput_rps" else f"{value} µs"


def added(records: Records, metric: str) -> str:
    """The known difference as a share of what a request costs."""
    return percent(ADDED_US / _mean(records, BASELINE, BASELINE, metric), 1)


def length(records: Records, folder: str) -> str:
    found = records.comparison(folder)
    return f"{(found.finished_at - found.started_at).total_seconds() / 60:.0f} minutes"


def steal(records: Records) -> str:
    """The most in a window of any of the comparisons."""
    return percent(max(map(records.most_steal, FOLDERS)), 1)


def designs(records: Records) -> str:
    """How small a difference each design finds in a quarter of an hour."""
    names = [
        (words, folder, figure, name)
        for words, pair in IN_TURN.items()
        for folder in FOLDERS
        for figure, name in zip((GOODPUT, CPU), pair, strict=True)
    ]
    rows: list[tuple[str, ...]] = []
    for words, folder, figure, name in [*names, (DUET[0], "python-async", CPU, DUET[1])]:
        found = records.designs(folder)[name]
        rows.append(
            (
                "" if rows and words in [row[0] for row in rows] else words,
                f"{folder}, {len(found.ln_ratios)} blocks",
                figure,
                f"{found.block_s:.0f} s",
                percent(found.scatter, 1),
                "–" if found.finds is None else percent(found.finds, 1),
            )
        )
    return table(
        (
            "design",
            "data",
            "figure",
            "length of a block of two>",
            "scatter of its ln ratio>",
            "difference found in 15 minutes>",
        ),
        rows,
    )


# ---- the host's speed as a covariate ----


def wake_up_slope(records: Records) -> str:
    """How the logarithm of goodput follows that of the cost of the harness's wake-ups, from start to start."""
    slope, correlation = records.wake_ups_between_starts(GOODPUT)
    return f"{slope:.2f} (correlation {correlation:.2f})".replace("-", "−")


def wake_up_scatter(records: Records, folder: str) -> str:
    """Scatter of the baseline against itself, as it is and corrected."""
    line = records.wake_ups(folder, GOODPUT)[second(folder)]
    return f"from {100 * stdev(line.raw):.1f} to {percent(stdev(line.corrected), 1)}"


def wake_up_effect(records: Records, which: str) -> str:
    """What the correction does to the known difference. which: `raw`, `corrected` or `wake_ups`."""
    values: list[float] = getattr(records.wake_ups(BASELINE, CPU)[KNOWN], which)
    return f"× {math.exp(fmean(values)):.3f}"
