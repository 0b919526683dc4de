"""Figures of how much is decided: from committed comparisons and benchmarks. Pure.

What was not measured is null, and says so.
"""

import math
from itertools import count
from statistics import median, stdev

from documents.records import Records
from documents.tables import percent
from tandem.analysis.ratios import BLOCKS_LEAST, detectable_ratio
from tandem.report.markdown import table
from tandem.wording import ratio_with_interval

BLOCKS_TOLD = 3
"""Blocks of a record, or it tells no scatter."""
NOT_MEASURED = "null: not measured"
SIZE = 0.03
MOVED_MOST = 0.01
"""So much at most should doubling the windows move a ratio."""
BLOCKS_MOST = 2000
OF_A_VERDICT = 0.75**0.5
"""The scatter of a variant by the mean of the reference's two starts, by that of the second start by the first."""
METRICS = {
    "goodput": "goodput_rps",
    "CPU per request, alone": "app_cpu_us_per_request",
    "CPU per request, all at once": "duet_cpu_us_per_request",
}


def window_length(records: Records) -> str:
    """By how much doubling the measured seconds of one session moved its ratios."""
    found = records.window_length().found
    steady = [one for one in found if abs(one.moved - 1) <= MOVED_MOST]
    most = max(found, key=lambda one: abs(math.log(one.moved)))
    moved = ratio_with_interval(most.moved, most.moved_interval, 3)
    return (
        f"Of {len(found)} ratios, {len(steady)} moved by at most {percent(MOVED_MOST)}; the one that moved most is {most.of} by"
        f" {most.to}, {most.figure}: {moved}"
    )


# ---- how much is decided ----


def blocks_needed(scatter: float, size: float = SIZE) -> int | None:
    """So many blocks find a difference of that size with 80 % power, by the t test; six decide at least."""
    for blocks in count(BLOCKS_LEAST):
        found = detectable_ratio(scatter, blocks)
        if found is not None and found <= 1 + size:
            return blocks
        if blocks > BLOCKS_MOST:
            return None
    return None


def _minutes(scatter: float, block_s: float) -> float:
    """Of machine time, until a comparison of two finds SIZE; infinite beyond BLOCKS_MOST."""
    blocks = blocks_needed(scatter * OF_A_VERDICT)
    return math.inf if blocks is None else blocks * block_s / 60


def _in_minutes(minutes: float) -> str:
    return f"over {BLOCKS_MOST} blocks" if math.isinf(minutes) else f"{minutes:.0f} min"


def decided(records: Records) -> str:
    """A row for each metric: the scatter of a block in slices, and the machine time until a difference of SIZE is found, in the middle
    of the records that tell it."""
    rows, compared = [], records.with_itself(METRICS.values())
    for name, metric in METRICS.items():
        # Too few blocks tell no scatter.
        known = [(stdev(ln[metric]), s) for ln, s in compared if len(ln[metric]) >= BLOCKS_TOLD]
        if not known:
            rows.append((name, NOT_MEASURED, NOT_MEASURED))
            continue
        of = f"median of {len(known)} records" if len(known) > 1 else "one record"
        scatter = percent(median(scatter for scatter, _ in known), 1)
        minutes = _in_minutes(median(_minutes(*one) for one in known))
        rows.append((name, f"{scatter} ({of})", f"{minutes} ({of})"))
    return table(("figure", "scatter of a block>", f"machine time until {percent(SIZE)} is found>"), rows)
