"""A crossover for people. Pure."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from rich.console import Group
from rich.table import Table
from rich.text import Text

from tandem.analysis.stack import OFF
from tandem.facts.metric import told_coordinates
from tandem.record.conclusion import Contrast
from tandem.record.result import Result
from tandem.report.parts import conditions_line, ending
from tandem.report.table import Column, table
from tandem.studies.crossover.conclusions import WINNERS, Crossed, row_name, row_of, wait_of
from tandem.studies.crossover.pictures import pictures
from tandem.wording import limited_by, number, ratio_with_interval, with_interval

WAITS = {"database": "distance of the database", "request": "wait of each request"}
NOTE = (
    "ratio: goodput of the second divided by that of the first, within blocks of fresh starts; the intervals hold for all cells"
    " together (95 %), from the spread of all. nobody: the difference is at most 10 %. model: a closed queueing network,"
    " with demands counted at the shortest wait (docs/reference/crossover-and-advice.md)"
)


def ratio(cell: Contrast) -> str:
    """With its interval."""
    return ratio_with_interval(cell.ratio, cell.interval)


def cells_table(result: Result[Crossed]) -> Table:
    """A row for each number of threads and pool, and wait."""
    found = result.conclusions

    def rate(name: str) -> Column[Contrast]:
        def told(cell: Contrast) -> str:
            one = found.goodput(name, cell)
            return with_interval(one.mean, one.interval) if one is not None else number(None)

        return Column(f"{name}, 1/s", told)

    def model(which: str, name: str) -> Column[Contrast]:
        def told(cell: Contrast) -> str:
            one = found.prediction(name, cell)
            return number(one.predicted.throughput_rps if one is not None else None)

        return Column(f"model, {which}", told)

    def limit(which: str, name: str) -> Column[Contrast]:
        def told(cell: Contrast) -> str:
            one = found.goodput(name, cell)
            return limited_by(one.limit if one is not None else None)

        return Column(f"limits, {which}", told, text=True)

    both = {"first": found.first, "second": found.second}
    return table(
        conditions_line(result.request),
        found.contrasts,
        Column("threads, pool", lambda cell: row_name(cell.coordinates), text=True),
        Column("wait, ms", lambda cell: str(wait_of(cell))),
        *map(rate, both.values()),
        Column("ratio", ratio),
        Column("wins", found.winner, text=True),
        *(model(*which) for which in both.items()),
        Column("model's ratio", lambda cell: number(found.predicted_ratio(cell), 2)),
        *(limit(*which) for which in both.items()),
    )


def _meet(what: str, at_ms: Sequence[float]) -> str:
    return f"; {what} meet at about {', '.join(f'{ms:.1f}' for ms in at_ms)} ms" if at_ms else ""


def sentences(found: Crossed) -> list[str]:
    """Who wins where, for each number of threads and pool."""
    out = []
    groups = groupby(found.contrasts, row_of)
    for (row, group), meeting in zip(groups, found.meetings, strict=True):
        own = list(group)
        parts = []
        for who in WINNERS:
            won = [cell for cell in own if cell.word == who]
            verb = "" if who == "not decided" else " wins"
            waits = ", ".join(str(wait_of(cell)) for cell in won)
            parts += [f"{found.winner(won[0])}{verb} at {waits} ms"] if won else []
        met = _meet("they", meeting.measured_ms) + _meet("in the model they", meeting.predicted_ms)
        if not any(cell.word in ("first", "second") for cell in own):
            met = ""  # two that are alike meet wherever chance has it
        out.append(f"{row_name(row)}: {'; '.join(parts)}{met}")
    return out


def differing(found: Crossed) -> list[str]:
    """The fresh starts whose prediction is more than 10 % off, each once, with what may explain it."""
    return [
        f"the model is {one.off:+.0%} off for {one.variant} at {told_coordinates(one.coordinates)}: {'; '.join(one.likely)}"
        for one in found.predictions
        if one.off is not None and abs(one.off) > OFF
    ]


def headline(found: Crossed) -> str:
    """How many cells each wins."""
    won = Counter(cell.word for cell in found.contrasts)
    names = {"first": found.first, "second": found.second, "nobody": "nobody"}
    return ", ".join(
        f"{name} wins {won[who]} of {won.total()} cells" for who, name in names.items() if who in won
    )


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
        *pictures(found),
    )
