"""Estimates and ratios over the table of facts: means over fresh starts, ratios within blocks. Pure."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean

from tandem.analysis.ceilings import Made
from tandem.analysis.cost import APP, ROLES, TOTAL, at, cpu_us_per_request_by_role, total_cpu_us_per_request
from tandem.analysis.histogram import over_starts
from tandem.analysis.looks import PlannedLook
from tandem.analysis.ratios import ONE_LOOK, Ratio, compare, t_interval
from tandem.facts.fact import Fact, at_full_load, by_label, counting, facts
from tandem.facts.metric import GOODPUT
from tandem.record.conclusion import Estimate
from tandem.record.request import Variant
from tandem.record.trial import Trial
from tandem.record.window import Finding, Verdict, Window

type Read = Callable[[Window], float | None]


def _of_role(role: str) -> Read:
    return lambda window: cpu_us_per_request_by_role(window).get(role)


AT_FULL_LOAD: dict[str, Read] = {
    GOODPUT: lambda window: window.goodput_rps,
    TOTAL: total_cpu_us_per_request,
    **{f"{role}_cpu_us_per_request": _of_role(role) for role in ROLES if role != "app"},
    APP: lambda window: window.app_cpu_us_per_request or None,
    "service_time_mean_ms": lambda window: window.service_time_ms.mean,
}
"""Metric -> what a window of full load says of it."""
AT_EQUAL_RATE: dict[str, Read] = {
    TOTAL: total_cpu_us_per_request,
    APP: lambda window: window.app_cpu_us_per_request or None,
    "response_time_p99_ms": lambda window: window.response_time_ms.p99 if window.response_time_ms else None,
}
TOGETHER = {"duet": "duet_cpu_us_per_request", "saturated": "saturated_cpu_us_per_request"}
"""Role -> the metric of windows in which all were loaded at once: whom the other roles worked for is not known."""


def by_block(found: Iterable[Fact], read: Read) -> dict[Made, float]:
    """Block and attempt -> the mean of its facts' values; one without any is left out."""
    out: dict[Made, list[float]] = {}
    for one in found:
        if (value := read(one.window)) is not None:
            out.setdefault(one.made, []).append(value)
    return {made: fmean(values) for made, values in out.items()}


def ratio(of: Iterable[Fact], to: Iterable[Fact], read: Read, look: PlannedLook = ONE_LOOK) -> Ratio:
    """of / to, of each block the last attempt in which both are good: a ratio lives within a block that was made once. of, to:
    good facts of all attempts."""
    own, other = by_block(of, read), by_block(to, read)
    both = {made[0]: made for made in sorted(own.keys() & other.keys()) if own[made] > 0 < other[made]}
    return compare([math.log(own[made] / other[made]) for made in both.values()], look)


def limit_of(found: Iterable[Fact]) -> str | None:
    """The bottleneck of most windows."""
    tags = Counter(one.window.bottleneck for one in found)
    return tags.most_common(1)[0][0] if tags else None


def verdict_of(trials: Sequence[Trial], label: str, good: bool) -> tuple[Verdict, list[str]]:
    """The verdict of a variant, and the reasons where it is not ok. A wrong answer in any trial makes all invalid: it says
    something about the program and not about the moment. good: whether it has a figure."""
    found, reasons = Counter[Verdict](), list[str]()
    for trial in trials:
        if label not in trial.spec.variants:
            continue
        alone = len(trial.spec.variants) == 1
        windows = [record.windows[label].verdict for record in trial.windows if label in record.windows]
        found.update([trial.verdict] if alone else windows)
        own = trial.all_findings() if alone else _own_findings(trial, label)
        reasons += [f"{trial.spec.key}: {one.text}" for one in own if one.severity != "warning"]
        start = trial.starts.get(label)
        if start is not None and start.refused:
            found[Verdict.FAILED] += 1
            reasons.append(f"{trial.spec.key}: {start.refused}")
    worst = next((v for v in (Verdict.FAILED, Verdict.INVALID) if found[v]), None)
    if worst is None and good:
        return Verdict.OK, []
    return worst or Verdict.VOID, reasons or ["no start is good"]


def _own_findings(trial: Trial, label: str) -> Iterator[Finding]:
    if label in trial.starts:
        yield from trial.starts[label].findings
    for record in trial.windows:
        if label in record.windows:
            yield from record.windows[label].findings


def estimates(trials: Sequence[Trial], variants: Sequence[Variant]) -> list[Estimate]:
    """What all trials say of each variant, in one form for every study: figures of full load, of each equal rate, of windows in
    which all were loaded at once, and of open windows. A variant that is not ok has one estimate, without a mean, that says why."""
    every = by_label(facts(trials, variants))
    return [one for variant in variants for one in _of_variant(variant, every.get(variant.label, []), trials)]


def _of_variant(variant: Variant, own: Sequence[Fact], trials: Sequence[Trial]) -> Iterator[Estimate]:
    good = counting(own)
    full = at_full_load(good)
    limit = limit_of(full or [one for one in good if one.role == "open"])
    verdict, reasons = verdict_of(trials, variant.label, bool(good))

    def told(metric: str, mean: float | None, interval: tuple[float, float] | None, n: int) -> Estimate:
        return Estimate(
            metric=metric,
            variant=variant.asked,
            coordinates=variant.coordinates,
            mean=mean,
            interval=interval,
            n=n,
            limit=limit,
            verdict=verdict,
            reasons=reasons,
        )

    if verdict is not Verdict.OK:
        yield told(GOODPUT, None, None, len({one.made for one in good}))
        return
    for metric, found, read in _sources(full, good):
        if values := list(by_block(found, read).values()):
            yield told(metric, fmean(values), t_interval(values), len(values))
    opened = [one for one in good if one.role == "open" and one.window.response_time_hdr]
    medians = over_starts([one.window.response_time_hdr for one in opened if one.window.response_time_hdr])
    for name, (median, _, _) in medians.items():
        yield told(f"response_time_{name}_ms", median, None, len(opened))
    alone = [one for one in good if one.alone]
    peaks = [
        one.window.app_memory_peak_bytes for one in alone if one.window.app_memory_peak_bytes is not None
    ]
    if peaks:
        yield told("anonymous_memory_mib", max(peaks) / 2**20, None, len({one.made for one in alone}))


def _sources(full: Sequence[Fact], good: Sequence[Fact]) -> Iterator[tuple[str, Sequence[Fact], Read]]:
    """Metric, the facts that say it, and how."""
    for metric, read in AT_FULL_LOAD.items():
        yield metric, full, read
    for share in sorted({one.share for one in good if one.share is not None}):
        equal = [one for one in good if one.role == "equal" and one.share == share]
        for metric, read in AT_EQUAL_RATE.items():
            yield at(metric, share), equal, read
    for role, metric in TOGETHER.items():
        yield metric, [one for one in good if one.role == role], AT_FULL_LOAD[APP]
