"""Compares a run that was made again with its record. Pure.

Whether a new mean lies within the recorded noise: inside the prediction interval for the mean of m new values by
n recorded ones, mean +- t(n-1) x s x sqrt(1/n + 1/m) (Hahn and Meeker, Statistical Intervals, section 4.7).
The interval contains the measurement's own spread over fresh starts, not a change of the machine in between.
"""

import math
from collections.abc import Iterator
from typing import Literal

import numpy as np
from pydantic import TypeAdapter
from rich.console import Group
from rich.table import Table
from rich.text import Text
from scipy import stats

from tandem.old.run import Run, Trial
from tandem.record.part import Number, Part
from tandem.record.window import Verdict
from tandem.wording import number

CONFIDENCE = 0.95
"""Of all figures of a run together: each has 1 - 0.05 / (how many are compared)."""
RESOLUTION = 0.01
"""A difference below this share of the recorded mean is never called one, however quiet the record was."""
METRICS = ("goodput_rps", "app_cpu_us_per_request", "app_memory_peak_bytes", "response_time_p99_ms")


class Compared(Part):
    """One figure, then and now."""

    metric: str
    recorded: list[Number]
    """One value per good trial."""
    new: list[Number]
    interval: tuple[Number, Number] | None
    """Where the mean of the new values is expected; null with fewer than two recorded ones."""
    outcome: Literal["within", "outside", "not comparable"]


class Replayed(Part):
    """What became of one run. replay.json has a list of these."""

    implementation: str
    scenario: str
    topology: str
    recorded_campaign: str
    new_campaign: str
    verdict: Verdict
    """Of the new run."""
    figures: list[Compared]
    differences: list[str]
    """Of the environments, in sentences."""
    reproduced: bool
    """The new run is ok, something could be compared and nothing is outside."""


FILE = "replay.json"
SHEET = TypeAdapter(list[Replayed])
"""What is in it."""


def prediction_interval(values: list[float], new: int, confidence: float) -> tuple[float, float] | None:
    """Where the mean of `new` further values lies with that confidence; None below two values or without new ones."""
    n = len(values)
    if n < 2 or new < 1:
        return None
    spread = float(np.std(values, ddof=1)) * math.sqrt(1 / n + 1 / new)
    mean = float(np.mean(values))
    half = max(float(stats.t.ppf((1 + confidence) / 2, n - 1)) * spread, RESOLUTION * abs(mean))
    return mean - half, mean + half


def values(trials: list[Trial], metric: str) -> list[float]:
    """One value per good trial; trials in which it was not measured are left out."""
    found: list[float | None] = []
    for trial in trials:
        if trial.verdict is not Verdict.OK or trial.closed is None or trial.open is None:
            continue
        match metric:
            case "goodput_rps":
                found.append(trial.closed.goodput_rps)
            case "app_cpu_us_per_request":
                found.append(trial.closed.app_cpu_us_per_request)
            case "app_memory_peak_bytes":
                peaks = (trial.closed.app_memory_peak_bytes, trial.open.app_memory_peak_bytes)
                found.append(max((float(peak) for peak in peaks if peak is not None), default=None))
            case "response_time_p99_ms":
                found.append(trial.open.response_time_ms.p99 if trial.open.response_time_ms else None)
    return [value for value in found if value is not None]


def figures(recorded: list[Trial], new: list[Trial]) -> list[Compared]:
    """Every metric, compared where both sides have it."""
    pairs = {metric: (values(recorded, metric), values(new, metric)) for metric in METRICS}
    comparable = sum(len(old) > 1 and len(now) > 0 for old, now in pairs.values())
    out = []
    for metric, (old, now) in pairs.items():
        interval = prediction_interval(old, len(now), 1 - (1 - CONFIDENCE) / max(comparable, 1))
        outcome: Literal["within", "outside", "not comparable"] = "not comparable"
        if interval is not None:
            outcome = "within" if interval[0] <= float(np.mean(now)) <= interval[1] else "outside"
        out.append(Compared(metric=metric, recorded=old, new=now, interval=interval, outcome=outcome))
    return out


def _changed(what: str, old: dict[str, str], new: dict[str, str], brief: bool) -> Iterator[str]:
    """brief: the values are too long to be shown. What the old record does not have is no difference."""
    for name in sorted(old):
        if name in new and old[name] != new[name]:
            yield f"{what} {name} changed" + ("" if brief else f": {old[name]} -> {new[name]}")
        elif name not in new:
            yield f"{what} {name} is not known any more"


def differences(old: Run, new: Run) -> list[str]:
    """In what the environments of two runs differ, in sentences."""
    before, after = old.environment, new.environment
    out = []
    if before.git_commit != after.git_commit:
        out.append(f"git commit: {(before.git_commit or '?')[:12]} -> {(after.git_commit or '?')[:12]}")
    for when, environment in (("then", before), ("now", after)):
        if environment.git_dirty:
            out.append(f"the working tree had changes that were not committed {when}")

    def told(host: dict[str, str | int | float | None]) -> dict[str, str]:
        return {name: str(value) for name, value in host.items() if value is not None}

    out += _changed("host", told(before.host), told(after.host), brief=False)
    out += _changed("version of", before.versions, after.versions, brief=False)
    out += _changed("knob", before.knobs, after.knobs, brief=False)
    paths = {"RAW_FOLDER"}
    given = [{k: v for k, v in e.variables.items() if k not in paths} for e in (before, after)]
    out += _changed("variable", given[0], given[1], brief=False)
    out += _changed("image of", before.images, after.images, brief=True)
    out += _changed("content of", before.hashes, after.hashes, brief=True)
    out += _changed("configuration:", before.configuration, after.configuration, brief=True)
    return out


def compare(old: Run, new: Run) -> Replayed:
    """The answer of a replay. Both runs are of the same cell."""
    compared = figures(old.trials, new.trials)
    outcomes = {figure.outcome for figure in compared}
    return Replayed(
        implementation=old.implementation,
        scenario=old.scenario,
        topology=old.topology,
        recorded_campaign=old.campaign,
        new_campaign=new.campaign,
        verdict=new.verdict,
        figures=compared,
        differences=differences(old, new),
        reproduced=new.verdict is Verdict.OK and "within" in outcomes and "outside" not in outcomes,
    )


_UNITS = {
    "goodput_rps": ("goodput, 1/s", 1.0, 0),
    "app_cpu_us_per_request": ("app CPU, µs/request", 1.0, 0),
    "app_memory_peak_bytes": ("app memory peak, MiB", 2.0**20, 1),
    "response_time_p99_ms": ("p99, ms", 1.0, 1),
}


def _mean(values: list[Number], unit: float) -> float | None:
    return float(np.mean(values)) / unit if values else None


def report(found: Replayed) -> Group:
    """What a person reads."""
    table = Table(
        title=f"{found.implementation}, {found.scenario}, topology {found.topology}: recorded and made again",
        title_justify="left",
    )
    for column in ("figure", "recorded", "expected", "new", ""):
        table.add_column(column, justify="left" if column in ("figure", "") else "right")
    colours = {"within": "green", "outside": "red", "not comparable": "dim"}
    for figure in found.figures:
        name, unit, digits = _UNITS[figure.metric]
        low, high = figure.interval or (None, None)
        expected = (
            "–"
            if low is None or high is None
            else f"{number(low / unit, digits)} to {number(high / unit, digits)}"
        )
        table.add_row(
            name,
            number(_mean(figure.recorded, unit), digits),
            expected,
            number(_mean(figure.new, unit), digits),
            Text(figure.outcome, style=colours[figure.outcome]),
        )
    outside = [_UNITS[f.metric][0].partition(",")[0] for f in found.figures if f.outcome == "outside"]
    if found.verdict is not Verdict.OK:
        sentence = Text(f"not reproduced: the new run is {found.verdict}", style="red")
    elif outside:
        sentence = Text(f"not reproduced: outside the recorded noise: {', '.join(outside)}", style="red")
    elif found.reproduced:
        sentence = Text("reproduced: within the recorded noise", style="green")
    else:
        sentence = Text("nothing could be compared: the record has fewer than two good trials", style="red")
    lines = [Text(f"different: {text}", style="yellow") for text in found.differences]
    return Group(table, sentence, *lines)
