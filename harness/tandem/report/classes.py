"""The classes of a mix, side by side. Pure."""

from rich.console import RenderableType
from rich.text import Text

from tandem.analysis.cost import AT
from tandem.facts.estimate import CLASS
from tandem.facts.metric import GOODPUT, told_coordinates
from tandem.record.conclusion import Estimate, Position
from tandem.record.result import Conclusions
from tandem.report.table import Column, figure_with_range, table
from tandem.wording import number

TIMES = {"p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9"}
NOTE = (
    "Response times in an open loop, from the moment that a request was due: median over the starts (lowest–highest). A"
    " percentile that a class has too few requests for is left out. In the other tables the response times of a mix are those"
    " of its first class."
)


def classes(found: Conclusions) -> list[RenderableType]:
    """Rate and response times of each class, variant below variant; nothing where there was no mix."""
    rates = [
        one
        for one in found.estimates
        if CLASS in one.coordinates and one.metric.partition(AT)[0] == GOODPUT and one.mean
    ]
    if not rates:
        return []
    order = list(dict.fromkeys(one.coordinates[CLASS] for one in rates))
    rates.sort(key=lambda one: (one.metric, order.index(one.coordinates[CLASS])))

    def time(name: str) -> Column[Estimate]:
        def told(one: Estimate) -> str:
            key = one.metric.replace(GOODPUT, f"response_time_{name}_ms")
            return figure_with_range(found, key, Position(one.variant, one.coordinates))

        return Column(f"{TIMES[name]}\nms", told)

    def place(one: Estimate) -> str:
        others = {name: value for name, value in one.coordinates.items() if name != CLASS}
        return ", ".join(filter(None, [one.variant, told_coordinates(others)]))

    def share(one: Estimate) -> str:
        at = one.metric.partition(AT)[2]
        return f"{at} % of the slowest's" if at else "of its own"

    return [
        table(
            "the classes of the mix",
            rates,
            Column("class", lambda one: str(one.coordinates[CLASS]), text=True, whole=True),
            Column("implementation", place, text=True, whole=True),
            Column("rate", share, text=True),
            Column("right\n1/s", lambda one: number(one.mean, 1)),
            *map(time, TIMES),
        ),
        Text(NOTE, style="dim"),
    ]
