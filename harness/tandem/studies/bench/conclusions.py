"""What a bench concludes: the figures of each variant over its fresh starts. Pure."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, Literal

import numpy as np
from pydantic import Field

from tandem.analysis.ceilings import Made, in_same_blocks, nearness
from tandem.analysis.cost import ROLES, cpu_us_per_request_by_role, total_cpu_us_per_request
from tandem.analysis.histogram import over_starts
from tandem.analysis.ratios import ALPHA, Ratio, compare, t_interval, verdicts
from tandem.engine.blocks import counting
from tandem.engine.findings import warnings
from tandem.judge.bottleneck import is_own, nearest, working
from tandem.record.conclusion import Contrast
from tandem.record.part import Number, Part
from tandem.record.request import Variant
from tandem.record.result import Baselines, Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Finding, Resource, Verdict, Window
from tandem.studies.bench.host_speed import host_speed
from tandem.wording import limited_by, with_parts

CLOSED, OPEN = "closed", "open"
TOTAL, CPU, GOODPUT = "total_cpu_us_per_request", "app_cpu_us_per_request", "goodput_rps"
METRICS: dict[str, Literal["higher", "lower"]] = {TOTAL: "lower", CPU: "lower", GOODPUT: "higher"}
"""What is compared, and which way is better. The first one is the primary metric: a stack cannot make it smaller by leaving its
work to the database."""
FIGURES: dict[str, Callable[[Window], float | None]] = {
    TOTAL: total_cpu_us_per_request,
    CPU: lambda window: window.app_cpu_us_per_request,
    GOODPUT: lambda window: window.goodput_rps,
}
"""Metric -> what a window tells of it."""
BLOCKS_LEAST = next(n for n in count(2) if 2 / 2**n <= ALPHA)
"""With fewer blocks no difference can be found: the smallest p of the sign-flip test is 2 / 2^n."""


class ResponseTime(Part):
    """Median over the starts of each start's own percentile."""

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
    response_time_range_ms: dict[str, tuple[Number, Number]] = Field(default_factory=dict)
    """Percentile -> that of the quickest and of the slowest start."""
    response_time_samples: int = 0
    offered_rps: Number | None = None
    """The rate at which the response time was taken."""
    total_cpu_us_per_request: Number | None = None
    """Of application, PgBouncer, database and HAProxy together. As many core-seconds per million requests."""
    total_cpu_us_per_request_interval: tuple[Number, Number] | None = None
    cpu_us_per_request_by_role: dict[str, Number] = Field(default_factory=dict)
    """Each role's part of it. Empty where it is null."""
    app_cpu_us_per_request: Number | None = None
    """The application's own part."""
    app_cpu_us_per_request_interval: tuple[Number, Number] | None = None
    behind_cpu_us_per_request: Number | None = None
    """Of database, PgBouncer and HAProxy together."""
    requests_per_core_s: Number | None = None
    """Of the application's CPU time."""
    app_memory_peak_bytes: int | None = None
    app_memory_rest_bytes: int | None = None
    """After the first answer, before any load: mean of the starts."""
    app_memory_per_connection_bytes: Number | None = None
    """What the closed load's peak is above that, by its connections."""
    trials_ok: int = 0


class Against(Part):
    """A variant by the first one, within blocks."""

    ratio: Ratio
    word: str
    """Of tandem.analysis.ratios, or `not ranked`."""


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
    resources: list[Resource] = Field(default_factory=list)
    """CPU sets and threads in the closed windows, in the mean, the most used first."""
    findings: list[Finding]
    summary: Summary
    against_first: dict[str, Against] = Field(default_factory=dict)
    """Metric -> the variant by the first one. Empty for the first, and for who is not ok."""
    unranked: str | None = None
    """Why its goodput is no property of the implementation."""
    ceiling_shares: dict[str, Number] = Field(default_factory=dict)
    """Stand-in -> goodput by that of the stand-in in the same block, mean over the blocks."""
    db_rtt: str | None = None
    """How far the database was away, asked and measured."""


class Benched(Conclusions):
    """A row for each variant."""

    rows: list[Row] = Field(default_factory=list)
    blocks: int = 0
    """How many were made."""


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


def summarise(trials: Sequence[Trial]) -> Summary:
    """The figures of a variant. trials: all of them; only good ones count."""
    counted = [t for t in good(trials) if t.window(CLOSED)]
    closed, opened = _windows(counted, CLOSED), _windows(counted, OPEN)
    goodputs = [window.goodput_rps for window in closed]
    costs = [w.app_cpu_us_per_request for w in closed if w.app_cpu_us_per_request is not None]
    peaks = [w.app_memory_peak_bytes for w in (*closed, *opened) if w.app_memory_peak_bytes is not None]
    times = over_starts([window.response_time_hdr for window in opened if window.response_time_hdr])
    rest, each = _at_rest(counted)
    cost, whole = _mean(costs), _whole(closed)
    behind = [us for role, us in whole["cpu_us_per_request_by_role"].items() if role != "app"]
    return Summary(
        goodput_rps=_mean(goodputs),
        goodput_rps_interval=t_interval(goodputs),
        response_time_ms=ResponseTime(**{name: median for name, (median, _, _) in times.items()}),
        response_time_range_ms={name: (low, high) for name, (_, low, high) in times.items()},
        response_time_samples=sum(w.response_time_ms.samples for w in opened if w.response_time_ms),
        offered_rps=_mean([w.offered_rps for w in opened if w.offered_rps is not None]),
        **whole,
        app_cpu_us_per_request=cost,
        app_cpu_us_per_request_interval=t_interval(costs),
        behind_cpu_us_per_request=sum(behind) if behind else None,
        requests_per_core_s=1e6 / cost if cost else None,
        app_memory_peak_bytes=max(peaks, default=None),
        app_memory_rest_bytes=rest,
        app_memory_per_connection_bytes=each,
        trials_ok=len(counted),
    )


def _whole(closed: Sequence[Window]) -> dict[str, Any]:
    """What a request costs over all roles: the fields of a Summary."""
    parts = [found for window in closed if (found := cpu_us_per_request_by_role(window))]
    by_role = {
        role: float(np.mean([own.get(role, 0.0) for own in parts]))
        for role in ROLES
        if any(role in own for own in parts)
    }
    totals = [sum(own.values()) for own in parts]
    return {
        TOTAL: _mean(totals),
        f"{TOTAL}_interval": t_interval(totals),
        "cpu_us_per_request_by_role": by_role,
    }


def _at_rest(trials: Sequence[Trial]) -> tuple[int | None, float | None]:
    """Memory before any load, and by how much it grows for each connection of the closed one."""
    rests, grown = [], []
    for trial in trials:
        [start] = trial.starts.values() or [None]
        window = trial.window(CLOSED)
        if start is None or start.memory_rest_bytes is None:
            continue
        rests.append(start.memory_rest_bytes)
        if window is not None and window.app_memory_peak_bytes is not None:
            grown.append((window.app_memory_peak_bytes - start.memory_rest_bytes) / window.connections)
    return (round(float(np.mean(rests))) if rests else None), _mean(grown)


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
    changed = host_speed(_windows(good(trials), CLOSED))
    return [*out, changed] if changed else out


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
        f" (p90 {p90:.1f}; {before:.1f} before it; {trips[0].setting} requested; medians of {len(trips)} windows)"
    )


def row(label: str, trials: Sequence[Trial], needed: int) -> Row:
    """What follows for one variant from its trials. needed: so many good ones."""
    verdict, reasons = verdict_of(trials, needed)
    ok = verdict is Verdict.OK
    summary = summarise(trials) if ok else Summary(trials_ok=len(good(trials)))
    bottleneck, evidence = bottleneck_of(trials)
    return Row(
        label=label,
        verdict=verdict,
        reasons=reasons,
        disturbed=sum(any(f.severity == "void" for f in trial.all_findings()) for trial in trials),
        retried=sum(trial.spec.attempt > 1 for trial in trials),
        bottleneck=bottleneck,
        bottleneck_evidence=evidence,
        resources=resources_of(_windows(good(trials), CLOSED)),
        findings=findings_of(trials, summary, verdict),
        summary=summary,
        db_rtt=round_trip(trials),
    )


def resources_of(closed: Sequence[Window]) -> list[Resource]:
    """CPU sets and threads in the mean over windows."""
    seen: dict[str, list[Resource]] = {}
    for window in closed:
        for one in working(window):
            seen.setdefault(one.name, []).append(one)
    found = []
    for several in seen.values():
        parts = {
            role: float(np.mean([one.parts.get(role, 0.0) for one in several])) for role in several[0].parts
        }
        ordered = dict(sorted(parts.items(), key=lambda part: -part[1]))
        used = float(np.mean([one.utilisation for one in several]))
        found.append(several[0].model_copy(update={"utilisation": used, "parts": ordered}))
    return sorted(found, key=lambda one: -one.utilisation)


# ---- within blocks ----


def by_block(trials: Sequence[Trial], metric: str) -> dict[Made, float]:
    """The closed window's figure of each good trial that has it."""
    out = {}
    for trial in trials:
        window = trial.window(CLOSED)
        if window is not None and trial.verdict is Verdict.OK and (value := FIGURES[metric](window)):
            out[trial.spec.block, trial.spec.attempt] = value
    return out


def compare_rows(rows: Sequence[Row], trials_of: Mapping[str, Sequence[Trial]], baselines: Baselines) -> None:
    """Notes in each row how it compares with the first one and with the ceilings, within blocks. trials_of: by label."""
    rates = {row.label: by_block(trials_of[row.label], GOODPUT) for row in rows}
    to_ceilings = nearness(rates, baselines)
    for row in rows:
        row.ceiling_shares = to_ceilings[row.label].shares
        row.unranked = unranked(row, to_ceilings[row.label].near)
    for metric in METRICS:
        for label, found in _against(rows, trials_of, metric).items():
            next(row for row in rows if row.label == label).against_first[metric] = found


def _against(
    rows: Sequence[Row], trials_of: Mapping[str, Sequence[Trial]], metric: str
) -> dict[str, Against]:
    """Each good row but the first by the first one, by label; empty where the first is not good."""
    first, good_rows = rows[0], [row for row in rows if row.verdict is Verdict.OK]
    if not good_rows or good_rows[0] is not first:
        return {}
    reference = by_block(trials_of[first.label], metric)
    found = {
        row.label: compare(
            [math.log(one) for one in in_same_blocks(by_block(trials_of[row.label], metric), reference)]
        )
        for row in good_rows[1:]
    }
    cut = {row.label for row in rows if metric == GOODPUT and (row.unranked or first.unranked)}
    told = [label for label in found if label not in cut]
    words = dict(zip(told, verdicts([found[label] for label in told], METRICS[metric]), strict=True))
    return {
        label: Against(ratio=ratio, word=words.get(label, "not ranked")) for label, ratio in found.items()
    }


def contrasts(rows: Sequence[Row], variants: Mapping[str, Variant]) -> list[Contrast]:
    """Each row by the first one. variants: what their labels stand for."""
    first = rows[0].label if rows else ""
    return [
        Contrast(
            metric=metric,
            of=variants[row.label].asked,
            to=variants[first].asked,
            coordinates=variants[row.label].coordinates,
            ratio=own.ratio.ratio,
            interval=own.ratio.interval,
            n=own.ratio.n,
            sd_ln=own.ratio.sd_ln,
            word=own.word,
            not_ranked=(row.unranked or rows[0].unranked) if own.word == "not ranked" else None,
        )
        for metric in METRICS
        for row in rows
        if (own := row.against_first.get(metric)) is not None
    ]


def limit_of(row: Row) -> str:
    """What limited its closed windows: the exhausted resources with their parts, or else the bottleneck's name."""
    busy = nearest(row.resources)
    return "; ".join(with_parts(one.name, one.utilisation, one.parts) for one in busy) or limited_by(
        row.bottleneck
    )


def unranked(row: Row, near: str | None = None) -> str | None:
    """Why a goodput is not the implementation's: a resource that it shares, or the ceiling that it comes near to."""
    busy = nearest(row.resources)
    tag = "+".join(one.tag for one in busy) or row.bottleneck
    if tag is not None and not is_own(tag):
        return limit_of(row)
    return near
