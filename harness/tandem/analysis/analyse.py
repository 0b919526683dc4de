"""Sums the trials of a run up. Pure."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy import stats

from tandem.analysis.histogram import merge
from tandem.analysis.host_speed import host_speed
from tandem.record.run import Finding, ResponseTime, Summary, Times, Trial, Verdict, Warning, Window

CONFIDENCE = 0.95
TIMES_APART = 2.0
"""From this factor between the quickest and the slowest start a pooled percentile stands for neither. Chosen."""


def t_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % Student t interval of the mean; None below two values. Trials are the unit of replication."""
    if len(values) < 2:
        return None
    sem = stats.sem(values)
    if sem == 0 or math.isnan(sem):
        return (float(values[0]), float(values[0]))
    low, high = stats.t.interval(CONFIDENCE, len(values) - 1, loc=np.mean(values), scale=sem)
    return float(low), float(high)


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def pool(trials: list[Trial]) -> Times:
    """The response times of the good trials' open windows together, from their histograms: to three digits."""
    windows = [trial.open for trial in trials if trial.verdict is Verdict.OK]
    return merge([window.response_time_hdr for window in windows if window and window.response_time_hdr])


def summarise(trials: list[Trial], pooled: Times) -> Summary:
    """The figures of a run.

    trials: all of them; only those with verdict ok count. pooled: the response times of these.
    """
    good = [trial for trial in trials if trial.verdict is Verdict.OK and trial.closed and trial.open]
    closed = [trial.closed for trial in good if trial.closed]
    opened = [trial.open for trial in good if trial.open]
    goodputs = [window.goodput_rps for window in closed]
    costs = [w.app_cpu_us_per_request for w in closed if w.app_cpu_us_per_request is not None]
    peaks = [w.app_memory_peak_bytes for w in (*closed, *opened) if w.app_memory_peak_bytes is not None]
    return Summary(
        goodput_rps=_mean(goodputs),
        goodput_rps_interval=t_interval(goodputs),
        response_time_ms=ResponseTime(p50=pooled.p50, p90=pooled.p90, p99=pooled.p99, p999=pooled.p999),
        response_time_samples=pooled.samples,
        offered_rps=_mean([w.offered_rps for w in opened if w.offered_rps is not None]),
        app_cpu_us_per_request=_mean(costs),
        app_cpu_us_per_request_interval=t_interval(costs),
        app_memory_peak_bytes=max(peaks, default=None),
        trials_ok=len(good),
    )


def nothing(trials: list[Trial]) -> Summary:
    """The summary of a run that is not ok: no figure of it is published."""
    return Summary(trials_ok=sum(trial.verdict is Verdict.OK for trial in trials))


def run_verdict(trials: list[Trial], needed: int) -> tuple[Verdict, list[str]]:
    """The verdict of a run and the reasons if it is not ok.

    ok: enough good trials and none invalid. A wrong answer in any trial makes the run invalid: it says
    something about the program, not about the moment.
    """
    reasons = [
        f"trial {trial.index}: {finding.text}"
        for trial in trials
        for finding in _findings(trial)
        if finding.severity != "warning"
    ]
    verdicts = Counter(trial.verdict for trial in trials)
    if verdicts[Verdict.FAILED]:
        return Verdict.FAILED, reasons
    if verdicts[Verdict.INVALID]:
        return Verdict.INVALID, reasons
    if verdicts[Verdict.OK] < needed:
        return Verdict.VOID, reasons or [f"only {verdicts[Verdict.OK]} of {needed} trials were made"]
    return Verdict.OK, []


def _findings(trial: Trial) -> list[Finding]:
    windows = [window for window in (trial.closed, trial.open) if window]
    return [*trial.findings, *(finding for window in windows for finding in window.findings)]


def run_bottleneck(trials: list[Trial]) -> tuple[str | None, list[str]]:
    """The bottleneck of most closed windows, with the evidence of the first that shows it."""
    windows: list[Window] = [t.closed for t in trials if t.closed and t.verdict is Verdict.OK]
    windows = windows or [t.closed for t in trials if t.closed]
    if not windows:
        return None, []
    tag, _ = Counter(window.bottleneck for window in windows).most_common(1)[0]
    return tag, next(window.evidence for window in windows if window.bottleneck == tag)


def run_warnings(trials: list[Trial], summary: Summary, verdict: Verdict) -> list[Warning]:
    """One warning per code with the first text, and what the figures themselves call for.

    What is among the reasons of a run that is not ok is not told again.
    """
    warnings: dict[str, Warning] = {}
    counts: Counter[str] = Counter()
    for trial in trials:
        for finding in _findings(trial):
            if finding.severity != "warning" and verdict is not Verdict.OK:
                continue
            counts[finding.code] += 1
            warnings.setdefault(
                finding.code, Warning(code=finding.code, text=f"trial {trial.index}: {finding.text}")
            )
    for code, warning in warnings.items():
        if counts[code] > 1:
            warning.text += f" (and {counts[code] - 1} more like it)"
    missing = [name for name in ("p50", "p90", "p99") if getattr(summary.response_time_ms, name) is None]
    if missing and summary.response_time_samples:
        text = f"{', '.join(missing)}: not published, {summary.response_time_samples} samples are too few (p99 needs 10,000)"
        warnings["few-samples"] = Warning(code="few-samples", text=text)
    good = [trial for trial in trials if trial.verdict is Verdict.OK]
    between = (
        host_speed([trial.closed for trial in good if trial.closed]),
        response_spread([trial.open for trial in good if trial.open]),
    )
    return [*warnings.values(), *(warning for warning in between if warning)]


def response_spread(opened: Sequence[Window]) -> Warning | None:
    """Whether single starts have quite other response times; the most central percentile that shows it is told."""
    for name in ("p50", "p90", "p99"):
        values = [getattr(window.response_time_ms, name) for window in opened if window.response_time_ms]
        if len(values) > 1 and None not in values and max(values) > TIMES_APART * min(values):
            text = f"{name} of single starts is {min(values):.1f} to {max(values):.1f} ms: the pooled one stands for neither"
            return Warning(code="response-spread", text=text)
    return None
