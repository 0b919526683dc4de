"""The report of a replay. Pure."""

from statistics import fmean

from rich.console import Group
from rich.text import Text

from tandem.analysis.prediction import Replayed
from tandem.record.window import Verdict
from tandem.report.table import texts
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
    rows, outside = list[tuple[str | Text, ...]](), list[str]()
    for one in found.figures:
        name, unit, digits = UNITS.get(one.metric, (one.metric, 1.0, 2))
        recorded, new = (
            number(fmean(values) / unit if values else None, digits) for values in (one.recorded, one.new)
        )
        ends = [number(end / unit, digits) for end in one.interval or ()]
        outcome = Text(one.outcome, style=COLOURS[one.outcome])
        rows.append((one.label, name, recorded, " to ".join(ends) or "–", new, outcome))
        if one.outcome == "outside":
            outside.append(f"{one.label} {name.partition(',')[0]}")
    title = f"{found.study} {found.recorded}: recorded and measured again"
    headings = ("variant", "figure", "recorded", "expected", "new", "")
    out = texts(title, rows, *headings, left=("variant", "figure", ""))
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
