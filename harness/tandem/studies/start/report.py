"""Fresh starts for people. Pure."""

from rich.console import Group
from rich.text import Text

from tandem.facts.metric import MEMORY_REST, metric
from tandem.record.conclusion import Position
from tandem.record.result import Result
from tandem.report.chart import named_lines, quantity, rows_of
from tandem.report.parts import ending
from tandem.report.picture import Picture
from tandem.report.table import Column, figure, ratio_to, table
from tandem.studies.start.conclusions import FIRST, FULL, LOST, RIGHT, Started
from tandem.wording import number

NOTE = (
    "seconds since the container's first process began, mean ± half-width of the 95 % interval over fresh starts; the first right answer"
    " came through the whole path. Then full load at once, without a warm-up"
)


def report(result: Result[Started]) -> Group:
    """The table, then the picture."""
    found, positions = result.conclusions, [one.position for one in result.request.variants]

    def starts(position: Position) -> str:
        one = found.estimate_of(FIRST, position)
        return number(one.n if one is not None else 0)

    def column(key: str) -> Column[Position]:
        return Column(metric(key).heading, lambda at: figure(found, key, at))

    told = table(
        f"fresh starts, {result.request.scenario}",
        positions,
        Column("variant", lambda at: at.variant, text=True),
        Column("starts", starts),
        *map(column, (FIRST, RIGHT)),
        Column("by the first", lambda at: ratio_to(found, RIGHT, at, positions[0])[0]),
        Column("", lambda at: ratio_to(found, RIGHT, at, positions[0])[1], text=True),
        *map(column, (FULL, LOST, MEMORY_REST)),
    )
    return Group(told, *pictures(found), Text(NOTE, style="dim"), *ending(result))


def headline(found: Started) -> str:
    """The first right answer of each variant."""
    known = [
        (one.variant, one.mean) for one in found.estimates if one.metric == RIGHT and one.mean is not None
    ]
    return ", ".join(f"{name} {metric(RIGHT).text(mean)}" for name, mean in known)


def pictures(found: Started) -> list[Picture]:
    """The rate after the start; nothing without one."""
    points = {
        label: [{"second": second, "percent": round(100 * share, 1)} for second, share in enumerate(own, 1)]
        for label, own in found.rates.items()
    }
    rows = rows_of(points, "rate")
    says = "Answers of each second of full load right after a fresh start, as a share of the rate at the end, mean over the starts."
    says += " A compiler that works while the program runs shows here. It says nothing about which of them answers more."
    title = "From a cold start to the full rate"
    x, y = quantity("second", "seconds of full load"), quantity("percent", "% of the final rate")
    return [Picture("start", title, says, named_lines(rows, x, y, "rate"))] if rows else []
