"""The report of a replay. Pure."""

import numpy as np
from rich.console import Group
from rich.text import Text

from tandem.analysis.prediction import RepeatedFigure, Replayed
from tandem.record.window import Verdict
from tandem.report.table import Column, table
from tandem.wording import number

UNITS = {
    "goodput_rps": ("goodput, 1/s", 1.0, 0),
    "app_cpu_us_per_request": ("app CPU, µs/request", 1.0, 0),
    "app_memory_peak_bytes": ("app memory peak, MiB", 2.0**20, 1),
    "response_time_p99_ms": ("p99, ms", 1.0, 1),
}
"""Metric -> its name for people, what it is divided by, digits. Others keep their own name."""
COLOURS = {"within": "green", "outside": "red", "not comparable": "dim"}


def report(found: Replayed) -> Group:
    """The table, whether it was reproduced, and what was different."""
    title = f"{found.study} {found.recorded}: recorded and measured again"
    out = table(
        title,
        found.figures,
        Column("variant", lambda one: one.label, text=True),
        Column("figure", lambda one: _unit(one)[0], text=True),
        Column("recorded", lambda one: _mean(one, one.recorded)),
        Column("expected", _expected),
        Column("new", lambda one: _mean(one, one.new)),
        Column("", lambda one: Text(one.outcome, style=COLOURS[one.outcome]), text=True),
    )
    outside = [f"{o.label} {_unit(o)[0].partition(',')[0]}" for o in found.figures if o.outcome == "outside"]
    if found.verdict is not Verdict.OK:
        sentence = Text(f"not reproduced: the new result is {found.verdict}", style="red")
    elif outside:
        sentence = Text(f"not reproduced: outside the recorded noise: {', '.join(outside)}", style="red")
    elif found.reproduced:
        sentence = Text("reproduced: within the recorded noise", style="green")
    else:
        sentence = Text("nothing could be compared: the record has fewer than two good trials", style="red")
    lines = [Text(f"different: {text}", style="yellow") for text in found.differences]
    return Group(out, sentence, *lines)


def _unit(one: RepeatedFigure) -> tuple[str, float, int]:
    return UNITS.get(one.metric, (one.metric, 1.0, 2))


def _mean(one: RepeatedFigure, values: list[float]) -> str:
    _, unit, digits = _unit(one)
    return number(float(np.mean(values)) / unit if values else None, digits)


def _expected(one: RepeatedFigure) -> str:
    _, unit, digits = _unit(one)
    return " to ".join(number(end / unit, digits) for end in one.interval) if one.interval else "–"
