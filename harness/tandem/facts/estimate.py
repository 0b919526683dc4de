"""Estimates and ratios over the table of facts: means over fresh starts, ratios within blocks. Pure."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from tandem.analysis.ceilings import Made, in_same_blocks
from tandem.analysis.cost import (
    APP,
    AT,
    ROLES,
    TOTAL,
    at,
    cpu_us_per_request_by_role,
    total_cpu_us_per_request,
)
from tandem.analysis.histogram import over_starts
from tandem.analysis.looks import PlannedLook
from tandem.analysis.ratios import ONE_LOOK, Ratio, compare, t_interval, verdicts
from tandem.catalog.catalog import OWN_SERVICE
from tandem.facts.fact import Fact, at_full_load, by_label, counting, facts, wrong
from tandem.facts.metric import GOODPUT, MEMORY, OFFERED, P99, STATEMENTS, metric
from tandem.record.conclusion import Contrast, Estimate
from tandem.record.request import Variant
from tandem.record.trial import Trial
from tandem.record.window import ClassFigures, Verdict, Window

type Read = Callable[[Window], float | None]
type ReadFact = Callable[[Fact], float | None]


def _of_role(role: str) -> Read:
    return lambda window: cpu_us_per_request_by_role(window).get(role)


def goodput(window: Window) -> float:
    return window.goodput_rps


AT_FULL_LOAD: dict[str, Read] = {
    GOODPUT: goodput,
    TOTAL: total_cpu_us_per_request,
    **{f"{role}_cpu_us_per_request": _of_role(role) for role in ROLES if role != "app"},
    APP: lambda window: window.app_cpu_us_per_request or None,
    "service_time_mean_ms": lambda window: window.service_time_ms.mean,
}
"""Metric -> what a window of full load says of it."""
AT_EQUAL_RATE: dict[str, Read] = {
    TOTAL: total_cpu_us_per_request,
    APP: lambda window: window.app_cpu_us_per_request or None,
    P99: lambda window: window.response_time_ms.p99 if window.response_time_ms else None,
    OFFERED: lambda window: window.offered_rps,
}
CLASS, STATEMENT = "class", "statement"
"""The coordinates of what is said of one class of a mix, and of one statement of a reader's own service."""
TOGETHER = {"duet": "duet_cpu_us_per_request", "saturated": "saturated_cpu_us_per_request"}
"""Role -> the metric of windows in which all were loaded at once: whom the other roles worked for is not known."""


def by_start(found: Iterable[Fact], read: ReadFact) -> dict[Made, float]:
    """Block and attempt -> the mean of its facts' values; one without any is left out."""
    out: dict[Made, list[float]] = {}
    for one in found:
        if (value := read(one)) is not None:
            out.setdefault(one.made, []).append(value)
    return {made: fmean(values) for made, values in out.items()}


def by_block(found: Iterable[Fact], read: Read) -> dict[Made, float]:
    """Block and attempt -> the mean of its windows' values; one without any is left out."""
    return by_start(found, lambda one: read(one.window))


def ln_ratios_by_start(of: Iterable[Fact], to: Iterable[Fact], read: ReadFact) -> list[float]:
    """ln(of / to), of each block the last attempt in which both are good: a ratio lives within a block that was made once.
    of, to: good facts of all attempts."""
    own, others = (
        {made: value for made, value in by_start(found, read).items() if value > 0} for found in (of, to)
    )
    return [math.log(one) for one in in_same_blocks(own, others)]


def ln_ratios(of: Iterable[Fact], to: Iterable[Fact], read: Read) -> list[float]:
    """`ln_ratios_by_start` of what a window says."""
    return ln_ratios_by_start(of, to, lambda one: read(one.window))


def ratio(of: Iterable[Fact], to: Iterable[Fact], read: Read, look: PlannedLook = ONE_LOOK) -> Ratio:
    """of / to over the blocks of `ln_ratios`."""
    return compare(ln_ratios(of, to, read), look)


def limit_of(found: Iterable[Fact]) -> str | None:
    """The bottleneck of most windows."""
    tags = Counter(one.window.bottleneck for one in found)
    return tags.most_common(1)[0][0] if tags else None


def verdict_of(trials: Sequence[Trial], label: str, good: int, needed: int = 1) -> tuple[Verdict, list[str]]:
    """The verdict of a variant, and the reasons where it is not ok. A wrong answer in any trial makes all invalid: it says
    something about the program and not about the moment. good: so many of its starts are; needed: so many have to be."""
    found, reasons = Counter[Verdict](), list[str]()
    for trial in trials:
        if label not in trial.spec.variants:
            continue
        if len(trial.spec.variants) == 1:
            found[trial.verdict] += 1
            own = [one.text for one in trial.all_findings() if one.severity != "warning"]
        else:
            seen, own = _beside_others(trial, label)
            found.update(seen)
        reasons += [f"{trial.spec.key}: {text}" for text in own]
    worst = next((v for v in (Verdict.FAILED, Verdict.INVALID) if found[v]), None)
    if worst is None and good >= needed:
        return Verdict.OK, []
    few = f"only {good} of {needed} starts are good" if needed > 1 else "no start is good"
    return worst or Verdict.VOID, reasons or [few]


def _beside_others(trial: Trial, label: str) -> tuple[list[Verdict], list[str]]:
    """The verdicts of a variant that was up beside others, and their reasons: those of its own windows."""
    seen, reasons = [], list[str]()
    start = trial.starts.get(label)
    if start is not None and start.refused:
        seen.append(Verdict.FAILED)
        reasons.append(start.refused)
    for record in trial.windows:
        window = record.windows.get(label)
        if record.refused and label in record.spec.variants:
            seen.append(Verdict.FAILED)
            reasons.append(record.refused)
        if window is None or (window.verdict is Verdict.INVALID and not wrong(record, window)):
            continue
        seen.append(window.verdict)
        reasons += [one.text for one in window.findings if one.severity != "warning"]
    return seen, reasons


@dataclass(frozen=True)
class OfVariant:
    """What the facts of a variant come to."""

    variant: Variant
    every: Sequence[Fact]
    """Facts of all attempts, bad ones too."""
    good: Sequence[Fact]
    """Facts whose figures count."""
    verdict: Verdict
    reasons: list[str]

    @property
    def ok(self) -> bool:
        return self.verdict is Verdict.OK

    @property
    def full(self) -> list[Fact]:
        """The facts of full load whose figures count."""
        return at_full_load(self.good)

    @property
    def full_of_all_attempts(self) -> list[Fact]:
        """Good facts of full load, from which a ratio takes those of a block that was made once."""
        return at_full_load([one for one in self.every if one.good])

    @property
    def limit(self) -> str | None:
        return limit_of(self.full or [one for one in self.good if one.role == "open"])

    def estimate(self, metric: str, values: Sequence[float]) -> Estimate:
        """The mean of values, one of each start, with its interval."""
        mean = fmean(values) if values else None
        return self._estimate(metric, mean, t_interval(values), len(values))

    def estimates(self, reads: Mapping[str, ReadFact]) -> list[Estimate]:
        """Further metrics; none of a variant that is not ok, or of which no fact says any. reads: metric -> what a fact says
        of it."""
        found = {name: list(by_start(self.good, read).values()) for name, read in reads.items()}
        return [self.estimate(name, values) for name, values in found.items() if values and self.ok]

    def standard(self) -> Iterator[Estimate]:
        """The estimates that every study has."""
        if not self.ok:
            yield self._estimate(GOODPUT, None, None, len({one.made for one in self.good}))
            return
        for name, found, read in self._sources():
            if values := list(by_block(found, read).values()):
                yield self.estimate(name, values)
        opened = [one for one in self.good if one.role == "open"]
        yield from self._times(opened, "{}", lambda window: window.response_time_hdr)
        shares = sorted({one.share for one in self.good if one.share is not None})
        at_rates = {at("{}", share): [one for one in self.good if one.share == share] for share in shares}
        for form, found in {"{}": opened, **at_rates}.items():
            for name in found[0].window.class_names if found else []:
                yield from self._of_class(found, form, name)
        alone = [one for one in self.good if one.alone]
        yield from self._of_statements([one for one in alone if one.role in ("closed", "open", "equal")])
        peaks = [one.window.app_memory_peak_bytes for one in alone]
        if known := [peak for peak in peaks if peak is not None]:
            yield self._estimate(MEMORY, max(known) / 2**20, None, len({one.made for one in alone}))

    def _times(
        self, found: Sequence[Fact], form: str, read: Callable[[Window], str | None]
    ) -> Iterator[Estimate]:
        """Percentiles over starts. form: of the metric's key. read: a window's histogram."""
        each = [hdr for one in found if (hdr := read(one.window))]
        for name, (median, low, high) in over_starts(each).items():
            told = self._estimate(form.format(f"response_time_{name}_ms"), median, None, len(each))
            yield told.model_copy(update={"range": (low, high)})

    def _of_class(self, found: Sequence[Fact], form: str, name: str) -> Iterator[Estimate]:
        """Rate and response times of one class of a mix."""

        def own(window: Window) -> ClassFigures:
            return window.classes[window.class_names.index(name)]

        rates = list(by_block(found, lambda window: own(window).goodput_rps).values())
        every = [self.estimate(form.format(GOODPUT), rates)]
        every += self._times(found, form, lambda window: own(window).response_time_hdr)
        for one in every:
            yield one.model_copy(update={"coordinates": {**one.coordinates, CLASS: name}})

    def _of_statements(self, found: Sequence[Fact]) -> Iterator[Estimate]:
        """How often each statement ran for a right answer, of a reader's own service; the contract's run as often as it says."""
        if self.variant.implementation != OWN_SERVICE:
            return
        for text in dict.fromkeys(text for one in found for text in one.window.statements):

            def calls(window: Window, text: str = text) -> float | None:
                own, answered = window.statements.get(text), window.good + window.probes
                return (own.calls if own else 0) / answered if answered else None

            one = self.estimate(STATEMENTS, list(by_block(found, calls).values()))
            yield one.model_copy(update={"coordinates": {**one.coordinates, STATEMENT: text}})

    def _sources(self) -> Iterator[tuple[str, Sequence[Fact], Read]]:
        """Metric, the facts that say it, and how."""
        full = self.full
        for name, read in AT_FULL_LOAD.items():
            yield name, full, read
        for share in sorted({one.share for one in self.good if one.share is not None}):
            equal = [one for one in self.good if one.role == "equal" and one.share == share]
            for name, read in AT_EQUAL_RATE.items():
                yield at(name, share), equal, read
        for role, name in TOGETHER.items():
            yield name, [one for one in self.good if one.role == role], AT_FULL_LOAD[APP]

    def _estimate(
        self, name: str, mean: float | None, interval: tuple[float, float] | None, n: int
    ) -> Estimate:
        variant, coordinates = self.variant.position
        return Estimate(
            metric=name,
            variant=variant,
            coordinates=coordinates,
            mean=mean,
            interval=interval,
            n=n,
            limit="offered-load" if AT in name else self.limit,
            verdict=self.verdict,
            reasons=self.reasons,
        )


def of_variants(trials: Sequence[Trial], variants: Sequence[Variant], needed: int = 1) -> list[OfVariant]:
    """What all trials say of each variant. needed: so many good starts, else its figures are not told."""
    every = by_label(facts(trials, variants))
    found = []
    for variant in variants:
        own = every.get(variant.label, [])
        good = counting(own)
        starts = len({one.trial for one in good})
        verdict, reasons = verdict_of(trials, variant.label, starts, needed)
        found.append(OfVariant(variant, own, good, verdict, reasons))
    return found


def estimates(trials: Sequence[Trial], variants: Sequence[Variant]) -> list[Estimate]:
    """What all trials say of each variant, in one form for every study: figures of full load, of each equal rate, of windows in
    which all were loaded at once, and of open windows. A variant that is not ok has one estimate, without a mean, that says why."""
    return [one for own in of_variants(trials, variants) for one in own.standard()]


def against_first(group: Sequence[OfVariant], not_ranked: Mapping[str, str]) -> list[Contrast]:
    """Each variant that is ok by the first one, at full load; none where the first is not ok. The first metric is the primary
    one: a stack cannot make it smaller by leaving its work to the database. group: those that are compared with one another,
    one family. not_ranked: label -> why its rate is not its own."""
    first, others = group[0], [one for one in group[1:] if one.ok]
    compared = (TOTAL, APP, GOODPUT) if first.ok else ()
    return [one for name in compared for one in _by_first(name, first, others, not_ranked)]


def _by_first(
    name: str, first: OfVariant, others: Sequence[OfVariant], not_ranked: Mapping[str, str]
) -> Iterator[Contrast]:
    to = first.full_of_all_attempts
    found = [ratio(one.full_of_all_attempts, to, AT_FULL_LOAD[name]) for one in others]
    shared = not_ranked if name == GOODPUT else {}  # a ratio of costs has its word whatever limits the rates
    why = [shared.get(one.variant.label) or shared.get(first.variant.label) for one in others]
    family = [one for one, cut in zip(found, why, strict=True) if cut is None]
    words = iter(verdicts(family, metric(name).kind))
    for one, own, cut in zip(others, found, why, strict=True):
        yield contrast(name, one, first, own, "not ranked" if cut else next(words), cut)


def contrast(
    name: str, of: OfVariant, to: OfVariant, found: Ratio, word: str, not_ranked: str | None = None
) -> Contrast:
    """The ratio of two variants in a metric, where the first stands."""
    variant, coordinates = of.variant.position
    at = {"of": variant, "to": to.variant.asked, "coordinates": coordinates}
    return of_ratio(found, metric=name, **at, word=word, not_ranked=not_ranked)


def of_ratio(found: Ratio, **fields: Any) -> Contrast:
    """A ratio as a contrast. fields: the further ones."""
    return Contrast(ratio=found.ratio, interval=found.interval, n=found.n, sd_ln=found.sd_ln, **fields)
