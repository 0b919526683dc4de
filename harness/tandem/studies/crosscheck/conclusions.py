"""Do two load generators say the same about one application? Pure: windows in, verdicts out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import batched
from statistics import fmean
from typing import Literal

from tandem.analysis.ratios import t_interval
from tandem.facts.metric import metric
from tandem.record.conclusion import Contrast, Estimate
from tandem.record.part import Number
from tandem.record.result import Conclusions
from tandem.record.trial import Trial
from tandem.record.window import Verdict, Window

LEAST_PAIRS = 3
GENERATORS = OHA, VEGETA = "oha", "vegeta"
Word = Literal["agree", "disagree", "undecided", "not compared"]
type WindowPair = dict[str, Window]
"""Generator -> its window; the two follow one another, at the same offered rate."""


@dataclass(frozen=True)
class Criterion:
    """What is compared. The tolerance is the larger of the two: `absolute`, or `relative` of the mean of both generators."""

    read: Callable[[Window], float | None]
    absolute: float
    relative: float
    judged: bool = True
    """Whether it can be a reason to disagree; False: it is shown all the same."""

    def tolerance(self, oha_and_vegeta: Sequence[float]) -> float:
        return max(self.absolute, self.relative * fmean(oha_and_vegeta))


def _response(percentile: str) -> Callable[[Window], float | None]:
    return lambda window: getattr(window.response_time_ms, percentile, None)


RIGHT, SERVICE_P50 = "right_percent", "service_time_p50_ms"
CRITERIA = {
    RIGHT: Criterion(
        lambda window: window.good / window.scheduled * 100 if window.scheduled else None, 0.5, 0.0
    ),
    SERVICE_P50: Criterion(lambda w: w.service_time_ms.p50, 0.3, 0.10),
    "service_time_p90_ms": Criterion(lambda w: w.service_time_ms.p90, 0.6, 0.20),
    "service_time_p99_ms": Criterion(lambda w: w.service_time_ms.p99, 2.0, 0.40),
    "response_time_p50_ms": Criterion(_response("p50"), 0.3, 0.10, judged=False),
    "response_time_p90_ms": Criterion(_response("p90"), 0.6, 0.20, judged=False),
    "response_time_p99_ms": Criterion(_response("p99"), 2.0, 0.40, judged=False),
}
"""Metric -> how it is compared. The generators differ in what a request costs them, and on a busy core that is time a request
waits. Response times are not judged: oha's pacer wakes on whole milliseconds and its figures contain that, vegeta's do not."""


class CrossChecked(Conclusions):
    """What two generators say of one application. An estimate has the generator as its coordinate, and a mean over the pairs. A
    contrast is the ratio of the two means; its interval is that of the difference over the pairs, as a share of oha's mean."""

    rate_rps: int | None
    """Offered rate; None: it could not be derived."""
    window_s: Number
    pairs: int
    """Pairs of windows that were compared."""
    disturbed: int
    """Pairs that were left out, because the host disturbed one side."""
    word: Word
    reasons: list[str]
    """What speaks for the word."""


def pairs_of(trial: Trial) -> list[WindowPair]:
    """The pairs of a trial, as far as both windows were made."""
    found = []
    for specs in batched((one for one in trial.spec.windows if one.load == "open"), 2, strict=True):
        made = {one.generator: window for one in specs if (window := trial.window(one.name))}
        found += [made] if len(made) == 2 else []
    return found


def is_disturbed(pair: WindowPair) -> bool:
    """Whether the host kept one of its windows from saying anything."""
    return any(one.severity == "void" for window in pair.values() for one in window.findings)


def compared(metric: str, pairs: Sequence[WindowPair], variant: str = "") -> tuple[list[Estimate], Contrast]:
    """A metric by both generators. A metric that one side could not give in every pair, as with too few samples for a
    percentile, is not compared."""
    criterion, contrast = CRITERIA[metric], partial(Contrast, metric=metric, of=VEGETA, to=OHA)
    every = {name: [criterion.read(pair[name]) for pair in pairs] for name in GENERATORS}
    values = {name: [value for value in own if value is not None] for name, own in every.items()}
    if any(len(own) < max(LEAST_PAIRS, len(pairs)) for own in values.values()):
        return [], contrast(ratio=None, interval=None, n=0, word="not compared")
    estimates = [
        Estimate(
            metric=metric,
            variant=variant,
            coordinates={"generator": name},
            mean=fmean(own),
            interval=t_interval(own),
            n=len(own),
        )
        for name, own in values.items()
    ]
    oha, vegeta = map(fmean, values.values())
    interval = t_interval([theirs - ours for ours, theirs in zip(*values.values(), strict=True)])
    assert interval is not None
    (low, high), tolerance = interval, criterion.tolerance([oha, vegeta])
    word: Word = "undecided"
    if -tolerance <= low and high <= tolerance:
        word = "agree"
    elif low > tolerance or high < -tolerance:
        word = "disagree"
    ratio, of_oha = vegeta / oha if oha else None, (1 + low / oha, 1 + high / oha) if oha else None
    return estimates, contrast(ratio=ratio, interval=of_oha, n=len(pairs), word=word)


def means(metric: str, estimates: Sequence[Estimate]) -> list[float]:
    """Oha's and vegeta's; none where the metric is not compared."""
    own = [one for one in estimates if one.metric == metric and "generator" in one.coordinates]
    return [one.mean for one in own if one.mean is not None]


def conclude(
    pairs: Sequence[WindowPair], estimates: Sequence[Estimate], contrasts: Sequence[Contrast]
) -> tuple[Word, list[str]]:
    """The verdict over all metrics, and what speaks for it. Only pairs that were not disturbed are given.

    One metric that disagrees is a disagreement; so is a gate that makes the windows of one side alone invalid.
    They agree if the right answers and the median service time do and nothing disagrees.
    """
    words = {one.metric: one.word for one in contrasts if CRITERIA[one.metric].judged}
    reasons = []
    for name in (name for name, word in words.items() if word == "disagree"):
        oha, vegeta = means(name, estimates)
        tolerance = CRITERIA[name].tolerance([oha, vegeta])
        reasons.append(
            f"{metric(name).heading}: oha {oha:.4g}, vegeta {vegeta:.4g}: {vegeta - oha:+.3g} (tolerance {tolerance:.3g})"
        )
    refused = _first_texts(pairs, "invalid")
    for name, other in (GENERATORS, GENERATORS[::-1]):
        alone = {code: text for code, text in refused[name].items() if code not in refused[other]}
        reasons += [f"only under {name}: {text}" for text in alone.values()]
    if reasons:
        return "disagree", [*reasons, *_causes(pairs)]
    if len(pairs) < LEAST_PAIRS:
        return "undecided", [f"only {len(pairs)} pairs were not disturbed, and {LEAST_PAIRS} are needed"]
    unsure = [metric(name).heading for name, word in words.items() if word == "undecided"]
    enough = words[RIGHT] == words[SERVICE_P50] == "agree"
    return ("agree" if enough else "undecided"), [f"{heading}: more pairs are needed" for heading in unsure]


def disturbances(pairs: Sequence[WindowPair]) -> list[str]:
    """What disturbed pairs: each kind once, with the first text."""
    by_generator = _first_texts(pairs, "void").items()
    return [f"left out: under {name} {text}" for name, own in by_generator for text in own.values()]


def _first_texts(pairs: Sequence[WindowPair], severity: str) -> dict[str, dict[str, str]]:
    """Generator -> code -> the first text, of the findings that decide the verdict of its windows."""
    found: dict[str, dict[str, str]] = {name: {} for name in GENERATORS}
    for name, window in (one for pair in pairs for one in pair.items()):
        for finding in window.findings:
            if finding.severity == severity and (severity != "invalid" or window.verdict is Verdict.INVALID):
                found[name].setdefault(finding.code, finding.text)
    return found


def _causes(pairs: Sequence[WindowPair]) -> list[str]:
    """How busy each generator and its CPUs were: what usually explains a difference."""
    out = []
    for name in GENERATORS:
        every = [pair[name].roles for pair in pairs]
        cpuset, cores = every[0]["loadgen"].cpuset, every[0]["loadgen"].cores_available
        own = fmean(roles["loadgen"].cpu_cores for roles in every)
        whole = fmean(sum(r.cpu_cores for r in roles.values() if r.cpuset == cpuset) for roles in every)
        out.append(f"{name} used {own:.2f} of its {cores} cores, all roles on them together {whole:.2f}")
    return out
