"""What a long run came to: a row for each of its minutes, and how its memory grew. Pure."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any, Literal

import scipy
from pydantic import Field

from tandem.analysis.ratios import CONFIDENCE, t_interval
from tandem.facts.metric import GOODPUT, MEMORY_REST
from tandem.record.conclusion import Estimate
from tandem.record.part import Number, Part
from tandem.record.result import Conclusions
from tandem.record.trial import Trial, WindowRecord
from tandem.record.window import Verdict

LEAST = 5
"""Fewest points of a slope: with fewer no interval at 95 % leaves anything out."""
type Trend = Literal["grows", "does not grow", "not decided"]


class Slope(Part):
    """Growth of one quantity by another, which may have outliers: the median of the slopes between all pairs, by Theil (1950) and
    Sen (1968)."""

    slope: Number
    interval: tuple[Number, Number]
    """95 %, by Sen's method, which takes the points as independent of one another."""

    def word(self, least: float) -> Trend:
        """The trend by the interval of the slope. least: a slope below this does not matter."""
        low, high = self.interval
        return "grows" if low >= least else "does not grow" if high < least else "not decided"


def slope(at: Sequence[float], values: Sequence[float]) -> Slope | None:
    """The slope of the values; None below LEAST points."""
    if len(at) < LEAST:
        return None
    found = scipy.stats.theilslopes(values, at, CONFIDENCE)
    return Slope(slope=float(found.slope), interval=(float(found.low_slope), float(found.high_slope)))


MINUTE = "minute"
"""Beginning of the names of the windows that a long run is made of."""
BURST, AFTER = "burst", "after"
GROWTH, AT_BURST, AFTER_BURST = "memory_growth_mib_per_minute", "memory_burst_mib", "memory_after_mib"
SETTLING = 0.2
"""The first share of the minutes gives no slope: pools, caches and allocators fill in them."""
GROWTH_LEAST = 0.1
"""MiB a minute, 144 MiB a day: less is no leak that anybody would look for."""


class Minute(Part):
    """One of the windows that a long run is made of. Null: not measured, or with too few requests for a percentile."""

    at_min: Number
    """Middle of the window, in minutes since the first of them began."""
    goodput_rps: Number
    p50_ms: Number | None
    p99_ms: Number | None
    app_cpu_us_per_request: Number | None
    memory_mib: Number | None
    """Median memory over the seconds of the window."""
    descriptors: int | None
    db_connections: int | None
    """The most connections that were open to the database, or to PgBouncer."""
    verdict: Verdict
    reason: str | None = None


class LongRun(Part):
    """One variant, one fresh start."""

    variant: str
    offered_rps: int | None
    """Offered rate; null: there was no rate to follow."""
    minutes: list[Minute]
    growth: Slope | None
    """Growth of the memory, in MiB a minute. Null: too few minutes."""
    word: Trend | None
    memory_rest_mib: Number | None
    """Memory after the first answer, before any load."""
    memory_burst_mib: Number | None
    """Peak memory under full load, at the end."""
    memory_after_mib: Number | None
    """Peak memory under a light load, a minute after the full one."""

    @property
    def good(self) -> list[Minute]:
        return [one for one in self.minutes if one.verdict is Verdict.OK]

    @property
    def verdict(self) -> Verdict:
        """Invalid for wrong answers in any minute; void where the host disturbed half of them."""
        if any(one.verdict in (Verdict.INVALID, Verdict.FAILED) for one in self.minutes):
            return Verdict.INVALID
        return Verdict.OK if 2 * len(self.good) > len(self.minutes) else Verdict.VOID

    @property
    def why(self) -> str:
        """The reason of that verdict, with the first window that shows it."""
        shows = (one for one in self.minutes if one.verdict not in (Verdict.OK, Verdict.VOID) or one.reason)
        first = next(shows, None)
        told = f": after {first.at_min:.0f} minutes: {first.reason}" if first else ""
        return f"{self.variant}: {len(self.good)} of {len(self.minutes)} windows are good{told}"


class Soaked(Conclusions):
    """Estimates over the minutes of each variant, and the minutes themselves."""

    runs: list[LongRun] = Field(default_factory=list)


def _mib(value: float | None) -> float | None:
    return None if value is None else value / 2**20


def _minute(record: WindowRecord, began_s: float) -> Minute:
    window, (own_s,) = record.only, record.began_s.values()
    memory = window.per_second.app_memory_bytes if window.per_second else []
    times = window.response_time_ms
    return Minute(
        at_min=(own_s - began_s + record.spec.seconds / 2) / 60,
        goodput_rps=window.goodput_rps,
        p50_ms=times.p50 if times else None,
        p99_ms=times.p99 if times else None,
        app_cpu_us_per_request=window.app_cpu_us_per_request,
        memory_mib=_mib(median(memory)) if memory else None,
        descriptors=window.app_descriptors,
        db_connections=window.db_connections_max,
        verdict=window.verdict,
        reason=next((one.text for one in window.findings if one.severity != "warning"), None),
    )


def growth_of(minutes: Sequence[Minute]) -> Slope | None:
    """Memory over the minutes after the first ones. What the host did meanwhile does not touch it, so void ones count."""
    later = minutes[round(SETTLING * len(minutes)) :]
    known = [(one.at_min, one.memory_mib) for one in later if one.memory_mib is not None]
    return slope([at for at, _ in known], [value for _, value in known])


def run_of(trial: Trial) -> LongRun:
    """What one start came to."""
    (label,) = trial.spec.variants
    made = {record.spec.name: record for record in trial.made}
    records = [record for name, record in made.items() if name.startswith(MINUTE)]
    began_s = next(iter(records[0].began_s.values())) if records else 0.0
    minutes = [_minute(record, began_s) for record in records]
    found, rest = growth_of(minutes), trial.starts[label].memory_rest_bytes if label in trial.starts else None
    peaks = {name: _mib(made[name].only.app_memory_peak_bytes) for name in (BURST, AFTER) if name in made}
    return LongRun(
        variant=label,
        offered_rps=records[0].spec.rates_rps[label] if records else None,
        minutes=minutes,
        growth=found,
        word=found.word(GROWTH_LEAST) if found else None,
        memory_rest_mib=_mib(rest),
        memory_burst_mib=peaks.get(BURST),
        memory_after_mib=peaks.get(AFTER),
    )


def estimates_of(run: LongRun) -> list[Estimate]:
    """Means over the good minutes, and the memory."""

    def estimate(metric: str, values: Sequence[float], **more: Any) -> Estimate:
        return Estimate(
            metric=metric, variant=run.variant, mean=fmean(values), n=len(values), verdict=run.verdict, **more
        )

    of_minutes: Mapping[str, list[float | None]] = {
        GOODPUT: [one.goodput_rps for one in run.good],
        "app_cpu_us_per_request": [one.app_cpu_us_per_request for one in run.good],
        "response_time_p50_ms": [one.p50_ms for one in run.good],
        "response_time_p99_ms": [one.p99_ms for one in run.good],
    }
    known = {name: [value for value in values if value is not None] for name, values in of_minutes.items()}
    out = [
        estimate(
            name, values, interval=t_interval(values), range=(min(values), max(values)), limit="offered-load"
        )
        for name, values in known.items()
        if values
    ]
    once = {
        MEMORY_REST: run.memory_rest_mib,
        AT_BURST: run.memory_burst_mib,
        AFTER_BURST: run.memory_after_mib,
    }
    out += [estimate(name, [value]) for name, value in once.items() if value is not None]
    if run.growth is not None:
        grown = estimate(GROWTH, [run.growth.slope], interval=run.growth.interval)
        out.append(grown.model_copy(update={"n": len(run.minutes)}))
    return out
