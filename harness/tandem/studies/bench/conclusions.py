"""What a bench concludes: the figures of each variant over its fresh starts. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from pydantic import Field

from tandem.analysis.histogram import merge
from tandem.analysis.ratios import t_interval
from tandem.engine.blocks import counting
from tandem.engine.findings import warnings
from tandem.record.part import Number, Part
from tandem.record.result import Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Finding, Times, Verdict, Window
from tandem.studies.bench.host_speed import host_speed

CLOSED, OPEN = "closed", "open"
TIMES_APART = 2.0
"""From this factor between the quickest and the slowest start a pooled percentile stands for neither. Chosen."""


class ResponseTime(Part):
    p50: Number | None = None
    p90: Number | None = None
    p99: Number | None = None
    p999: Number | None = None


class Summary(Part):
    """The figures of the good trials; all null unless the verdict is ok."""

    goodput_rps: Number | None = None
    goodput_rps_interval: tuple[Number, Number] | None = None
    """95 % Student t interval of the mean over fresh starts."""
    response_time_ms: ResponseTime = ResponseTime()
    response_time_samples: int = 0
    offered_rps: Number | None = None
    """The rate at which the response time was taken."""
    app_cpu_us_per_request: Number | None = None
    app_cpu_us_per_request_interval: tuple[Number, Number] | None = None
    app_memory_peak_bytes: int | None = None
    trials_ok: int = 0


class Row(Part):
    """One variant of a bench."""

    label: str
    verdict: Verdict
    reasons: list[str]
    """Why the verdict is not ok."""
    disturbed: int = 0
    """Starts that the host disturbed, whatever else was found in them."""
    retried: int = 0
    """Starts that were made once more, its own or another's of the same block being void."""
    bottleneck: str | None
    bottleneck_evidence: list[str]
    findings: list[Finding]
    summary: Summary
    db_rtt: str | None = None
    """How far the database was away, asked and measured."""


class Benched(Conclusions):
    """A row for each variant."""

    rows: list[Row] = Field(default_factory=list)


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _windows(trials: Sequence[Trial], name: str) -> list[Window]:
    return [window for trial in trials if (window := trial.window(name)) is not None]


def good(trials: Sequence[Trial]) -> list[Trial]:
    """Those whose figures count: of a block that was made again, the last that is ok."""
    return counting(trial for trial in trials if trial.verdict is Verdict.OK)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of all together."""
    found = set(verdicts)
    return next((v for v in (Verdict.FAILED, Verdict.INVALID, Verdict.VOID) if v in found), Verdict.OK)


def pool(trials: Sequence[Trial]) -> Times:
    """The response times of the good trials' open windows together, from their histograms: to three digits."""
    return merge(
        [window.response_time_hdr for window in _windows(good(trials), OPEN) if window.response_time_hdr]
    )


def summarise(trials: Sequence[Trial], pooled: Times) -> Summary:
    """The figures of a variant. trials: all of them; only good ones count. pooled: the response times of these."""
    counted = [t for t in good(trials) if t.window(CLOSED) and t.window(OPEN)]
    closed, opened = _windows(counted, CLOSED), _windows(counted, OPEN)
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
        trials_ok=len(counted),
    )


def verdict_of(trials: Sequence[Trial], needed: int) -> tuple[Verdict, list[str]]:
    """The verdict of a variant and the reasons if it is not ok.

    ok: enough good trials and none invalid. A wrong answer in any trial makes all invalid: it says something about
    the program, not about the moment. trials: with the void ones that were made again.
    """
    reasons = [
        f"{trial.spec.key}: {finding.text}"
        for trial in trials
        for finding in trial.all_findings()
        if finding.severity != "warning"
    ]
    verdicts = Counter(trial.verdict for trial in trials)
    if verdicts[Verdict.FAILED]:
        return Verdict.FAILED, reasons
    if verdicts[Verdict.INVALID]:
        return Verdict.INVALID, reasons
    if (found := len(good(trials))) < needed:
        return Verdict.VOID, reasons or [f"only {found} of {needed} trials were made"]
    return Verdict.OK, []


def bottleneck_of(trials: Sequence[Trial]) -> tuple[str | None, list[str]]:
    """The bottleneck of most closed windows, with the evidence of the first that shows it."""
    windows = _windows(good(trials), CLOSED) or _windows(trials, CLOSED)
    if not windows:
        return None, []
    tag, _ = Counter(window.bottleneck for window in windows).most_common(1)[0]
    return tag, next(window.evidence for window in windows if window.bottleneck == tag)


def findings_of(trials: Sequence[Trial], summary: Summary, verdict: Verdict) -> list[Finding]:
    """One warning per code with the first text, and what the figures themselves call for.

    What is among the reasons of a variant that is not ok is not told again.
    """
    out = warnings(trials, graver=verdict is Verdict.OK)
    missing = [name for name in ("p50", "p90", "p99") if getattr(summary.response_time_ms, name) is None]
    if missing and summary.response_time_samples:
        text = f"{', '.join(missing)}: not published, {summary.response_time_samples} samples are too few (p99 needs 10,000)"
        out.append(Finding.of("few-samples", "warning", text))
    counted = good(trials)
    between = (host_speed(_windows(counted, CLOSED)), response_spread(_windows(counted, OPEN)))
    return [*out, *(warning for warning in between if warning)]


def response_spread(opened: Sequence[Window]) -> Finding | None:
    """Whether single starts have quite other response times; the most central percentile that shows it is told."""
    for name in ("p50", "p90", "p99"):
        values = [getattr(window.response_time_ms, name) for window in opened if window.response_time_ms]
        if len(values) > 1 and None not in values and max(values) > TIMES_APART * min(values):
            text = f"{name} of single starts is {min(values):.1f} to {max(values):.1f} ms: the pooled one stands for neither"
            return Finding.of("response-spread", "warning", text)
    return None


def round_trip(trials: Sequence[Trial]) -> str | None:
    """How far the database was away, asked and measured; None where the latency proxy was not in the path."""
    windows = [*_windows(trials, CLOSED), *_windows(trials, OPEN)]
    trips = [window.db_rtt_ms for window in windows if window.db_rtt_ms]
    if not trips:
        return None
    before, during, p90 = (
        float(np.median([getattr(trip, name) for trip in trips]))
        for name in ("before_p50", "during_p50", "during_p90")
    )
    return (
        f"round trip to the database {during:.1f} ms during the load"
        f" (p90 {p90:.1f}; {before:.1f} before it; {trips[0].setting} asked; medians of {len(trips)} windows)"
    )


def row(label: str, trials: Sequence[Trial], needed: int) -> Row:
    """What follows for one variant from its trials. needed: so many good ones."""
    verdict, reasons = verdict_of(trials, needed)
    ok = verdict is Verdict.OK
    summary = summarise(trials, pool(trials)) if ok else Summary(trials_ok=len(good(trials)))
    bottleneck, evidence = bottleneck_of(trials)
    return Row(
        label=label,
        verdict=verdict,
        reasons=reasons,
        disturbed=sum(any(f.severity == "void" for f in trial.all_findings()) for trial in trials),
        retried=sum(trial.spec.attempt > 1 for trial in trials),
        bottleneck=bottleneck,
        bottleneck_evidence=evidence,
        findings=findings_of(trials, summary, verdict),
        summary=summary,
        db_rtt=round_trip(trials),
    )
