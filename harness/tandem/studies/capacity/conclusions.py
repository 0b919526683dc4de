"""What a capacity search concludes. Pure."""

from collections.abc import Sequence

from pydantic import Field

from tandem.analysis.ceilings import Made, Rates, nearness
from tandem.analysis.threshold import Threshold
from tandem.judge.judge import refused_share
from tandem.record.conclusion import Estimate
from tandem.record.part import Number, Part
from tandem.record.result import Baselines, Conclusions
from tandem.record.trial import Trial, WindowRecord
from tandem.record.window import Times, Verdict, Window
from tandem.studies.capacity import judged
from tandem.studies.capacity.judged import Judged, State
from tandem.studies.capacity.search import Slo

CAPACITY = "capacity_rps"
RECOVERED_SECONDS = 3
"""Seconds in a row within the objective that are a recovery; one may be luck."""


class Recovery(Part):
    """What came right after an overload: half the capacity."""

    gap_s: Number
    """Time from the end of the overload's schedule to the first request of what came after."""
    per_second_ms: list[Number | None]
    """The objective's percentile of each second's requests."""
    recovery_s: Number | None
    """Time from the end of the overload's schedule to the first of three seconds in a row within the objective, at the
    most: the gap counts in full. Null: not within the window."""


class Behaviour(Part):
    """One load, as a share of the capacity."""

    share: Number
    offered_rps: int
    seconds: int
    goodput_rps: Number
    response_time_ms: Times | None
    failed_share: Number
    refused_share: Number = 0
    """Share of all requests that the application refused with 503; they are among those that failed."""
    retried_share: Number | None = None
    """Requests that were sent again, by those of the schedule; null where clients do not try again."""
    unsent_share: Number
    memory_bytes: Number | None = None
    """The application's peak memory."""
    bottleneck: str
    verdict: Verdict
    """Void where the host disturbed it; what an overload does to its own window is the measurement."""
    recovery: Recovery | None = None
    near_ceiling: str | None = None
    """The ceiling that cuts the goodput off, in words."""


class FrozenDatabase(Part):
    """Half the capacity, while the database stood still for a moment."""

    frozen_s: Number
    offered_rps: int
    scheduled: int
    good: int
    slowest_ms: Number | None
    """The slowest right answer."""
    recovery_s: Number | None
    """Time from the thawing to the first of three seconds in a row within the objective. Null: not within the window."""
    thawed_s: Number = 0
    """Time from the beginning of the window to the thawing of the database."""
    per_second_ms: list[Number | None] = Field(default_factory=list)
    """The objective's percentile of each second's requests, from the beginning of the window on."""
    verdict: Verdict
    """Verdict of the window: void where the host disturbed it."""


class CapacityFound(Conclusions):
    """How a capacity was found. The first estimate is the capacity itself, with its objective as a coordinate; those behind it
    are what each load around it showed."""

    slo: Slo
    closed_goodput_rps: Number | None
    """Goodput of a short closed window: the search begins at a share of it. Null: there was none."""
    search: list[Judged]
    decided: bool
    """Is the bracket narrow, with at least two probes that agree at both edges?"""
    bracket_rps: tuple[int | None, int | None]
    """Lower and upper edge of the search's own bracket; null: there is no such edge."""
    confirmations: list[Judged]
    """Probes of the further fresh starts, four each."""
    fresh_starts: int
    """Number of further fresh starts that were wanted."""
    fit: Threshold | None = None
    """Threshold over all starts. Null: there is none, as where the host disturbed the search."""
    behaviour: list[Behaviour] = Field(default_factory=list)
    """Behaviour under each load around the capacity, in the order of its share."""
    frozen: FrozenDatabase | None = None
    ceiling_shares: dict[str, Number] = Field(default_factory=dict)
    """Stand-in -> the highest goodput of each start by that of the stand-in in the same block, mean over the blocks."""
    near_ceiling: str | None = None
    """The ceiling that the capacity comes near to, in words."""

    @property
    def capacity(self) -> Estimate:
        return self.estimates[0]

    @property
    def capacity_rps(self) -> int | None:
        return None if self.capacity.mean is None else round(self.capacity.mean)


def estimates_of(found: CapacityFound, variant: str, verdict: Verdict, further: int) -> list[Estimate]:
    """The capacity, then what each load around it showed. further: fresh starts after the search that count."""
    capacity_rps = None if found.fit is None else max(1, round(found.fit.rate_rps))
    out = [
        Estimate(
            metric=CAPACITY,
            variant=variant,
            coordinates={f"response_time_{found.slo.percentile}_ms": found.slo.limit_ms},
            mean=capacity_rps,
            interval=found.fit.interval_rps if found.fit else None,
            n=further,
            limit=limited_by([*found.search, *found.confirmations], capacity_rps),
            verdict=verdict,
        )
    ]
    for load in found.behaviour:
        percentiles = {name: getattr(load.response_time_ms, name, None) for name in ("p50", "p99")}
        times = {f"response_time_{name}_ms": value for name, value in percentiles.items()}
        out += [
            Estimate(
                metric=metric,
                variant=variant,
                coordinates={"offered_rps": load.offered_rps},
                mean=value,
                n=1,
                limit=load.bottleneck,
                verdict=load.verdict,
            )
            for metric, value in {"goodput_rps": load.goodput_rps, **times}.items()
            if value is not None
        ]
    return out


def limited_by(probes: Sequence[Judged], capacity_rps: int | None) -> str | None:
    """What was exhausted at the lowest refused rate above the capacity."""
    refused = [p for p in probes if p.state is State.FAILED and p.rate_rps > (capacity_rps or 0)]
    if not refused:
        return None
    lowest = min(refused, key=lambda probe: probe.rate_rps)
    return "generator" if lowest.stalled else lowest.bottleneck


def behaviour(record: WindowRecord, share: float) -> Behaviour:
    """What one load showed. Raises Ended for wrong answers."""
    window = record.only
    judged.refuse_wrong(window)
    assert window.scheduled is not None
    return Behaviour(
        share=share,
        offered_rps=next(iter(record.spec.rates_rps.values())),
        seconds=record.spec.seconds,
        goodput_rps=window.goodput_rps,
        response_time_ms=window.response_time_ms,
        failed_share=judged.failed_share(window),
        refused_share=refused_share(window),
        retried_share=None if window.retried is None else window.retried / window.scheduled,
        unsent_share=(window.unsent or 0) / window.scheduled,
        memory_bytes=window.app_memory_peak_bytes,
        bottleneck=window.bottleneck,
        verdict=Verdict.VOID if judged.voids(window) else Verdict.OK,
    )


def mark_ceilings(found: CapacityFound, trials: Sequence[Trial], baselines: Baselines) -> None:
    """Notes how near the capacity and the goodputs around it come to the ceilings of the same blocks."""
    highest: dict[Made, float] = {}
    for trial in trials:
        every = (window for record in trial.windows for window in record.windows.values())
        rates = [window.goodput_rps for window in every if window.verdict is not Verdict.VOID]
        highest[trial.spec.block, trial.spec.attempt] = max(rates, default=0.0)
    rates_of: dict[str, Rates] = {"highest": highest}
    if found.capacity_rps is not None:
        rates_of["capacity"] = dict.fromkeys(highest, float(found.capacity_rps))
    rates_of |= {f"{load.share}": dict.fromkeys(highest, load.goodput_rps) for load in found.behaviour}
    to_ceilings = nearness(rates_of, baselines)
    found.ceiling_shares = to_ceilings["highest"].shares
    found.near_ceiling = to_ceilings["capacity"].near if "capacity" in to_ceilings else None
    for load in found.behaviour:
        load.near_ceiling = to_ceilings[f"{load.share}"].near


def recovery(overload: WindowRecord, after: WindowRecord, slo: Slo) -> Recovery:
    """What the window right after an overload shows."""
    (began_s,) = overload.began_s.values()
    gap_s = max(0.0, next(iter(after.began_s.values())) - (began_s + overload.spec.seconds))
    values = _percentile_by_second(after.only, slo)
    at = recovered_at(values, slo.limit_ms)
    return Recovery(gap_s=gap_s, per_second_ms=values, recovery_s=None if at is None else gap_s + at)


def frozen(record: WindowRecord, slo: Slo) -> FrozenDatabase:
    """What a window showed during which the database stood still. Raises Ended for wrong answers."""
    window = record.only
    judged.refuse_wrong(window)
    from_s, to_s = record.frozen_s
    (began_s,) = record.began_s.values()
    assert window.scheduled is not None
    assert window.offered_rps is not None
    thawed_s = to_s - began_s
    values = _percentile_by_second(window, slo)
    at = recovered_at(values[int(thawed_s) :], slo.limit_ms)
    return FrozenDatabase(
        frozen_s=to_s - from_s,
        offered_rps=round(window.offered_rps),
        scheduled=window.scheduled,
        good=window.good,
        slowest_ms=window.answer_ms_max,
        recovery_s=None if at is None else max(0.0, int(thawed_s) + at - thawed_s),
        thawed_s=thawed_s,
        per_second_ms=values,
        verdict=Verdict.VOID if judged.voids(window) else Verdict.OK,
    )


def _percentile_by_second(window: Window, slo: Slo) -> list[float | None]:
    values: list[float | None] = getattr(window.responses_per_second, f"{slo.percentile}_ms", [])
    return values


def recovered_at(values_ms: list[float | None], limit_ms: float) -> int | None:
    """The first second of three in a row that are all within the limit; None if there are none.

    values_ms: one per second; a second without answers is not within it.
    """
    good = [value is not None and value <= limit_ms for value in values_ms]
    starts = range(len(good) - RECOVERED_SECONDS + 1)
    return next((at for at in starts if all(good[at : at + RECOVERED_SECONDS])), None)
