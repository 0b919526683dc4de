"""The judge of all nights: which series moved, and whether the machine did. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from statistics import NormalDist, fmean, median_high
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
"""Chance, after an event, that a series whose ratio did not move is asked for a confirmation, over the whole family."""


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
    between: list[Program] = field(default_factory=list)
    """Images from that of the last night before to the one that raised the alarm, each once, in order."""
    events: list[str] = field(default_factory=list)
    """Events of those nights, in words."""

    @property
    def good(self) -> Program | None:
        """Today's image of the last night before."""
        return next(iter(self.between), None)


type EverySeries = dict[SeriesKey, NightlySeries]
type Events = dict[tuple[str, str, str], dict[str, list[str]]]
"""Machine, CPU model and implementation -> night -> what came new in it, such as `kernel 6.1 -> 6.2`."""


def series_of(nights: Iterable[Night]) -> EverySeries:
    """All series. nights: in order of time; those without a time to believe are left out."""
    found = defaultdict[tuple[str, ...], NightlySeries](
        NightlySeries
    )  # making keys costs more than all the rest
    for night in nights:
        if night.clock is not None:
            continue
        for point in night.points:
            name = point.implementation
            first, frozen = night.first_images.get(name), night.frozen.get(name, "")
            if point.line == "first":
                frozen = first.name if first is not None else ""
            own = (night.machine, night.cpu_model, name, point.scenario, point.metric, point.line, frozen)
            series = found[own]
            series.nights.append(night.id)
            series.values.append(point.value)
            series.programs.append(night.programs.get(name))
            series.points.append(point)
    names = SeriesKey.model_fields
    return {
        SeriesKey.model_validate(dict(zip(names, own, strict=True))): series for own, series in found.items()
    }


def shared_limits(every: Iterable[SeriesKey]) -> dict[str, float]:
    """Machine -> the limit that all series of its nights share. One of another CPU model or frozen image is the same series to
    a night, which has one CPU and one frozen image."""
    own = {
        (key.machine, key.implementation, key.scenario, key.metric) for key in every if key.line == "today"
    }
    counts = Counter(machine for machine, *_ in own)
    return {machine: change.family_limit(count) for machine, count in counts.items()}


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


def events(nights: Iterable[Night]) -> Events:
    """Something new under the programs, which no commit of theirs made. What had been there before, such as the kernel of
    another host of a pool, is not new again. nights: in order of time; those without a time to believe are left out."""
    found: Events = defaultdict(lambda: defaultdict(list))
    seen = defaultdict[tuple[str, ...], list[str]](list)
    for night in nights:
        if night.clock is not None:
            continue
        for implementation in night.programs:
            place = (night.machine, night.cpu_model, implementation)
            for kind, value in _under(night, implementation).items():
                before = seen[*place, kind]
                if before and value not in before:
                    found[place][night.id].append(f"{kind} {before[-1]} -> {value}")
                if value in before:
                    before.remove(value)
                before.append(value)
    return found


def judge(nights: Sequence[Night], answers: Sequence[AlarmAnswer]) -> list[JudgedSeries]:
    """Every series of today's images. An alarm that was answered is none any more: from there the series begins anew."""
    every, came = series_of(nights), events(nights)
    limits = shared_limits(every)
    return [
        _judged(key, begin(key, series, answers), limits[key.machine], every, came)
        for key, series in every.items()
        if key.line == "today"
    ]


def begin(key: SeriesKey, series: NightlySeries, answers: Iterable[AlarmAnswer]) -> int:
    """The place of the night from which a series is judged: the change that its last answer was about."""
    since = max((answer.since for answer in answers if answer.series == key), default="")
    return next((n for n, night in enumerate(series.nights) if night >= since), len(series.nights))


def _judged(key: SeriesKey, first: int, limit: float, every: EverySeries, came: Events) -> JudgedSeries:
    series = every[key]
    values = series.values[first:]
    steady = JudgedSeries(key, "steady", len(values), median_high(values[-change.ANEW :]) if values else None)
    if len(values) <= change.LEARNED:
        return replace(steady, said="learning")
    raised = series.alarms(first, limit)
    if not raised:
        return steady
    since, at = raised[0].since, raised[0].at
    begun, ended = series.nights[max(0, since - NEAR)], series.nights[min(len(series.nights) - 1, at + NEAR)]
    moved = [
        line
        for line in FROZEN_LINES
        if (other := every.get(key.model_copy(update={"line": line}))) and _moved(other, begun, ended)
    ]
    known = filter(None, series.programs[max(0, since - 1) : at + 1])
    between = [next(same) for _, same in groupby(known, key=lambda program: program.tag)]
    own = came.get((key.machine, key.cpu_model, key.implementation), {})
    return replace(
        steady,
        said="machine" if moved else "alarm",
        since=series.nights[since],
        raised=series.nights[at],
        up=raised[0].up,
        moved=moved,
        between=between,
        events=[what for night, new in own.items() if begun <= night <= series.nights[at] for what in new],
    )


def _moved(other: NightlySeries, first: str, last: str) -> bool:
    """Whether a frozen line raised an alarm in these nights."""
    return any(
        first <= other.nights[alarm.at] and other.nights[alarm.since] <= last
        for alarm in _onsets(other.alarms())
    )


def _onsets(alarms: Iterable[change.Alarm]) -> list[change.Alarm]:
    """The first alarm of each row. A level that moved and stayed raises one after the other until it is learned: those
    tell that the machine is another one, not that it moved just then."""
    return [
        alarm
        for last, alarm in pairwise([None, *alarms])
        if alarm and (last is None or alarm.up is not last.up or alarm.since > last.at + 1 + NEAR)
    ]


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
    """Standard deviation of such a night as the last about that level."""
    program: Program


def doubted(night: Night, nights: Sequence[Night], answers: Sequence[AlarmAnswer]) -> list[Doubted]:
    """The series that an event of this night asks a confirmation of, at once: those that left their usual range that night,
    with one limit for all of them, and in any case the one that moved most. Those of an image that is its own frozen one
    cannot move, and those that are still learned tell no range. nights: all, in order of time."""
    came = events(nights)
    found: list[tuple[float, Doubted]] = []
    for key, series in series_of(nights).items():
        what = came.get((key.machine, key.cpu_model, key.implementation), {}).get(night.id)
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

    series: SeriesKey
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
            mean = fmean(week)
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
