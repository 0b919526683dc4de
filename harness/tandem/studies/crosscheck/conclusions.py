"""Do two load generators say the same about one application? Pure: windows in, verdicts out."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tandem.analysis.ratios import t_interval
from tandem.record.part import Number, Part
from tandem.record.result import Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Verdict, Window

LEAST_PAIRS = 3
GENERATORS = ("oha", "vegeta")
Word = Literal["agree", "disagree", "undecided", "not compared"]


@dataclass(frozen=True)
class Pair:
    """Two windows one after the other, at the same offered rate."""

    oha: Window
    vegeta: Window

    @property
    def disturbed(self) -> bool:
        """The host kept one of them from saying anything."""
        return any(f.severity == "void" for window in (self.oha, self.vegeta) for f in window.findings)


@dataclass(frozen=True)
class Criterion:
    """What is compared. The tolerance is the larger of the two: `absolute`, or `relative` of the mean."""

    name: str
    read: Callable[[Window], float | None]
    absolute: float
    relative: float
    judged: bool = True
    """False: shown, and no reason to disagree."""

    def tolerance(self, level: float) -> float:
        return max(self.absolute, self.relative * level)


def _right(window: Window) -> float | None:
    return window.good / window.scheduled * 100 if window.scheduled else None


def _response(percentile: str) -> Callable[[Window], float | None]:
    def read(window: Window) -> float | None:
        times = window.response_time_ms
        return None if times is None else getattr(times, percentile)

    return read


FIGURES = (
    Criterion("right answers, % of the scheduled", _right, 0.5, 0.0),
    Criterion("service time p50, ms", lambda w: w.service_time_ms.p50, 0.3, 0.10),
    Criterion("service time p90, ms", lambda w: w.service_time_ms.p90, 0.6, 0.20),
    Criterion("service time p99, ms", lambda w: w.service_time_ms.p99, 2.0, 0.40),
    Criterion("response time p50, ms", _response("p50"), 0.3, 0.10, judged=False),
    Criterion("response time p90, ms", _response("p90"), 0.6, 0.20, judged=False),
    Criterion("response time p99, ms", _response("p99"), 2.0, 0.40, judged=False),
)
"""The generators differ in what a request costs them, and on a busy core that is time a request waits. Response times
are not judged: oha's pacer wakes on whole milliseconds and its figures contain that, vegeta's count from its first send."""

JUDGED = {figure.name for figure in FIGURES if figure.judged}


class Agreement(Part):
    """One figure by both generators: means over the pairs, and vegeta's minus oha's."""

    figure: str
    oha: Number | None
    vegeta: Number | None
    difference: Number | None
    interval: tuple[Number, Number] | None
    """95 % Student t interval of the difference over the pairs."""
    tolerance: Number | None
    verdict: Word


class CrossChecked(Conclusions):
    """What two generators say of one application."""

    rate_rps: int | None
    """None: it could not be derived."""
    window_s: Number
    pairs: int
    """That were compared."""
    disturbed: int
    """That were left out, because the host disturbed one side."""
    comparisons: list[Agreement]
    word: Word
    reasons: list[str]
    """What speaks for the word."""


def pairs_of(trial: Trial) -> list[Pair]:
    """The pairs of a trial, as far as both windows were made."""
    by_pair: dict[str, dict[str, Window]] = {}
    for record in trial.made:
        number, _, generator = record.spec.name.partition("-")
        if generator:
            by_pair.setdefault(number, {})[generator] = record.only
    return [Pair(**own) for own in by_pair.values() if own.keys() == {*GENERATORS}]


def compare(figure: Criterion, pairs: list[Pair]) -> Agreement:
    """agree: the interval of the difference lies within the tolerance; disagree: it lies beyond; else undecided.

    A figure that one side could not give in every pair (too few samples for a percentile) is not compared.
    """
    read = [(figure.read(pair.oha), figure.read(pair.vegeta)) for pair in pairs]
    known = [(a, b) for a, b in read if a is not None and b is not None]
    if len(known) < max(LEAST_PAIRS, len(pairs)):
        return Agreement(
            figure=figure.name,
            oha=None,
            vegeta=None,
            difference=None,
            interval=None,
            tolerance=None,
            verdict="not compared",
        )
    oha, vegeta = statistics.fmean(a for a, _ in known), statistics.fmean(b for _, b in known)
    tolerance = figure.tolerance((oha + vegeta) / 2)
    interval = t_interval([b - a for a, b in known])
    assert interval is not None
    low, high = interval
    verdict: Word = "undecided"
    if -tolerance <= low and high <= tolerance:
        verdict = "agree"
    elif low > tolerance or high < -tolerance:
        verdict = "disagree"
    return Agreement(
        figure=figure.name,
        oha=oha,
        vegeta=vegeta,
        difference=vegeta - oha,
        interval=interval,
        tolerance=tolerance,
        verdict=verdict,
    )


def compare_all(pairs: list[Pair]) -> list[Agreement]:
    return [compare(figure, pairs) for figure in FIGURES]


def conclude(pairs: list[Pair], comparisons: list[Agreement]) -> tuple[Word, list[str]]:
    """The verdict over all figures, and what speaks for it. Only pairs that were not disturbed are given.

    One figure that disagrees is a disagreement; so is a gate that makes the windows of one side alone invalid.
    They agree if the right answers and the median service time do and nothing disagrees.
    """
    reasons = [
        f"{c.figure}: oha {c.oha:.4g}, vegeta {c.vegeta:.4g}: {c.difference:+.3g} (tolerance {c.tolerance:.3g})"
        for c in comparisons
        if c.verdict == "disagree" and c.figure in JUDGED
    ]
    refused = {name: _refused([getattr(pair, name) for pair in pairs]) for name in ("oha", "vegeta")}
    for name, other in (("oha", "vegeta"), ("vegeta", "oha")):
        reasons += [
            f"only under {name}: {text}" for code, text in refused[name].items() if code not in refused[other]
        ]
    if reasons:
        return "disagree", [*reasons, *_causes(pairs)]
    found = {c.figure: c.verdict for c in comparisons if c.figure in JUDGED}
    if len(pairs) < LEAST_PAIRS:
        return "undecided", [f"only {len(pairs)} pairs were not disturbed, and {LEAST_PAIRS} are needed"]
    decided = all(found[figure.name] == "agree" for figure in FIGURES[:2])
    open_ones = [name for name, verdict in found.items() if verdict == "undecided"]
    reasons = [f"{name}: more pairs are needed" for name in open_ones]
    return ("agree" if decided else "undecided"), reasons


def disturbances(pairs: list[Pair]) -> list[str]:
    """What disturbed pairs: each kind once, with the first text."""
    found: dict[str, str] = {}
    for pair in pairs:
        for name, window in (("oha", pair.oha), ("vegeta", pair.vegeta)):
            for finding in window.findings:
                if finding.severity == "void":
                    found.setdefault(f"{name} {finding.code}", f"left out: under {name} {finding.text}")
    return list(found.values())


def _refused(windows: list[Window]) -> dict[str, str]:
    """Codes of the gates that made windows invalid, each with its first text."""
    found: dict[str, str] = {}
    for window in windows:
        for finding in window.findings:
            if window.verdict is Verdict.INVALID and finding.severity == "invalid":
                found.setdefault(finding.code, finding.text)
    return found


def _causes(pairs: list[Pair]) -> list[str]:
    """How busy each generator and its CPUs were: what usually explains a difference."""
    out = []
    for name in ("oha", "vegeta"):
        windows: list[Window] = [getattr(pair, name) for pair in pairs]
        own = statistics.fmean(w.roles["loadgen"].cpu_cores for w in windows)
        cpuset = windows[0].roles["loadgen"].cpuset
        whole = statistics.fmean(
            sum(role.cpu_cores for role in w.roles.values() if role.cpuset == cpuset) for w in windows
        )
        cores = windows[0].roles["loadgen"].cores_available
        out.append(f"{name} used {own:.2f} of its {cores} cores, all roles on them together {whole:.2f}")
    return out
