"""Figures of how much is decided, before and after: from committed comparisons, benches and benchmarks. Pure.

What was not measured is null, and says so.
"""

import math
from collections.abc import Callable, Iterable
from itertools import count
from statistics import median, stdev

from benchmarks.decisions import NAMES
from benchmarks.slices import BLOCKS_LEAST as BLOCKS_TOLD
from benchmarks.slices import FIGURES
from documents.records import Records, WithItself
from documents.tables import percent
from tandem.analysis.ratios import BLOCKS_LEAST, detectable_ratio
from tandem.report.markdown import table
from tandem.wording import ratio_with_interval

NOT_MEASURED = "null: not measured"
SIZE = 0.03
BLOCKS_MOST = 2000
OF_A_VERDICT = 0.75**0.5
"""The scatter of a variant by the mean of the reference's two starts, by that of the second start by the first."""
METRICS = {
    "goodput": "goodput_rps",
    "CPU per request, alone": "app_cpu_us_per_request",
    "CPU per request, all at once": "duet_cpu_us_per_request",
}


def slice_lengths(records: Records) -> str:
    """The lengths, with the evidence for the best one."""
    found = records.sliced()
    if not found:
        return "Not measured: no committed comparison was made in slices."
    rows, words = [], []
    for one in found:
        data = f"{len(one.found)} blocks, {one.load_s:.0f} s of each variant in slices of {one.slice_s:g} s"
        for length in one.lengths:
            low, high = length.interval
            same = length.slice_s == one.slice_s
            rows.append(
                (
                    data if same else "",
                    f"{length.slice_s:g} s",
                    *(percent(length.errors[name], 2) for name in FIGURES),
                    "1" if same else f"× {length.against:.2f} ({low:.2f} to {high:.2f})",
                )
            )
        words.append(
            f"By the blocks in slices of {one.slice_s:g} s, the best length is {one.best_s:g} s: the shortest for which"
            " longer slices are not shown to be better."
        )
    heads = (
        "data",
        "slice>",
        *(f"standard error of a block, {name}>" for name in FIGURES),
        "against the shortest>",
    )
    return "\n\n".join((table(heads, rows), *words))


def prediction_coverage(records: Records) -> str:
    """How often the interval for the next session holds it; how often a shifted one lies outside, alone and of a family."""
    found = records.predictions().found
    cells = {
        (one.kind, one.sessions): "; ".join(
            percent(share, 1) for share in (one.holds, one.shifted_outside, one.shifted_outside_in_family)
        )
        for one in found
    }
    sizes = sorted({one.sessions for one in found})
    rows = [
        (kind, *(cells[kind, size] for size in sizes)) for kind in dict.fromkeys(one.kind for one in found)
    ]
    return table(("scatter from session to session", *(f"{size} sessions" for size in sizes)), rows)


def window_length(records: Records) -> str:
    """What the ratio of each figure is from half of the measured seconds and from all, and by how much that moved it."""
    rows = []
    for one in records.window_length().found:
        moved = ratio_with_interval(one.moved, one.moved_interval, 3)
        rows.append(
            (
                f"{one.of} by {one.to}, {one.figure}",
                f"{one.half_s:.0f} s",
                f"× {one.ratio_of_half:.3f}",
                f"× {one.ratio_of_all:.3f}",
                moved,
            )
        )
    heads = ("figure", "half>", "ratio from half>", "from all>", "moved by>")
    return table(heads, rows)


# ---- before and after ----


def blocks_needed(scatter: float, size: float = SIZE) -> int | None:
    """So many blocks find a difference of that size with 80 % power, by the t test; six decide at least."""
    for blocks in count(BLOCKS_LEAST):
        found = detectable_ratio(scatter, blocks)
        if found is not None and found <= 1 + size:
            return blocks
        if blocks > BLOCKS_MOST:
            return None
    return None


def _scatter(one: WithItself, metric: str) -> float | None:
    """Of a program with itself; too few blocks tell none."""
    ln = one.same[metric]
    return stdev(ln) if len(ln) >= BLOCKS_TOLD else None


def _minutes(one: WithItself, metric: str) -> float | None:
    """Of machine time, until a comparison of two finds SIZE; infinite beyond BLOCKS_MOST."""
    scatter = _scatter(one, metric)
    if scatter is None:
        return None
    blocks = blocks_needed(scatter * OF_A_VERDICT)
    return math.inf if blocks is None else blocks * one.block_s / 60


def _in_minutes(minutes: float) -> str:
    return f"over {BLOCKS_MOST} blocks" if math.isinf(minutes) else f"{minutes:.0f} min"


def _unlike(one: WithItself, metric: str) -> str:
    """Of the steadiest and of the least steady variant."""
    found = one.unlike[metric]
    if not found:
        return "–"
    least, most = (percent(share, 1) for share in (min(found), max(found)))
    return least if least == most else f"{least} to {most}"


def _middle(values: Iterable[float | None], tell: Callable[[float], str]) -> str:
    """The median of the records that tell something."""
    known = [value for value in values if value is not None]
    if not known:
        return NOT_MEASURED
    of = f"median of {len(known)} records" if len(known) > 1 else "one record"
    return f"{tell(median(known))} ({of})"


def scatter_by_record(records: Records) -> str:
    """What each committed comparison says of the scatter of a block, and of how long a difference of SIZE would take."""

    def cell(one: WithItself, metric: str) -> str:
        scatter, minutes = _scatter(one, metric), _minutes(one, metric)
        if scatter is None or minutes is None:
            return "–"
        return f"{percent(scatter, 1)}; {_unlike(one, metric)}; {_in_minutes(minutes)}"

    rows = [
        (
            f"`{one.name}`",
            "slices" if one.sliced else "turns",
            str(len(next(iter(one.same.values())))),
            *(cell(one, metric) for metric in METRICS.values()),
        )
        for one in sorted(records.with_itself(), key=lambda one: (one.sliced, one.name))
    ]
    return table(("record", "loaded in", "blocks>", *METRICS), rows)


def before_and_after(records: Records) -> str:
    """A row for each aim. Comparisons of one plan: blocks of a shorter plan scatter more, in turns as in slices."""
    made = [one for one in records.with_itself() if one.plan == "quick"]
    rows: list[tuple[str, str, str]] = []
    for words, value, tell in (
        ("scatter of a block's ln ratio, a program with itself", _scatter, lambda share: percent(share, 1)),
        (f"machine time until `compare A B` finds {percent(SIZE)}", _minutes, _in_minutes),
    ):
        for name, metric in METRICS.items():
            turns, slices = (
                _middle((value(one, metric) for one in made if one.sliced is sliced), tell)
                for sliced in (False, True)
            )
            rows.append((f"{words}: {name}", turns, slices))
    simulated = records.decisions()
    for name in NAMES:
        shares = simulated.get(name)
        told = (NOT_MEASURED, NOT_MEASURED) if shares is None else tuple(percent(one, 1) for one in shares)
        rows.append((name.replace("%", " %"), told[0], told[1]))
    first = records.first_numbers()
    for words, cold, place in (
        ("from the command to the first figure, images already built", False, 3),
        ("from the command to the first table, images already built", False, 4),
        ("from the command to the first figure, images built from scratch", True, 3),
        ("from the command to the first table, images built from scratch", True, 4),
    ):
        old, new = (
            [
                f"{one[0]}: {float(one[place]) / 60:.1f} min"
                for one in first
                if one[2] is cold and one[1] is blocked
            ]
            for blocked in (False, True)
        )
        rows.append((words, "; ".join(old) or NOT_MEASURED, "; ".join(new) or NOT_MEASURED))
    return table(("what", "before", "after"), rows)


def records_list(records: Records) -> str:
    """Every committed record: what was asked for, and how long it took."""
    rows = [
        (
            f"`{name}`",
            result.request.study,
            str(result.request.plan),
            str(len(result.request.variants)),
            f"{result.started_at:%Y-%m-%d}",
            f"{(result.finished_at - result.started_at).total_seconds() / 60:.0f} min",
        )
        for name, result in records.every()
    ]
    return table(("record", "study", "plan", "variants>", "date", "duration>"), rows)
