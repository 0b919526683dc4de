"""The tables of a night and of a history. Pure. Ratios only: no rate is printed."""

import math
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from tandem.history.judged import Creep, JudgedSeries
from tandem.history.night import AlarmAnswer, EventAnswer, SeriesKey
from tandem.record.conclusion import Contrast
from tandem.record.result import Conclusions, Result
from tandem.report.parts import conditions_line
from tandem.report.table import Column, table, texts
from tandem.studies.nightly.conclusions import NIGHTLY_METRICS, beside

NOTE = (
    "today: today's image divided by the frozen one, mean over blocks; frozen: the frozen image divided by itself, which should be 1;"
    " first: today's image divided by the one that was frozen first of all, where that is another. One night decides nothing: the history does."
)
COLOURS = {"alarm": "red", "machine": "yellow", "learning": "dim", "steady": "green"}


def _ratio(one: Contrast | None) -> str:
    if one is None or one.ratio is None:
        return "–"
    return f"{one.ratio:.3f}" + (f" ± {one.sd_ln / math.sqrt(one.n):.3f}" if one.sd_ln is not None else "")


def report(result: Result[Conclusions]) -> RenderableType:
    """A row for each series of today's images."""
    columns = ("implementation", "scenario", "figure", "today (standard error)", "frozen", "first", "blocks")
    rows = list[tuple[str, ...]]()
    ratios = {(one.metric, one.of, one.to): one for one in result.conclusions.contrasts}
    for variant in result.request.variants:
        frozen, again, first = beside(variant.label)
        for metric, name in NIGHTLY_METRICS.items():
            if one := ratios.get((metric, variant.label, frozen)):
                pairs = ((variant.label, frozen), (again, frozen), (variant.label, first))
                told = [_ratio(ratios.get((metric, *pair))) for pair in pairs]
                scenario = variant.scenario or result.request.scenario
                rows.append((variant.implementation, scenario, name, *told, str(one.n)))
    out = texts(conditions_line(result.request), rows, *columns, left=columns[:3])
    said = [Text(reason, style="red") for reason in result.reasons]
    found = [Text(finding.text, style="yellow") for finding in result.findings]
    return Group(out, Text(NOTE, style="dim"), *said, *found)


def judged_table(judged: Sequence[JudgedSeries]) -> RenderableType:
    """A row for each series of the history."""
    return table(
        "The history",
        sorted(judged, key=lambda one: (one.said == "steady", one.key.implementation, one.key.scenario)),
        Column("implementation", lambda one: one.key.implementation, text=True),
        Column("scenario", lambda one: one.key.scenario, text=True),
        Column("figure", lambda one: NIGHTLY_METRICS.get(one.key.metric, one.key.metric), text=True),
        Column("machine", lambda one: one.key.machine, text=True),
        Column("against", lambda one: one.key.frozen, text=True),
        Column("nights", lambda one: str(one.nights)),
        Column("last week", lambda one: "–" if one.level is None else f"{math.exp(one.level):.3f}"),
        Column("judged", lambda one: Text(told(one), style=COLOURS[one.said]), text=True),
    )


def told(one: JudgedSeries) -> str:
    """What is said of a series."""
    if one.raised is None:
        return one.said
    text = f"{'up' if one.up else 'down'} since {one.since}, seen at {one.raised}"
    if one.events:
        text += f"; new in these nights: {', '.join(one.events)}"
    return f"machine: {text}; also {', '.join(one.moved)}" if one.moved else f"alarm: {text}"


def _name(key: SeriesKey) -> str:
    return f"{key.implementation}, {key.scenario}, {NIGHTLY_METRICS.get(key.metric, key.metric)}"


def event_text(event: EventAnswer) -> str:
    """What came under the programs, and what it did to one series."""
    words = {
        True: "it moved the ratio",
        False: "the ratio is as before",
        None: "the host left no block: not known",
    }
    lines = [f"new: {', '.join(event.what)}: {words[event.moved]}", f"  {_name(event.series)}"]
    if event.ratio is not None and event.ratio.ratio is not None:
        low, high = event.ratio.interval or (math.nan, math.nan)
        lines.append(
            f"  today's / frozen: {event.ratio.ratio:.3f} ({low:.3f} to {high:.3f}) over {event.ratio.n} fresh blocks;"
            f" before: {math.exp(event.level):.3f}, and nights scatter by {event.scatter:.2%}"
        )
    return "\n".join([*lines, f"  repeat: {event.command}"])


def creep_text(one: Creep) -> str:
    """How far a series is from the image that was frozen first."""
    low, mean, high = (math.exp(value) for value in (one.interval[0], one.mean, one.interval[1]))
    return f"crept: {_name(one.series)}: the last week × {mean:.3f} ({low:.3f} to {high:.3f}) of the first image, {one.series.frozen}"


def answer_text(answer: AlarmAnswer, commits: Sequence[str] = ()) -> str:
    """The report of an answered alarm: both images, both commits, the interval and what repeats it."""
    key = answer.series
    lines = [f"{_name(key)}: {answer.word}", f"  since {answer.since}, seen at {answer.raised}"]
    if answer.ratio is not None and answer.ratio.ratio is not None:
        low, high = answer.ratio.interval or (math.nan, math.nan)
        p = answer.ratio.p_alone
        lines.append(
            f"  new / old: {answer.ratio.ratio:.3f} ({low:.3f} to {high:.3f}), p {'–' if p is None else f'{p:.2g}'},"
            f" over {answer.ratio.n} fresh blocks: {'worse' if answer.worse else 'better'}"
        )
    for word, program in (("old", answer.good), ("new", answer.bad)):
        if program is not None:
            dirty = ", with uncommitted changes" if program.dirty else ""
            lines.append(
                f"  {word}: tandem/{key.implementation}:{program.tag}, commit {program.commit or 'unknown'}{dirty}"
            )
    lines += [f"    {commit}" for commit in commits]
    if answer.rebuilt is not None:
        lines.append(
            "  the base changed too: the good commit was built again on the new one, and stands for the old image"
        )
    if not answer.base_is_told_apart:
        lines.append(
            "  the base changed too, and the good commit could not be built on it: commits and base are not told apart"
        )
    if answer.command:
        lines.append(f"  repeat: {answer.command}")
    return "\n".join(lines)
