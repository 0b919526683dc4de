"""The judge of all nights: which series moved, and whether the machine did. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Literal

from tandem.analysis import change
from tandem.analysis.ratios import Floats, t_interval
from tandem.history.night import AlarmAnswer, Line, Night, Point, Program, SeriesKey

Said = Literal["learning", "steady", "alarm", "machine"]
"""learning: too few nights yet. machine: an alarm, and a frozen line of the same implementation and scenario moved with it."""
FROZEN_LINES: tuple[Line, ...] = ("frozen", "weather")
NEAR = 1
"""Nights by which alarms of two lines may miss each other and still be one."""
CREEP = 0.02
"""Distance of the last week from the first image, a logarithm, from which on a report names it."""
ASKED = 0.1
"""After an event: the chance that a series whose ratio did not move is asked for a confirmation, over the whole family."""


@dataclass
class NightlySeries:
    """Values of one kind in the order of their nights."""

    nights: list[str] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    programs: list[Program | None] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)

    def scaled(self, first: int = 0) -> Floats:
        """Distances from the level, each night weighed by its blocks. first: the night from which the series is judged."""
        own = self.points[first:]
        return change.scaled(self.values[first:], [one.blocks for one in own], [one.sd for one in own])

    def usual(self, first: int) -> tuple[float, float]:
        """The level before the last night, and how much a night such as that scatters about it."""
        own = self.points[first:]
        blocks = change.numbers([one.blocks for one in own])
        sds = change.numbers([one.sd for one in own])
        level, scatter = change.usual(change.numbers(self.values[first:]), blocks, sds, len(own) - 1)
        return level, float(scatter[0])

    def alarms(self, first: int = 0, limit: float = change.LIMIT) -> list[change.Alarm]:
        """Alarms of the nights from `first` on; their places are those among all nights."""
        return change.cusum(self.scaled(first), first + change.LEARNED, limit)


@dataclass(frozen=True)
class Event:
    """Something new under the programs, which no commit of theirs made."""

    night: str
    what: str
    """Words for it, such as `kernel 6.1 -> 6.2`."""


@dataclass(frozen=True)
class JudgedSeries:
    """One series of today's image."""

    key: SeriesKey
    said: Said
    nights: int
    """Nights since the series began anew."""
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
    """Images from `good` to the one that raised the alarm, each once, in order."""
    events: list[str] = field(default_factory=list)
    """Events of those nights, in words."""


def series_of(nights: Iterable[Night]) -> dict[SeriesKey, NightlySeries]:
    """All series. nights: in order of time; those without a time to believe are left out."""
    found: dict[SeriesKey, NightlySeries] = {}
    keys: dict[tuple[str, ...], SeriesKey] = {}  # making a key costs more than all the rest
    for night in nights:
        if night.clock is not None:
            continue
        for point in night.points:
            if point.line == "first":
                first = night.first_images.get(point.implementation)
                frozen = first.name if first is not None else ""
            else:
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
            series.points.append(point)
    return found


def shared_limit(every: Iterable[SeriesKey], machine: str) -> float:
    """The limit that all series of a machine's nights share. One of another CPU model or frozen image is the same series to a
    night, which has one CPU and one frozen image."""
    own = (key for key in every if key.line == "today" and key.machine == machine)
    return change.family_limit(len({(key.implementation, key.scenario, key.metric) for key in own}))


def _under(night: Night, implementation: str) -> dict[str, str]:
    """The known parts under a night's programs, and the images that they were compared with: kind -> which one."""
    frozen, first = night.frozen_images.get(implementation), night.first_images.get(implementation)
    found = {
        "kernel": night.kernel,
        "microcode": night.microcode,
        **{f"stack's {role}": one.tag for role, one in night.stack.items()},
        f"frozen image of {night.frozen.get(implementation, '')}": frozen.tag if frozen else None,
        f"first image of {first.name if first else ''}": first.tag if first else None,
    }
    return {kind: value for kind, value in found.items() if value is not None}


def events(nights: Iterable[Night]) -> dict[tuple[str, str, str], list[Event]]:
    """Machine, CPU model and implementation -> what came new in which night. What had been there before, such as the kernel
    of another host of a pool, is not new again. nights: in order of time; those without a time to believe are left out."""
    found: dict[tuple[str, str, str], list[Event]] = {}
    seen: dict[tuple[str, ...], list[str]] = {}
    for night in nights:
        if night.clock is not None:
            continue
        for implementation in night.programs:
            place = (night.machine, night.cpu_model, implementation)
            for kind, value in _under(night, implementation).items():
                before = seen.setdefault((*place, kind), [])
                if before and value not in before:
                    found.setdefault(place, []).append(Event(night.id, f"{kind} {before[-1]} -> {value}"))
                if value in before:
                    before.remove(value)
                before.append(value)
    return found


def judge(nights: Sequence[Night], answers: Sequence[AlarmAnswer]) -> list[JudgedSeries]:
    """Every series of today's images. An alarm that was answered is none any more: from there the series begins anew."""
    found, came = series_of(nights), events(nights)
    limits = {machine: shared_limit(found, machine) for machine in {key.machine for key in found}}
    return [
        _judged(key, series, begin(key, series, answers), limits[key.machine], found, came)
        for key, series in found.items()
        if key.line == "today"
    ]


def begin(key: SeriesKey, series: NightlySeries, answers: Iterable[AlarmAnswer]) -> int:
    """The place of the night from which a series is judged: the change that its last answer was about."""
    since = max((answer.since for answer in answers if answer.series == key), default="")
    return next((n for n, night in enumerate(series.nights) if night >= since), len(series.nights))


def _judged(
    key: SeriesKey,
    series: NightlySeries,
    first: int,
    limit: float,
    every: dict[SeriesKey, NightlySeries],
    came: dict[tuple[str, str, str], list[Event]],
) -> JudgedSeries:
    values = series.values[first:]
    level = _middle(values[-change.ANEW :])
    if len(values) <= change.LEARNED:
        return JudgedSeries(key, "learning", len(values), level)
    raised = series.alarms(first, limit)
    if not raised:
        return JudgedSeries(key, "steady", len(values), level)
    alarm = raised[0]
    since, at = alarm.since, alarm.at
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
        [
            event.what
            for event in came.get((key.machine, key.cpu_model, key.implementation), [])
            if series.nights[max(0, since - NEAR)] <= event.night <= series.nights[at]
        ],
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
        for alarm in _onsets(other.alarms())
    )


def _onsets(alarms: Iterable[change.Alarm]) -> list[change.Alarm]:
    """The first alarm of each row. A level that moved and stayed raises one after the other until it is learned: those
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


@dataclass(frozen=True)
class Doubted:
    """A series of today's image that an event may have moved."""

    key: SeriesKey
    night: str
    what: list[str]
    """The events, in words."""
    level: float
    """Level of the nights before: a logarithm."""
    scatter: float
    """Standard deviation of such a night about that level."""
    program: Program


def doubted(night: Night, nights: Sequence[Night], answers: Sequence[AlarmAnswer]) -> list[Doubted]:
    """The series that an event of this night asks a confirmation of, at once: those that left their usual range that night,
    with one limit for all of them, and in any case the one that moved most. Those of an image that is its own frozen one
    cannot move, and those that are still learned tell no range. nights: all, in order of time."""
    came = events(nights)
    found: list[tuple[float, Doubted]] = []
    for key, series in series_of(nights).items():
        own = came.get((key.machine, key.cpu_model, key.implementation), [])
        what = [event.what for event in own if event.night == night.id]
        if key.line != "today" or not what or series.nights[-1] != night.id:
            continue
        program, frozen = series.programs[-1], night.frozen_images.get(key.implementation)
        first = begin(key, series, answers)
        if program is None or (frozen is not None and program.tag == frozen.tag):
            continue
        if len(series.nights) - first <= change.LEARNED:
            continue
        level, scatter = series.usual(first)
        away = abs(series.values[-1] - level) / scatter
        found.append((away, Doubted(key, night.id, what, level, scatter, program)))
    found.sort(key=lambda one: -one[0])
    usual = NormalDist().inv_cdf(1 - ASKED / 2 / max(1, len(found)))
    return [one for place, (away, one) in enumerate(found) if place == 0 or away > usual]


@dataclass(frozen=True)
class Creep:
    """The distance of today's image from the one that was frozen first."""

    key: SeriesKey
    mean: float
    """Mean of the last week: a logarithm."""
    interval: tuple[float, float]


def crept(nights: Sequence[Night]) -> list[Creep]:
    """The series whose last week is farther than CREEP from the first image, surely so. Each step of a slow creep is too
    small for the sums, and a frozen image that is frozen again forgets all steps before."""
    found = []
    for key, series in series_of(nights).items():
        week = series.values[-change.ANEW :]
        if key.line == "first" and len(week) == change.ANEW and (interval := t_interval(week)) is not None:
            mean = sum(week) / len(week)
            if abs(mean) > CREEP and (interval[0] > 0) == (interval[1] > 0):
                found.append(Creep(key, mean, interval))
    return found


def steps(nights: Sequence[Night]) -> dict[SeriesKey, list[str]]:
    """Once a week: the nights in which a series of today's images, over its whole length, takes a new level."""
    return {
        key: [series.nights[index] for index in found]
        for key, series in series_of(nights).items()
        if key.line == "today" and (found := change.levels(series.values))
    }
