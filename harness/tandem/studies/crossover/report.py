"""A crossover for people. Pure."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.analysis.stack import OFF
from tandem.record.result import Result
from tandem.report.parts import conditions_line, ending, table
from tandem.studies.crossover.conclusions import CrossCell, Crossed, Winner
from tandem.studies.crossover.plots import row_name
from tandem.wording import limited_by, number, ratio_with_interval, with_interval

WAITS = {"database": "distance of the database", "request": "wait of each request"}
NOTE = (
    "ratio: goodput of the second divided by that of the first, within blocks of fresh starts; the intervals hold for all cells"
    " together (95 %), from the spread of all. nobody: the difference is at most 10 %. model: a closed queueing network,"
    " with demands counted at the shortest wait (docs/reference/crossover-and-advice.md)"
)


def ratio(cell: CrossCell) -> str:
    """With its interval."""
    return ratio_with_interval(cell.ratio, cell.interval)


def name(found: Crossed, who: Winner) -> str:
    return {"first": found.first, "second": found.second}.get(who, who)


def cells_table(result: Result[Crossed]) -> Table:
    """A row for each number of threads and pool, and wait."""
    found = result.conclusions
    left = ("threads, pool", "wins", "limits, first", "limits, second")
    columns = ("threads, pool", "wait, ms", f"{found.first}, 1/s", f"{found.second}, 1/s", "ratio", "wins")
    model = ("model, first", "model, second", "model's ratio")
    out = table(conditions_line(result.request), *columns, *model, *left[2:], left=left)
    for cell in found.cells:
        first, second = cell.sides
        out.add_row(
            row_name(cell),
            str(cell.at.wait_ms),
            *(with_interval(side.goodput_rps.mean, side.goodput_rps.interval) for side in (first, second)),
            ratio(cell),
            name(found, cell.winner),
            *(number(side.predicted.throughput_rps if side.predicted else None) for side in (first, second)),
            number(cell.predicted_ratio, 2),
            *(limited_by(side.bottleneck) for side in (first, second)),
        )
    return out


def _meet(what: str, at_ms: Sequence[float]) -> str:
    return f"; {what} meet at about {', '.join(f'{ms:.1f}' for ms in at_ms)} ms" if at_ms else ""


def sentences(found: Crossed) -> list[str]:
    """Who wins where, for each number of threads and pool."""
    out = []
    groups = groupby(found.cells, row_name)
    for (row, cells), meeting in zip(groups, found.meetings, strict=True):
        own = list(cells)
        parts = []
        for who in ("first", "second", "nobody", "not decided"):
            waits = [str(cell.at.wait_ms) for cell in own if cell.winner == who]
            verb = "" if who == "not decided" else " wins"
            parts += [f"{name(found, who)}{verb} at {', '.join(waits)} ms"] if waits else []
        met = _meet("they", meeting.measured_ms) + _meet("in the model they", meeting.predicted_ms)
        if not any(cell.winner in ("first", "second") for cell in own):
            met = ""  # two that are alike meet wherever chance has it
        out.append(f"{row}: {'; '.join(parts)}{met}")
    return out


def differing(found: Crossed) -> list[str]:
    """The fresh starts whose prediction is more than 10 % off, each once, with what may explain it."""
    out: dict[str, str] = {}
    for cell in found.cells:
        for side in cell.sides:
            if side.off is not None and abs(side.off) > OFF:
                out[side.label] = (
                    f"the model is {side.off:+.0%} off for {side.label}: {'; '.join(side.likely)}"
                )
    return list(out.values())


def headline(conclusions: dict[str, Any]) -> str:
    """For lists of results. conclusions: as result.json has them."""
    won = [cell["winner"] for cell in conclusions["cells"]]
    names = {"first": conclusions["first"], "second": conclusions["second"], "nobody": "nobody"}
    return ", ".join(f"{names[who]} wins {won.count(who)} of {len(won)} cells" for who in names if who in won)


def report(result: Result[Crossed]) -> Group:
    """The table, who wins where, where the model is wrong, and why trials do not count."""
    found = result.conclusions
    return Group(
        cells_table(result),
        *(Text(sentence, style="bold") for sentence in sentences(found)),
        *(Text(line, style="yellow") for line in differing(found)),
        Text(f"wait: {WAITS[found.waits_for]}; {found.rounds} rounds", style="dim"),
        Text(NOTE, style="dim"),
        *ending(result),
    )
