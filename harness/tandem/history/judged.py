"""What follows from all nights: which series moved, and whether the machine did. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tandem.analysis import change
from tandem.history.night import AlarmAnswer, Line, Night, Program, SeriesKey

Said = Literal["learning", "steady", "alarm", "machine"]
"""learning: too few nights yet. machine: an alarm, and a frozen line of the same implementation and scenario moved with it."""
FROZEN_LINES: tuple[Line, ...] = ("frozen", "weather")
NEAR = 1
"""Nights by which alarms of two lines may miss each other and still be one."""


@dataclass
class NightlySeries:
    """Values of one kind in the order of their nights."""

    nights: list[str] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    programs: list[Program | None] = field(default_factory=list)


@dataclass(frozen=True)
class JudgedSeries:
    """One series of today's image."""

    key: SeriesKey
    said: Said
    nights: int
    """Since it began anew."""
    level: float | None
    """Median of its last week: a logarithm."""
    since: str | None = None
    raised: str | None = None
    up: bool = False
    moved: list[Line] = field(default_factory=list)
    """The frozen lines that moved with it."""
    good: Program | None = None
    """Today's image of the last night before."""
    between: list[Program] = field(default_factory=list)
    """Those from there to the one that raised the alarm, each once, in order; the first is `good`."""


def series_of(nights: Iterable[Night]) -> dict[SeriesKey, NightlySeries]:
    """All series. nights: in order of time; those without a time to believe are left out."""
    found: dict[SeriesKey, NightlySeries] = {}
    keys: dict[tuple[str, ...], SeriesKey] = {}  # making a key costs more than all the rest
    for night in nights:
        if night.clock is not None:
            continue
        for point in night.points:
            frozen = night.frozen.get(point.implementation, "")
            own = (night.machine, night.cpu_model, point.implementation, point.scenario, point.metric)
            whole = (*own, point.line, frozen)
            if whole not in keys:
                keys[whole] = SeriesKey(
                    machine=night.machine,
                    cpu_model=night.cpu_model,
                    implementation=point.implementation,
                    scenario=point.scenario,
                    metric=point.metric,
                    line=point.line,
                    frozen=frozen,
                )
                found[keys[whole]] = NightlySeries()
            series = found[keys[whole]]
            series.nights.append(night.id)
            series.values.append(point.value)
            series.programs.append(night.programs.get(point.implementation))
    return found


def judge(nights: Sequence[Night], answers: Sequence[AlarmAnswer]) -> list[JudgedSeries]:
    """Every series of today's images. An alarm that was answered is none any more: from there the series begins anew."""
    found = series_of(nights)
    begins: dict[SeriesKey, str] = {}
    for answer in answers:
        begins[answer.series] = max(begins.get(answer.series, ""), answer.since)
    return [
        _judged(key, series, begins.get(key, ""), found)
        for key, series in found.items()
        if key.line == "today"
    ]


def _judged(
    key: SeriesKey, series: NightlySeries, begins: str, every: dict[SeriesKey, NightlySeries]
) -> JudgedSeries:
    first = next((n for n, night in enumerate(series.nights) if night >= begins), len(series.nights))
    values = series.values[first:]
    level = _middle(values[-change.ANEW :])
    if len(values) <= change.LEARNED:
        return JudgedSeries(key, "learning", len(values), level)
    raised = change.alarms(values)
    if not raised:
        return JudgedSeries(key, "steady", len(values), level)
    alarm = raised[0]
    since, at = first + alarm.since, first + alarm.at
    moved = [line for line in FROZEN_LINES if _moved(key, line, series, (since, at), every)]
    between: list[Program] = []
    for program in series.programs[max(0, since - 1) : at + 1]:
        if program is not None and (not between or program.tag != between[-1].tag):
            between.append(program)
    return JudgedSeries(
        key,
        "machine" if moved else "alarm",
        len(values),
        level,
        series.nights[since],
        series.nights[at],
        alarm.up,
        moved,
        between[0] if between else None,
        between,
    )


def _moved(
    key: SeriesKey,
    line: Line,
    own: NightlySeries,
    span: tuple[int, int],
    every: dict[SeriesKey, NightlySeries],
) -> bool:
    """Whether a frozen line raised an alarm in the same nights."""
    other = every.get(key.model_copy(update={"line": line}))
    if other is None:
        return False
    first, last = own.nights[max(0, span[0] - NEAR)], own.nights[min(len(own.nights) - 1, span[1] + NEAR)]
    return any(
        first <= other.nights[alarm.at] and other.nights[alarm.since] <= last
        for alarm in _onsets(change.alarms(other.values))
    )


def _onsets(alarms: Iterable[change.Alarm]) -> list[change.Alarm]:
    """The first of each row of alarms. A level that moved and stayed raises one after the other until it is learned: those
    tell that the machine is another one, not that it moved just then."""
    found: list[change.Alarm] = []
    last: change.Alarm | None = None
    for alarm in alarms:
        if last is None or alarm.up is not last.up or alarm.since > last.at + 1 + NEAR:
            found.append(alarm)
        last = alarm
    return found


def _middle(values: Sequence[float]) -> float | None:
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else None


def steps(nights: Sequence[Night]) -> dict[SeriesKey, list[str]]:
    """Once a week: the nights in which a series of today's images, over its whole length, takes a new level."""
    return {
        key: [series.nights[index] for index in found]
        for key, series in series_of(nights).items()
        if key.line == "today" and (found := change.levels(series.values))
    }
