"""Tables and single figures of any record, as `just report` prints them or as its result has them. Pure; knows no study."""

import json
from statistics import median
from typing import Any

from rich.table import Table

from documents.records import Records
from tandem.report.markdown import cells, of_terminal
from tandem.report.markdown import table as markdown
from tandem.wording import metric_told, ratio_with_interval

SECOND_START = {"start": 2}
"""Where the second start of a baseline stands."""


def _table(records: Records, folder: str, title: str, columns: list[str]) -> tuple[Table, list[int]]:
    """The first table of a report whose title begins so and that has the columns, and their places. columns: headings, `#3` for the
    third."""
    for shown in records.tables(folder):
        headings = [heading.strip() for heading in cells(shown)[0]]
        known = headings + [f"#{place}" for place in range(1, len(headings) + 1)]
        if str(shown.title).startswith(title) and {*columns} <= {*known}:
            return shown, [known.index(name) % len(headings) for name in columns]
    raise ValueError(f"no table of the report begins with '{title}' and has the columns {columns}")


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split("&")] if text else []


def table(records: Records, folder: str, title: str, columns: str = "") -> str:
    """A table of a record's report. folder: in results/. columns: their headings, separated by `&`; without them all."""
    return of_terminal(*_table(records, folder, title, _split(columns)))


def cell(records: Records, folder: str, title: str, row: str, columns: str) -> str:
    """One figure of such a table. row: texts of cells that only this row has, separated by `&`. A second column is added in
    brackets, such as the interval of a ratio."""
    wanted = {*_split(row)}
    shown, places = _table(records, folder, title, _split(columns))
    found = [[one[place] for place in places] for one in cells(shown)[1] if wanted <= {*one}]
    if len(found) != 1:
        raise ValueError(f"{len(found)} rows have the cells {sorted(wanted)}")
    first, *more = found[0]
    return f"{first} ({', '.join(more)})" if more else first


def lasted(records: Records, folder: str) -> str:
    """How long a record took, in minutes."""
    result = records.result(folder)
    return f"{(result.finished_at - result.started_at).total_seconds() / 60:.0f} minutes"


def across(records: Records, title: str, rows: str, columns: str, *folders: str) -> str:
    """The same figures of several records: a line for each record, a column for each row, their texts separated by ` + `."""
    names = [name.strip() for name in rows.split(" + ")]
    lines = [
        (f"`{folder}`", *(cell(records, folder, title, name, columns) for name in names))
        for folder in folders
    ]
    return markdown(("record", *(f"{name.replace(' & ', ', ')}>" for name in names)), lines)


def contrasts(records: Records, settings: str, metrics: str, *folders: str) -> str:
    """What settings change: a line for each record, whose folder is named after the baseline. settings, metrics: separated by ` + `."""
    wanted = [(setting, metric) for setting in settings.split(" + ") for metric in metrics.split(" + ")]
    names = [folder.rpartition("/")[2] for folder in folders]
    lines = []
    for folder, name in zip(folders, names, strict=True):
        every = {(one.of, one.metric): one for one in records.result(folder).conclusions.contrasts}
        own = (every[f"{name}:{setting}", metric] for setting, metric in wanted)
        lines.append((f"`{name}`", *(ratio_with_interval(one.ratio, one.interval) for one in own)))
    heads = (f"`{setting}`: {metric_told(metric)}>" for setting, metric in wanted)
    return markdown(("implementation", *heads), lines)


def with_itself(records: Records, metrics: str, *folders: str) -> str:
    """What blocks of some comparisons decide: a row for each metric, from the baseline's second start by its first, in the middle of the
    records. metrics: separated by ` + `."""
    found: dict[str, list[tuple[float, float]]] = {metric: [] for metric in metrics.split(" + ")}
    for result in map(records.result, folders):
        again = {one.label for one in result.variants if one.coordinates == SECOND_START}
        for one in result.conclusions.contrasts:
            if one.of in again and one.metric in found and one.sd_ln and one.detectable_ratio:
                found[one.metric].append((one.sd_ln, one.detectable_ratio - 1))
    rows = [
        (metric_told(metric), *(f"{100 * median(column):.1f} %" for column in zip(*known, strict=True)))
        for metric, known in found.items()
        if known
    ]
    return markdown(("figure", "scatter of a block>", "smallest difference found>"), rows)


def value(records: Records, file: str, keys: str, digits: str = "0") -> str:
    """A number of a JSON file in results/. keys: from the outermost, separated by dots; of a list the place, from 0."""
    found: Any = json.loads((records.root / "results" / file).read_text())
    for key in keys.split("."):
        found = found[int(key)] if isinstance(found, list) else found[key]
    return f"{found:,.{digits}f}"
