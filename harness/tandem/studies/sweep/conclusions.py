"""What the trials of a sweep say together: a curve for each variant. Pure."""

import statistics
from collections.abc import Sequence

import numpy as np
from pydantic import Field

from tandem.analysis.curves import loss, where
from tandem.analysis.ratios import Floats, t_interval
from tandem.record.part import Number, Part
from tandem.record.result import Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Verdict, Window
from tandem.studies.bench.conclusions import CLOSED
from tandem.studies.sweep.usl import Usl, fit

C90 = 0.9


class MeanOfRounds(Part):
    """The mean over rounds with its 95 % Student t interval; null below two good rounds."""

    mean: Number | None
    interval: tuple[Number, Number] | None


class Level(Part):
    """One variant at one value."""

    value: int
    rounds: int
    goodput_rps: MeanOfRounds
    app_cpu_us_per_request: MeanOfRounds
    service_time_mean_ms: MeanOfRounds
    bottleneck: str | None
    ceiling_shares: dict[str, Number] = Field(default_factory=dict)
    """Stand-in -> goodput by that of the stand-in in the same block, mean over the blocks."""
    near_ceiling: str | None = None
    """The ceiling that cuts the goodput off, in words."""


class Curve(Part):
    """One variant over all values. Null where trials are missing."""

    label: str
    levels: list[Level]
    peak_rps: Number | None
    peak_at: int | None
    c90: int | None
    """The smallest value that reaches 90 % of the peak; null for `wait`, where less is more."""
    retrograde_loss: Number | None
    """1 - rate at the largest value / peak."""
    peak_between: tuple[int, int] | None = None
    """Where the peak may be, with 95 %. Null, as those below, below two complete rounds."""
    c90_between: tuple[int, int] | None = None
    loss_interval: tuple[Number, Number] | None = None
    """95 %, whichever value is the best one."""
    loss_p: Number | None = None
    """Of no loss: the largest value against all others at once."""
    usl: Usl | None
    """For `connections` only."""


class Swept(Conclusions):
    """A curve for each variant."""

    axis: str
    values: list[int]
    rounds: int
    curves: list[Curve] = Field(default_factory=list)


def mean(values: Sequence[float]) -> MeanOfRounds:
    """Of the good rounds."""
    found = statistics.fmean(values) if len(values) > 1 else None
    return MeanOfRounds(mean=found, interval=t_interval(values))


def good_windows(trials: Sequence[Trial]) -> list[Window]:
    """Those whose figures count: a trial that is not ok has none."""
    windows = [trial.window(CLOSED) for trial in trials if trial.verdict is Verdict.OK]
    return [window for window in windows if window is not None]


def level(value: int, trials: Sequence[Trial]) -> Level:
    """trials: of one variant at that value, one of each round."""
    good = good_windows(trials)
    costs = [w.app_cpu_us_per_request for w in good if w.app_cpu_us_per_request is not None]
    times = [w.service_time_ms.mean for w in good if w.service_time_ms.mean is not None]
    return Level(
        value=value,
        rounds=len(good),
        goodput_rps=mean([window.goodput_rps for window in good]),
        app_cpu_us_per_request=mean(costs),
        service_time_mean_ms=mean(times),
        bottleneck=statistics.mode([window.bottleneck for window in good]) if good else None,
    )


def curve(label: str, axis: str, trials: dict[int, Sequence[Trial]]) -> Curve:
    """trials: of that variant, value -> one of each round."""
    levels = [level(value, own) for value, own in trials.items()]
    values, rates = list(trials), _rounds(trials)
    place, behind = where(rates, C90), loss(rates)
    known = {lv.value: lv.goodput_rps.mean for lv in levels if lv.goodput_rps.mean is not None}
    peak_at = max(known, key=lambda value: known[value], default=None)
    peak = None if peak_at is None else known[peak_at]
    complete = len(known) == len(levels) and peak
    reached = [value for value in known if peak and known[value] >= C90 * peak]
    return Curve(
        label=label,
        levels=levels,
        peak_rps=peak,
        peak_at=peak_at,
        c90=min(reached) if complete and axis != "wait" else None,
        retrograde_loss=1 - known[max(trials)] / peak if complete and peak else None,
        usl=_usl(known, trials) if axis == "connections" else None,
        peak_between=(values[place.peak[0]], values[place.peak[1]]) if place else None,
        c90_between=(values[place.reaches[0]], values[place.reaches[1]])
        if place and axis != "wait"
        else None,
        loss_interval=behind.interval if behind else None,
        loss_p=behind.p if behind else None,
    )


def _rounds(trials: dict[int, Sequence[Trial]]) -> Floats:
    """The rates of each round in which every value has one: a row for each, a column for each value."""
    rates = [
        {
            trial.spec.block: window.goodput_rps
            for trial in own
            for window in good_windows([trial])
            if window.goodput_rps > 0
        }
        for own in trials.values()
    ]
    complete = sorted(set.intersection(*(set(one) for one in rates)))
    return np.array([[one[block] for one in rates] for block in complete], float).reshape(-1, len(rates))


def _usl(known: dict[int, float], trials: dict[int, Sequence[Trial]]) -> Usl:
    """Few rounds do not give each mean's error well; the relative spread of all values together does."""
    rates = [[window.goodput_rps for window in good_windows(trials[value])] for value in known]
    residuals = [np.log(np.array(own) / np.mean(own)) for own in rates]
    freedom = sum(len(own) - 1 for own in rates)
    spread = float(np.sqrt(sum((own**2).sum() for own in residuals) / freedom)) if freedom else 0.0
    errors = [spread * rate / len(own) ** 0.5 for rate, own in zip(known.values(), rates, strict=True)]
    return fit(list(known), list(known.values()), errors)
