"""Sweeps one setting: which values, in which order, and what the points say together. Pure."""

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
from pydantic import Field

from tandem.analysis.analyse import t_interval
from tandem.analysis.schedule import schedule
from tandem.errors import UsageError, unknown
from tandem.record.run import Environment, Number, Part, Verdict, Window
from tandem.sweep.usl import Usl, fit

AXES = {
    "connections": "connections of the closed loop",
    "pool": "DB_POOL_MAX, database connections of the whole application",
    "threads": "THREADS, handler threads of each worker",
    "wait": "milliseconds that each request of the scenario work waits",
}
KNOBS = {"pool": "DB_POOL_MAX", "threads": "THREADS"}
WAIT_SCENARIO = "work"
LONGEST_WAIT_MS = 1000
C90 = 0.9
WANTED = "AXIS=VALUES, such as connections=1..512 or pool=4,10,32"


@dataclass(frozen=True)
class Over:
    """What is swept. values: distinct, ascending."""

    axis: str
    values: tuple[int, ...]


def parse_over(text: str) -> Over:
    """`pool=4,10,16` or `connections=1..512`: a list, or the powers of two from one end to the other, both ends
    included. Raises UsageError."""
    axis, equals, given = text.strip().partition("=")
    if not equals:
        raise UsageError(f"--over takes {WANTED}, not '{text}'")
    if axis not in AXES:
        raise unknown("axis", axis, AXES)
    values: set[int] = set()
    for part in given.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:\.\.(\d{1,6}))?\s*", part)
        if not match:
            raise UsageError(f"--over takes {WANTED}: '{part}' is neither a whole number nor FROM..TO")
        low, high = int(match[1]), int(match[2] or match[1])
        if high < low:
            raise UsageError(f"--over {axis}: {low}..{high} is empty; the smaller end comes first")
        values |= {low, high} | {2**n for n in range(high.bit_length()) if low < 2**n < high}
    if axis == "connections" and 0 in values:
        raise UsageError("--over connections: 1 is the least")
    if axis == "wait" and max(values) > LONGEST_WAIT_MS:
        raise UsageError(f"--over wait: {LONGEST_WAIT_MS} ms is the most; the windows last seconds")
    if len(values) < 2:
        raise UsageError(f"--over {axis} needs two values at least: {WANTED}")
    return Over(axis, tuple(sorted(values)))


class Asked(Part):
    """request.json: the same request and seed give the same points in the same order."""

    implementations: list[str]
    axis: str
    values: list[int]
    rounds: int
    scenario: str
    topology: str
    placement: str
    plan: str
    seed: int
    knobs: dict[str, str]
    db_rtt_ms: int | None = None
    """None: no latency proxy between application and database."""


@dataclass(frozen=True)
class Step:
    """One fresh start."""

    round: int
    implementation: str
    value: int

    @property
    def file(self) -> str:
        return f"{self.round}-{self.implementation.replace('/', '-')}-{self.value}.json"


def steps(asked: Asked) -> list[Step]:
    """Randomised complete blocks over all implementations and values, fixed by the seed."""
    cells = {f"{name} {value}": (name, value) for name in asked.implementations for value in asked.values}
    visits = schedule(list(cells), asked.rounds, asked.seed)
    return [Step(visit.block, *cells[visit.run]) for visit in visits]


class Point(Part):
    """points/*.json: one fresh start. Figures are null unless the verdict is ok."""

    round: int
    implementation: str
    value: int
    verdict: Verdict
    reason: str | None = None
    attempts: int = 1
    goodput_rps: Number | None = None
    app_cpu_us_per_request: Number | None = None
    service_time_mean_ms: Number | None = None
    bottleneck: str | None = None
    steal_share: Number | None = None


def point(step: Step, window: Window, attempts: int) -> Point:
    """The point of a closed window."""
    texts = [finding.text for finding in window.findings if finding.severity != "warning"]
    found = Point(
        round=step.round,
        implementation=step.implementation,
        value=step.value,
        verdict=window.verdict,
        reason=texts[0] if texts else None,
        attempts=attempts,
        steal_share=window.host.steal_share,
    )
    if window.verdict is Verdict.OK:
        found.goodput_rps = window.goodput_rps
        found.app_cpu_us_per_request = window.app_cpu_us_per_request
        found.service_time_mean_ms = window.service_time_ms.mean
        found.bottleneck = window.bottleneck
    return found


class Mean(Part):
    """The mean over rounds with its 95 % Student t interval; null below two good rounds."""

    mean: Number | None
    interval: tuple[Number, Number] | None


class Level(Part):
    """One implementation at one value."""

    value: int
    rounds: int
    goodput_rps: Mean
    app_cpu_us_per_request: Mean
    service_time_mean_ms: Mean
    bottleneck: str | None


class Curve(Part):
    """One implementation over all values. Null where points are missing."""

    implementation: str
    levels: list[Level]
    peak_rps: Number | None
    peak_at: int | None
    c90: int | None
    """The smallest value that reaches 90 % of the peak; null for `wait`, where less is more."""
    retrograde_loss: Number | None
    """1 - rate at the largest value / peak."""
    usl: Usl | None
    """For `connections` only."""


class Sweep(Part):
    """sweep.json"""

    schema_version: Literal[1] = 1
    started_at: datetime
    finished_at: datetime
    request: Asked
    verdict: Verdict
    reasons: list[str]
    """Why points do not count."""
    points: list[Point]
    curves: list[Curve]
    phases_s: dict[str, Number] = Field(default_factory=dict)
    """Where the time went, of the last part where it was resumed."""
    ceilings_rps: dict[str, Number | None] = Field(default_factory=dict)
    """What the parts around the applications reached in the same session, with the scenario's own connections and the
    knobs that were chosen; empty where the plan has no such look."""
    environment: dict[str, Environment]
    """By implementation; the swept knob is that of the smallest value."""


def mean(values: Sequence[float]) -> Mean:
    """Of the good rounds."""
    found = statistics.fmean(values) if len(values) > 1 else None
    return Mean(mean=found, interval=t_interval(values))


def level(value: int, points: Sequence[Point]) -> Level:
    """points: of one implementation at that value."""
    good = [p for p in points if p.verdict is Verdict.OK]
    tags = [p.bottleneck for p in good if p.bottleneck]
    return Level(
        value=value,
        rounds=len(good),
        goodput_rps=mean([p.goodput_rps for p in good if p.goodput_rps is not None]),
        app_cpu_us_per_request=mean(
            [p.app_cpu_us_per_request for p in good if p.app_cpu_us_per_request is not None]
        ),
        service_time_mean_ms=mean(
            [p.service_time_mean_ms for p in good if p.service_time_mean_ms is not None]
        ),
        bottleneck=statistics.mode(tags) if tags else None,
    )


def curve(implementation: str, axis: str, values: Sequence[int], points: Sequence[Point]) -> Curve:
    """points: of that implementation, all rounds."""
    levels = [level(value, [p for p in points if p.value == value]) for value in values]
    known = {lv.value: lv.goodput_rps.mean for lv in levels if lv.goodput_rps.mean is not None}
    peak_at = max(known, key=lambda value: known[value], default=None)
    peak = None if peak_at is None else known[peak_at]
    complete = len(known) == len(levels) and peak
    reached = [value for value in known if peak and known[value] >= C90 * peak]
    return Curve(
        implementation=implementation,
        levels=levels,
        peak_rps=peak,
        peak_at=peak_at,
        c90=min(reached) if complete and axis != "wait" else None,
        retrograde_loss=1 - known[max(values)] / peak if complete and peak else None,
        usl=_usl(known, points) if axis == "connections" else None,
    )


def _usl(known: dict[int, float], points: Sequence[Point]) -> Usl:
    """Few rounds do not give each mean's error well; the relative spread of all values together does."""
    rates = [[p.goodput_rps for p in points if p.value == v and p.goodput_rps is not None] for v in known]
    residuals = [np.log(np.array(own) / np.mean(own)) for own in rates]
    freedom = sum(len(own) - 1 for own in rates)
    spread = float(np.sqrt(sum((own**2).sum() for own in residuals) / freedom)) if freedom else 0.0
    errors = [spread * rate / len(own) ** 0.5 for rate, own in zip(known.values(), rates, strict=True)]
    return fit(list(known), list(known.values()), errors)


def curves(asked: Asked, points: Sequence[Point]) -> list[Curve]:
    """One for each implementation, in the order in which they were asked for."""
    return [
        curve(name, asked.axis, asked.values, [p for p in points if p.implementation == name])
        for name in asked.implementations
    ]


def reasons(points: Sequence[Point]) -> list[str]:
    """Why points do not count."""
    return [
        f"{p.implementation} at {p.value}, round {p.round}: {p.verdict}: {p.reason}"
        for p in points
        if p.verdict is not Verdict.OK
    ]
