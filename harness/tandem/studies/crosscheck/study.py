"""The study behind `crosscheck`: one warm application, loaded in turn by oha and by vegeta; whether they say the same; its table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import batched
from statistics import fmean
from typing import Literal

from rich.console import Group
from rich.text import Text

from tandem.analysis.ratios import t_interval
from tandem.catalog.catalog import Catalog
from tandem.engine.findings import first_rate, warnings, why
from tandem.engine.grid import CLOSED, fresh_start
from tandem.engine.study import Options, Study, Windows
from tandem.errors import UsageError
from tandem.facts.metric import metric
from tandem.record.conclusion import Contrast, Estimate
from tandem.record.part import Number
from tandem.record.request import Request
from tandem.record.result import Baselines, Concluded, Conclusions, Result
from tandem.record.trial import Trial, TrialSpec, WindowSpec
from tandem.record.window import Verdict, Window
from tandem.report.parts import findings, spent
from tandem.report.table import Column, table
from tandem.wording import number, ratio_with_interval

LEAST_PAIRS = 3
GENERATORS = OHA, VEGETA = "oha", "vegeta"
Word = Literal["agree", "disagree", "undecided", "not compared"]
RATE_SHARE = 0.5
"""The rate is this share of the goodput of a short closed window, unless it is given."""
TRIM_START_S, TRIM_END_S = 1.0, 0.5
"""Trims of a window: both generators open their connections when it begins."""
STYLES = {"agree": "green", "disagree": "red", "undecided": "yellow", "not compared": "dim"}
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


class CrossCheckOptions(Options):
    needs = "a cross-check needs pairs and the seconds of a window"
    pairs: int
    window_s: int
    rate_rps: int | None = None
    """Offered rate; None: it follows from a closed window."""


class CrossCheck(Study[CrossChecked]):
    """One trial: pairs of windows at one rate, by the one generator and by the other. Of the plan its warm-up is used."""

    name = "crosscheck"
    kind = CrossChecked

    def __init__(self, catalog: Catalog, request: Request) -> None:
        super().__init__(catalog, request)
        self.asked = CrossCheckOptions.read(request)
        if len(request.variants) != 1:
            raise UsageError("a cross-check takes one implementation")

    def outline(self) -> list[list[TrialSpec]]:
        """oha first in odd pairs, vegeta first in even ones: what drifts meets both alike."""
        label, rate = self.request.variants[0].label, self.asked.rate_rps
        closed = WindowSpec(
            name=CLOSED,
            variants=[label],
            seconds=self.asked.window_s,
            trim_start_s=TRIM_START_S,
            trim_end_s=TRIM_END_S,
        )
        how = {"share": RATE_SHARE, "share_of": CLOSED} if rate is None else {"rates_rps": {label: rate}}
        pairs = [
            closed.model_copy(
                update={"name": f"{number}-{generator}", "generator": generator, "load": "open", **how}
            )
            for number in range(1, self.asked.pairs + 1)
            for generator in (GENERATORS if number % 2 else GENERATORS[::-1])
        ]
        windows = [closed, *pairs] if rate is None else pairs
        spec = fresh_start(self.timing, 1, label)
        return [[spec.model_copy(update={"name": label, "windows": windows})]]

    def windows(self, spec: TrialSpec) -> Windows:
        for window in spec.windows:
            record = yield window
            if window.name == CLOSED and record.only.verdict is Verdict.INVALID:
                return  # what answers wrongly says nothing of generators

    def conclude(self, trials: Sequence[Trial], baselines: Baselines) -> Concluded[CrossChecked]:
        """Conclude from the trial, or from that attempt of it in which more pairs were left alone."""
        every = [(trial, pairs_of(trial)) for trial in trials]
        trial, pairs = max(every, key=lambda made: sum(not is_disturbed(pair) for pair in made[1]))
        kept = [pair for pair in pairs if not is_disturbed(pair)]
        found = [compared(name, kept, self.request.variants[0].label) for name in CRITERIA]
        estimates = [one for both, _ in found for one in both]
        contrasts = [contrast for _, contrast in found]
        word, reasons = conclude(kept, estimates, contrasts)
        verdict = Verdict.INVALID if word == "disagree" else Verdict.OK
        if not pairs:
            verdict = trial.verdict if trial.verdict is not Verdict.OK else Verdict.INVALID
            reasons = [f"{trial.verdict}: {why(trial)}"]
        return Concluded(
            verdict=verdict,
            reasons=reasons if verdict is not Verdict.OK else [],
            findings=warnings([trial]),
            headline=f"the generators: {word}, {len(kept)} pairs",
            conclusions=CrossChecked(
                estimates=estimates,
                contrasts=contrasts,
                rate_rps=first_rate([trial]) or self.asked.rate_rps,
                window_s=self.asked.window_s,
                pairs=len(kept),
                disturbed=len(pairs) - len(kept),
                word=word,
                reasons=[*reasons, *disturbances(pairs)],
            ),
        )

    @classmethod
    def report(cls, result: Result[CrossChecked]) -> Group:
        found, request = result.conclusions, result.request
        out = table(
            f"{request.variants[0].label}, {request.scenario}: oha and vegeta at {number(found.rate_rps)}/s,"
            f" {found.pairs} pairs of {found.window_s:.0f} s",
            [(one, means(one.metric, found.estimates), CRITERIA[one.metric]) for one in found.contrasts],
            Column("figure", lambda row: metric(row[0].metric).heading, text=True),
            Column(OHA, lambda row: number(row[1][0] if row[1] else None, 2)),
            Column(VEGETA, lambda row: number(row[1][1] if row[1] else None, 2)),
            Column("vegeta / oha", lambda row: ratio_with_interval(row[0].ratio, row[0].interval)),
            Column("tolerance", lambda row: number(row[2].tolerance(row[1]) if row[1] else None, 2)),
            Column("verdict", lambda row: Text(row[0].word or "", STYLES[row[0].word or ""]), text=True),
        )
        left = f"{found.disturbed} disturbed pairs were left out. " if found.disturbed else ""
        note = f"{left}agree: the 95 % interval of the difference over the pairs lies within the tolerance"
        verdict = Text(f"the generators: {found.word}", STYLES[found.word])
        return Group(
            out, Text(note, "dim"), verdict, *map(Text, found.reasons), spent(result), *findings(result)
        )
