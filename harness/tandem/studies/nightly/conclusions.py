"""What a night measured: for each series, a value per block. Pure."""

import math
import statistics
from collections.abc import Sequence

from tandem.history.night import Line, Point
from tandem.record.part import Number, Part
from tandem.record.request import Variant
from tandem.record.result import Concluded, Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Finding, Verdict
from tandem.studies.compare.conclusions import METRICS, ln_ratios, second, values

NIGHTLY_METRICS = ("duet_cpu_us_per_request", "goodput_rps")
"""Of tandem.studies.compare.conclusions.METRICS."""


class MeasuredLine(Part):
    """One series' values of a night."""

    implementation: str
    scenario: str
    metric: str
    line: Line
    by_block: dict[int, Number]
    """Block -> a logarithm; see tandem.history.night.Line."""


class NightMeasured(Conclusions):
    """All that a night measured. No rate is among it that could be published: rates of two nights are not comparable."""

    lines: list[MeasuredLine]
    missing: dict[str, str]
    """Implementation and scenario without any value -> why."""


def frozen_labels(today: str) -> tuple[str, str]:
    """The labels of the frozen image's two starts, beside today's."""
    return f"{today}~frozen", second(f"{today}~frozen")


def first_label(today: str) -> str:
    """The label of the image that was frozen first, beside today's."""
    return f"{today}~first"


def line_values(trial: Trial, today: str, metric: str) -> dict[Line, float]:
    """What one block says of each line; one that has no good window is left out."""
    first, again = frozen_labels(today)
    known = METRICS[metric]
    found: dict[Line, float] = {}
    if ln := ln_ratios([trial], today, [first, again], known):
        found["today"] = ln[0]
    if ln := ln_ratios([trial], again, [first], known):
        found["frozen"] = ln[0]
    if own := [*values(trial, first, known).values(), *values(trial, again, known).values()]:
        found["weather"] = statistics.fmean(map(math.log, own))
    if ln := ln_ratios([trial], today, [first_label(today)], known):
        found["first"] = ln[0]
    return found


def conclude(trials: Sequence[Trial], variants: Sequence[Variant], scenario: str) -> Concluded[NightMeasured]:
    """All lines. The verdict is ok if today's image of everything has a value."""
    lines: list[MeasuredLine] = []
    missing: dict[str, str] = {}
    verdict = Verdict.OK
    for variant in variants:
        own = [trial for trial in trials if variant.label in trial.spec.variants]
        found: dict[tuple[str, Line], dict[int, float]] = {}
        for trial in own:
            for metric in NIGHTLY_METRICS:
                for line, value in line_values(trial, variant.label, metric).items():
                    found.setdefault((metric, line), {})[trial.spec.block] = value
        lines += [
            MeasuredLine(
                implementation=variant.implementation,
                scenario=variant.scenario or scenario,
                metric=metric,
                line=line,
                by_block=by_block,
            )
            for (metric, line), by_block in found.items()
        ]
        if not any(line == "today" for _, line in found):
            last = own[-1] if own else None
            missing[variant.label] = why(last)
            bad = last.verdict if last is not None and last.verdict is not Verdict.OK else Verdict.VOID
            verdict = verdict if verdict is not Verdict.OK else bad
    findings = (
        [
            Finding.of(
                "void-blocks",
                "warning",
                f"{sum(t.verdict is Verdict.VOID for t in trials)} of {len(trials)} blocks are void",
            )
        ]
        if any(trial.verdict is Verdict.VOID for trial in trials)
        else []
    )
    return Concluded(
        verdict=verdict,
        reasons=[f"{label}: {reason}" for label, reason in missing.items()],
        findings=findings,
        conclusions=NightMeasured(lines=lines, missing=missing),
    )


def why(trial: Trial | None) -> str:
    """Why a block has no value."""
    if trial is None:
        return "no block was measured"
    refused = [start.refused for start in trial.starts.values() if start.refused]
    grave = [finding.text for finding in trial.all_findings() if finding.severity != "warning"]
    return next(iter([*refused, *grave]), "no window was good")


def points_of(measured: NightMeasured) -> list[Point]:
    """What the history keeps of a night: each line's mean over its blocks."""
    return [_point(line) for line in measured.lines if line.by_block]


def _point(line: MeasuredLine) -> Point:
    found = [*line.by_block.values()]
    return Point(
        implementation=line.implementation,
        scenario=line.scenario,
        metric=line.metric,
        line=line.line,
        value=statistics.fmean(found),
        blocks=len(found),
        sd=statistics.stdev(found) if len(found) > 1 else None,
    )
