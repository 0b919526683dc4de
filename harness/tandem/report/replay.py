"""The report of a replay. Pure."""

import numpy as np
from rich.console import Group
from rich.text import Text

from tandem.analysis.repeated import Replayed
from tandem.record.window import Verdict
from tandem.report.parts import table
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
    columns = ("variant", "figure", "recorded", "expected", "new", "")
    out = table(title, *columns, left=("variant", "figure", ""))
    outside = []
    for figure in found.figures:
        name, unit, digits = UNITS.get(figure.metric, (figure.metric, 1.0, 2))
        low, high = figure.interval or (None, None)
        expected = (
            "–"
            if low is None or high is None
            else f"{number(low / unit, digits)} to {number(high / unit, digits)}"
        )
        out.add_row(
            figure.label,
            name,
            number(_mean(figure.recorded, unit), digits),
            expected,
            number(_mean(figure.new, unit), digits),
            Text(figure.outcome, style=COLOURS[figure.outcome]),
        )
        if figure.outcome == "outside":
            outside.append(f"{figure.label} {name.partition(',')[0]}")
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


def _mean(values: list[float], unit: float) -> float | None:
    return float(np.mean(values)) / unit if values else None
