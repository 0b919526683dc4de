"""The table of a study: a row for each variant at its coordinates, a column for each metric, ratio or text. Pure."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

from rich import box
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table as Table
from rich.text import Text

from tandem.analysis.cost import AT
from tandem.facts.estimate import CLASS, STATEMENT
from tandem.facts.metric import GOODPUT, metric, told_coordinates
from tandem.record.conclusion import Contrast, Estimate, Position
from tandem.record.result import Conclusions
from tandem.report.markdown import tables_in
from tandem.wording import limited_by, number, with_interval


def fitted(shown: RenderableType, console: Console) -> RenderableType:
    """Fit a report to a console. A table that is wider loses its frame, and a word that is still too long goes on in the next line:
    Rich would cut it off."""
    wide = console.options.update(max_width=10_000)
    for table in tables_in(shown):
        if Measurement.get(console, wide, table).maximum > console.width:
            table.box, table.collapse_padding, table.pad_edge = box.SIMPLE_HEAD, True, False
            for column in table.columns:
                column.overflow = "fold"
    return shown


@dataclass(frozen=True)
class Column[T]:
    """cell: what stands in a row. text: to the left, as numbers are not. whole: never broken into lines."""

    heading: str
    cell: Callable[[T], str | Text]
    text: bool = False
    whole: bool = False


def table[T](title: str, rows: Iterable[T], *columns: Column[T]) -> Table:
    """The table of these rows."""
    out = Table(title=title, title_justify="left")
    for column in columns:
        out.add_column(column.heading, justify="left" if column.text else "right", no_wrap=column.whole)
    for row in rows:
        out.add_row(*(column.cell(row) for column in columns))
    return out


def texts(
    title: str, rows: Iterable[Sequence[str | Text]], *headings: str, left: Collection[str] = ()
) -> Table:
    """The table of rows that are texts already. left: the columns that are no numbers."""
    columns = [
        Column[Sequence[str | Text]](heading, itemgetter(place), text=heading in left)
        for place, heading in enumerate(headings)
    ]
    return table(title, rows, *columns)


def figure(found: Conclusions, key: str, position: Position, digits: int | None = None) -> str:
    """An estimate with the half-width of its interval; a dash where there is none."""
    one = found.estimate_of(key, position)
    if one is None:
        return number(None)
    return with_interval(one.mean, one.interval, metric(key).digits if digits is None else digits)


def figure_with_range(found: Conclusions, key: str, position: Position) -> str:
    """An estimate with its least and greatest value over the starts."""
    one = found.estimate_of(key, position)
    if one is None or one.mean is None:
        return number(None)
    told, (low, high) = number(one.mean, 1), one.range or (None, None)
    return told if low is None or high is None or low == high else f"{told} ({low:,.1f}–{high:,.1f})"


def limit(found: Conclusions, position: Position) -> str:
    """What limited the goodput of a variant; a dash where that is not known."""
    one = found.estimate_of(GOODPUT, position)
    return limited_by(one.limit if one is not None else None)


def ratio(one: Contrast | None) -> str:
    """A ratio with its interval, 1.234 (1.200–1.270)."""
    if one is None or one.ratio is None:
        return number(None)
    told = f"{one.ratio:.3f}"
    return told if one.interval is None else f"{told} ({one.interval[0]:.3f}–{one.interval[1]:.3f})"


def ratio_to(found: Conclusions, key: str, position: Position, first: Position) -> tuple[str, str]:
    """The ratio to the first variant with its interval, and the word; 1 of the first itself, a dash where nothing is compared."""
    if position == first:
        return ("1" if found.contrasts else number(None)), ""
    one = found.contrast_of(key, position)
    return ratio(one), (one.word or "") if one is not None else ""


STATEMENTS_LEAST = 0.01
"""Fewest runs of a statement for a request; below it are those of connections that are opened."""
TIMES = {"p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9"}
NOTE = (
    "Response times in an open loop, from the moment that a request was due: median over the starts (lowest–highest). A"
    " percentile that a class has too few requests for is left out. In the other tables the response times of a mix are those"
    " of its first class."
)


STATEMENT_TITLE = "statements for each request, by the database"


def statements(found: Conclusions, heading: str = "statement") -> list[Table]:
    """How often each statement runs for a request of a reader's own service, with the sum of all as the last row; nothing where none
    ran. heading: of the statements."""
    own = [one for one in found.estimates if {*one.coordinates} == {STATEMENT} and one.mean]
    variants = list(dict.fromkeys(one.variant for one in own))
    calls: dict[str, dict[str, float]] = {}
    for one in own:
        calls.setdefault(str(one.coordinates[STATEMENT]), {})[one.variant] = one.mean or 0.0
    rows = [
        (text, *(number(of.get(variant, 0.0), 2) for variant in variants))
        for text, of in calls.items()
        if max(of.values()) >= STATEMENTS_LEAST
    ]
    whole = ("all", *(number(sum(of.get(one, 0.0) for of in calls.values()), 2) for one in variants))
    return [texts(STATEMENT_TITLE, [*rows, whole], heading, *variants, left=(heading,))] if rows else []


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

    def time(name: str, one: Estimate) -> str:
        key = one.metric.replace(GOODPUT, f"response_time_{name}_ms")
        return figure_with_range(found, key, Position(one.variant, one.coordinates))

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
            *(Column(f"{told}\nms", partial(time, name)) for name, told in TIMES.items()),
        ),
        Text(NOTE, style="dim"),
    ]
