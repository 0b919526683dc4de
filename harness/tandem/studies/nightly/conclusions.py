"""What a night measured: today's image of everything by its frozen one, over blocks. Pure."""

import math
import statistics
from collections.abc import Sequence

from tandem.analysis.ratios import compare
from tandem.engine.findings import why
from tandem.engine.side_by_side import second
from tandem.facts.estimate import by_start
from tandem.facts.fact import Fact
from tandem.facts.paired import Good, contrast, good_facts, ln_by_block, reading, saying
from tandem.history.night import Line, Point
from tandem.record.conclusion import Contrast
from tandem.record.request import Variant
from tandem.record.result import Concluded, Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Finding, Verdict

NIGHTLY_METRICS = {"duet_cpu_us_per_request": "CPU per request", "goodput_rps": "goodput"}
"""Metric -> what it is called."""


def beside(today: str) -> tuple[str, str, str]:
    """The labels beside that of today's image: of the frozen one, of its second start, and of the one that was frozen first, which
    takes part where it is another."""
    frozen = f"{today}~frozen"
    return frozen, second(frozen), f"{today}~first"


def ratios_of(good: Good, today: str, metric: str) -> dict[Line, tuple[str, str, list[float]]]:
    """Line -> numerator, denominator, and a logarithm for each block; one without a block is left out."""
    frozen, again, first = beside(today)
    found: dict[Line, tuple[str, str, list[float]]] = {
        "today": (today, frozen, [*ln_by_block(good, today, [frozen, again], metric).values()]),
        "frozen": (again, frozen, [*ln_by_block(good, again, [frozen], metric).values()]),
        "first": (today, first, [*ln_by_block(good, today, [first], metric).values()]),
    }
    return {line: one for line, one in found.items() if one[2]}


def conclude(trials: Sequence[Trial], variants: Sequence[Variant]) -> Concluded[Conclusions]:
    """A contrast for each line but the weather, which is an estimate. No rate is among them that could be published: rates of two
    nights are not comparable. The verdict is ok if today's image of everything has a value; the notes say why one has none."""
    good, found, missing, verdict = good_facts(trials), list[Contrast](), list[str](), Verdict.OK
    for variant in variants:
        known = [(name, ratios_of(good, variant.label, name)) for name in NIGHTLY_METRICS]
        found += [
            contrast(name, of, to, compare(logs)) for name, lines in known for of, to, logs in lines.values()
        ]
        if not any("today" in lines for _, lines in known):
            own = [trial for trial in trials if variant.label in trial.spec.variants]
            told = (why(own[-1]) or "no window was good") if own else "no block was measured"
            missing.append(f"{variant.label}: {told}")
            bad = own[-1].verdict if own and own[-1].verdict is not Verdict.OK else Verdict.VOID
            verdict = verdict if verdict is not Verdict.OK else bad
    void = sum(trial.verdict is Verdict.VOID for trial in trials)
    findings = [Finding.of("void-blocks", "warning", f"{void} of {len(trials)} blocks are void")]
    without = f", {len(missing)} without a value" if missing else ""
    return Concluded(
        verdict=verdict,
        reasons=missing,
        findings=findings if void else [],
        conclusions=Conclusions(contrasts=found, notes=missing),
        headline=f"{len(variants) - len(missing)} pairs of image and scenario, against their frozen images{without}",
    )


def points_of(trials: Sequence[Trial], variants: Sequence[Variant], scenario: str) -> list[Point]:
    """What the history keeps of a night: the mean of each line over its blocks, a logarithm."""
    good = good_facts(trials)
    return [
        Point(
            implementation=variant.implementation,
            scenario=variant.scenario or scenario,
            metric=name,
            line=line,
            value=statistics.fmean(logs),
            blocks=len(logs),
            sd=statistics.stdev(logs) if len(logs) > 1 else None,
        )
        for variant in variants
        for name in NIGHTLY_METRICS
        for line, logs in _lines(good, variant.label, name).items()
        if logs
    ]


def _lines(good: Good, today: str, metric: str) -> dict[Line, list[float]]:
    """Line -> a logarithm for each block. That of the weather is the frozen image's own figure: only the machine can move it."""
    frozen, again, _ = beside(today)
    read = reading(metric)

    def ln(one: Fact) -> float | None:
        return math.log(value) if (value := read(one.window)) else None

    weather = by_start(saying([*good.get(frozen, ()), *good.get(again, ())], metric), ln)
    ratios = {line: logs for line, (_, _, logs) in ratios_of(good, today, metric).items()}
    return {**ratios, "weather": [*weather.values()]}
