"""How near each variant comes to what the parts around it could do at most. Pure."""

import statistics
from collections.abc import Sequence

from tandem.analysis.ratios import t_interval
from tandem.engine.blocks import best
from tandem.engine.findings import why
from tandem.engine.stand_ins import WINDOW
from tandem.record.part import Number, Part
from tandem.record.result import Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Verdict
from tandem.studies.bench.conclusions import OPEN

LEAST_VALUES = 2


class Reached(Part):
    """The rates of one thing over the rounds."""

    goodput_rps: Number | None
    interval: tuple[Number, Number] | None
    """95 % Student t interval over the rounds, each a fresh start."""
    values: list[Number]
    refused: list[str]
    """Why rounds do not count."""


class ReachedBelow(Reached):
    """A variant's, below the ceilings."""

    nearest: str | None
    share: Number | None
    """Of the nearest ceiling, mean over the rounds of goodput / ceiling of the same round."""
    share_interval: tuple[Number, Number] | None
    app_cpu_us_per_request: Number | None
    """At the equal offered load."""
    app_cpu_us_interval: tuple[Number, Number] | None
    bottleneck: str | None


class Ceilings(Conclusions):
    """What the stand-ins and the variants reached."""

    rounds: int
    window_s: int
    equal_load_rps: int | None
    ceilings: dict[str, Reached]
    """By stand-in."""
    variants: dict[str, ReachedBelow]
    """By label."""


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if len(values) >= LEAST_VALUES else None


def rates(trials: Sequence[Trial]) -> dict[tuple[int, int], float]:
    """Block and attempt -> goodput of the closed window, where the trial is ok. trials: of one thing."""
    good = {(trial.spec.block, trial.spec.attempt): trial.window(WINDOW) for trial in trials if _ok(trial)}
    return {when: window.goodput_rps for when, window in good.items() if window is not None}


def _ok(trial: Trial) -> bool:
    return trial.verdict is Verdict.OK


def reached(trials: Sequence[Trial]) -> Reached:
    """trials: of one thing, all attempts."""
    chosen = best(trials)
    values = list(rates(chosen).values())
    return Reached(
        goodput_rps=_mean(values),
        interval=t_interval(values),
        values=values,
        refused=[f"round {t.spec.block}: {t.verdict}: {why(t)}" for t in chosen if not _ok(t)],
    )


def nearest(ceilings: dict[str, Reached]) -> str | None:
    """The lowest ceiling."""
    known = {name: own.goodput_rps for name, own in ceilings.items() if own.goodput_rps is not None}
    return min(known, key=lambda name: known[name], default=None)


def shares(own: Sequence[Trial], ceiling: Sequence[Trial]) -> list[float]:
    """goodput / ceiling, of each round the last attempt in which both are good: of one block made once."""
    mine, theirs = rates(own), rates(ceiling)
    both = {block: (block, attempt) for block, attempt in sorted(mine) if (block, attempt) in theirs}
    return [mine[when] / theirs[when] for when in both.values()]


def reached_below(trials: Sequence[Trial], name: str | None, ceiling: Sequence[Trial]) -> ReachedBelow:
    """trials: of one variant, all attempts. name, ceiling: the nearest ceiling and its trials."""
    good = [trial for trial in best(trials) if _ok(trial)]
    opened = [window for trial in good if (window := trial.window(OPEN)) is not None]
    costs = [w.app_cpu_us_per_request for w in opened if w.app_cpu_us_per_request is not None]
    tags = [window.bottleneck for trial in trials if (window := trial.window(WINDOW)) and _judged(trial)]
    parts = shares(trials, ceiling)
    return ReachedBelow(
        **reached(trials).model_dump(),
        nearest=name,
        share=_mean(parts),
        share_interval=t_interval(parts),
        app_cpu_us_per_request=_mean(costs),
        app_cpu_us_interval=t_interval(costs),
        bottleneck=statistics.mode(tags) if tags else None,
    )


def _judged(trial: Trial) -> bool:
    """Whether its closed window is good, whatever came after it."""
    window = trial.window(WINDOW)
    return window is not None and window.verdict is Verdict.OK
