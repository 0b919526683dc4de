"""The nightly history for the page: each series of today's images, and the sums that raise its alarms. Changes no file."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from tandem.analysis import change
from tandem.facts.metric import metric
from tandem.history import files
from tandem.history.judged import EverySeries, NightlySeries, begin, events, series_of, shared_limits
from tandem.history.night import SeriesKey
from tandem.page.data import PageRow
from tandem.page.read import BELOW, NotShown

ROWS_MOST = 8_000
"""The most rows of all series together; with more only their newest nights are drawn."""
LEAST_NIGHTS = 60
LINES = 5
"""Rows of a night: three ratios, two sums."""
RATIO, CUSUM = "ratio to the frozen image", "sums (CUSUM), in units of the noise"
"""The panels, which stand in the order of their names."""


def read_nights(folders: Iterable[Path], root: Path) -> tuple[files.History, list[NotShown]]:
    """All machines' nights and answers together, and the files that cannot be read."""
    machines = {
        place.parent.resolve()
        for folder in folders
        for at in BELOW
        for kind in (files.NIGHTS, files.ANSWERS)
        for place in folder.glob(f"{at}/{kind}".removeprefix("/"))
    }
    found, broken = files.History(), list[NotShown]()
    for machine in sorted(machines):
        history = files.read(machine)
        found.nights += history.nights
        found.answers += history.answers
        for file, why in history.broken.items():
            name = (file.relative_to(root) if file.is_relative_to(root) else file).as_posix()
            broken.append(NotShown(name, f"cannot be read: {why}"[:300]))
    found.nights.sort(key=lambda night: (night.started_at, night.id))
    return found, broken


def slug(machine: str) -> str:
    """What stands for a machine's history among the results."""
    return f"nightly {machine}"


def conditions(found: files.History) -> dict[str, str]:
    """Slug -> what a picture of it has to say."""
    out = {}
    for machine in dict.fromkeys(night.machine for night in found.nights):
        own = [night for night in found.nights if night.machine == machine]
        cpus = ", ".join(dict.fromkeys(night.cpu_model for night in own))
        when = f"{own[0].started_at:%Y-%m-%d} to {own[-1].started_at:%Y-%m-%d}"
        out[slug(machine)] = f"Nightly on {machine} ({cpus}), {when}, {len(own)} nights."
    return out


def rows(found: files.History) -> list[PageRow]:
    """Rows of each night: the ratio to the frozen image and to the one that was frozen first, the frozen image's own, and from the
    night on in which it is judged both sums. A night in which something new came under the programs says what."""
    every, came = series_of(found.nights), events(found.nights)
    limits, keys = shared_limits(every), [key for key in every if key.line == "today"]
    most = max(LEAST_NIGHTS, ROWS_MOST // max(1, LINES * len(keys)))
    out: list[PageRow] = []
    for key in keys:
        nights, first = every[key].nights, begin(key, every[key], found.answers)
        new = came.get((key.machine, key.cpu_model, key.implementation), {})
        out += [
            {**row, "event": ", ".join(new.get(nights[row["night"] - 1], [])) or None}
            for row in _of_series(key, every, first, limits[key.machine])
            if row["night"] > len(nights) - most
        ]
    return out


def _others(key: SeriesKey, every: EverySeries) -> list[tuple[str, str, NightlySeries]]:
    """Name, colour and series of the lines that are drawn beside today's."""
    frozen = every.get(key.model_copy(update={"line": "frozen"}))
    found = [] if frozen is None else [("the frozen image's second start", "--undecided", frozen)]
    first = (
        series
        for other, series in every.items()
        if other == key.model_copy(update={"line": "first", "frozen": other.frozen})
    )
    return found + [("today's image by the first", "--role-db", series) for series in first]


def _of_series(key: SeriesKey, every: EverySeries, first: int, limit: float) -> Iterator[PageRow]:
    today, judged = every[key], change.LEARNED + first
    number = {night: n for n, night in enumerate(today.nights, start=1)}
    sums = list(zip(today.nights[judged:], change.sums(today.scaled(first), limit), strict=True))
    passed = {night for night, both in sums if max(both) > limit}
    points = [
        (night, RATIO, name, math.exp(value), hue, series is today and night in passed)
        for name, hue, series in [("today's image", "--role-app", today), *_others(key, every)]
        for night, value in zip(series.nights, series.values, strict=True)
    ]
    for night, (up, down) in sums:
        points.append((night, CUSUM, "upwards", up, "--role-app", up > limit))
        points.append((night, CUSUM, "downwards", down, "--role-proxy", down > limit))
    for night, panel, line, value, hue, alarm in points:
        if night in number:
            yield {
                "run": slug(key.machine),
                "of": f"{key.implementation}, {key.scenario}, {metric(key.metric).heading}, frozen {key.frozen}",
                "night": number[night],
                "date": night[:8],
                "panel": panel,
                "line": line,
                "value": value,
                "limit": limit if panel == CUSUM else None,
                "alarm": alarm,
                "hue": hue,
            }
