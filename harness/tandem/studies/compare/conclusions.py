"""What a comparison concludes: ratios to the reference within blocks of fresh starts. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pydantic import Field

from tandem.analysis import ratios
from tandem.analysis.ceilings import Nearness, cut_off, nearness
from tandem.analysis.control import Control, judged
from tandem.analysis.cost import APP, TOTAL, at
from tandem.analysis.looks import PlannedLook
from tandem.analysis.ratios import Ratio
from tandem.catalog.catalog import EQUAL_SHARES
from tandem.engine.blocks import counting
from tandem.engine.findings import once
from tandem.engine.side_by_side import second
from tandem.facts.estimate import OfVariant, by_block, goodput, of_variants, verdict_of
from tandem.facts.metric import GOODPUT, P99, metric
from tandem.facts.paired import Good, contrast, good_facts, ln_by_block
from tandem.judge.bottleneck import is_own
from tandem.record.conclusion import Contrast, Estimate, Position
from tandem.record.part import Number, Part
from tandem.record.request import Variant
from tandem.record.result import Baselines, Concluded, Conclusions
from tandem.record.trial import Start, Trial
from tandem.record.window import Finding, Verdict, Window
from tandem.studies.compare.detecting import Design, Pair
from tandem.wording import limited_by

P99_FROM = 0.6
"""Below this share a tail is that of an idle machine, and few windows have requests enough for it."""
TAILS = [at(P99, share) for share in EQUAL_SHARES if share >= P99_FROM]
METRICS = (
    TOTAL,
    APP,
    *(at(cost, share) for cost in (TOTAL, APP) for share in EQUAL_SHARES),
    *TAILS,
    GOODPUT,
    "duet_cpu_us_per_request",
    "saturated_cpu_us_per_request",
)
"""What is compared: in slices or in turn, each alone at one rate for all, and all at once."""
VOID_SHARE = 0.20
"""Share of void windows above which the session is void."""
UNDECIDED = ("inconclusive", "too few")
WORST = (Verdict.FAILED, Verdict.INVALID)
REASONS_MOST = 3
"""The most reasons of one variant: a liar has one in each window."""


class ComparedVariant(Part):
    """What a comparison says of a variant besides its estimates."""

    ceiling_shares: dict[str, Number] = Field(default_factory=dict)
    """Stand-in -> goodput by that of the stand-in in the same block, mean over the blocks."""
    near_ceiling: str | None = None
    """The ceiling that cuts the goodput off, in words."""
    censored: bool = False
    """The goodput is the ceiling's as much as the variant's, and not ranked."""
    in_turns: str | None = None
    """Why it was measured in windows in turn where others were in slices."""
    void_blocks: int = 0
    """Blocks in which the host disturbed a window of this variant, those that were made again among them. Where one
    variant has far more of them than another, what is left of it is a selection."""


class Compared(Conclusions):
    """What follows from the blocks: contrasts of each variant to the reference, of the reference's second start to its first, and
    of further pairs that were asked for."""

    reference: str
    session: Verdict
    """Whether any of it may be believed; the result's verdict also says whether a variant was wrong."""
    blocks: int
    """Blocks that count: each once, however often it was made."""
    primary: str | None = None
    """The metric that was named beforehand. Its claims share 5 %, those of the p99 at equal rates another 5 %, and those of all
    others together another. Null in older records, where each metric had 5 % of its own."""
    looks: list[int] = Field(default_factory=list)
    """The blocks at which it was to be looked; empty: once, at the end. They were fixed beforehand, or by the design."""
    design: Design | None = None
    """The blocks that followed from a difference to detect or a budget, where one was named."""
    variants: dict[str, ComparedVariant] = Field(default_factory=dict)
    """Label -> what is said of the variant besides its estimates; without the reference's second start."""
    withheld: list[Contrast] = Field(default_factory=list)
    """Contrasts of metrics in which the reference differs from itself, and all of a session that may not be believed. They are not
    published; a session keeps them, with its mark, because who leaves out what scatters finds too little scatter."""
    control: Control | None = None
    """What the reference's second start says of the session. Where it failed, the intervals of all contrasts to the reference are
    widened. Null in older records."""

    @property
    def others(self) -> list[str]:
        """Labels of the variants that are compared with the reference."""
        return [label for label in self.variants if label != self.reference]

    def estimate(self, variant: str, metric: str) -> Estimate | None:
        """What is said of a metric of a variant; not of the reference's second start."""
        return self.estimate_of(metric, Position(variant, {}))

    def mean(self, variant: str, metric: str) -> float | None:
        """The mean of a metric; None where it was not measured, or is not published."""
        return self.mean_of(metric, Position(variant, {}))

    def contrast(self, variant: str, metric: str) -> Contrast | None:
        """A variant by the reference, or the reference's second start by its first."""
        found = (one for one in self.contrasts if one.to == self.reference)
        return next((one for one in found if (one.of, one.metric) == (variant, metric)), None)

    def verdict(self, variant: str) -> tuple[Verdict, list[str]]:
        """The verdict of a variant, and the reasons where it is not ok."""
        found = next((one for one in self.estimates if one.variant == variant and not one.coordinates), None)
        return (found.verdict, found.reasons) if found else (Verdict.OK, [])

    def limit(self, variant: str) -> str | None:
        """What limited a variant at full load."""
        found = self.estimate(variant, GOODPUT)
        return found.limit if found else None


# ---- ratios ----


def against(good: Good, variant: str, reference: str, name: str) -> list[float]:
    """One value for each block. Both starts of the reference count: their mean is what is compared with. Its second start is
    compared with its first."""
    to = [reference] if variant == second(reference) else [reference, second(reference)]
    return [*ln_by_block(good, variant, to, name).values()]


def same(good: Good, reference: str, look: PlannedLook) -> dict[str, Ratio]:
    """The A/A line: metric -> the reference's second start by its first."""
    return {name: ratios.compare(against(good, second(reference), reference, name), look) for name in METRICS}


def families(primary: str | None) -> dict[str, list[str]]:
    """Name -> the metrics that share 5 %: the primary one has its own, the tails have theirs, and so have the others. None: each
    has its own."""
    if primary is None:
        return {name: [name] for name in METRICS}
    rest = [name for name in METRICS if name != primary]
    tails = [name for name in rest if name in TAILS]
    return {"primary": [primary], "p99": tails, "others": [name for name in rest if name not in TAILS]}


def against_reference(
    good: Good,
    reference: str,
    variants: Sequence[str],
    primary: str | None,
    look: PlannedLook,
    control: Control | None,
) -> list[Contrast]:
    """Every metric of every variant by the reference, in the order in which they are shown."""
    widened_ln = control.widened_ln if control else {}
    out: dict[tuple[str, str], Contrast] = {}
    for family, names in families(primary).items():
        values = {
            (variant, name): against(good, variant, reference, name) for name in names for variant in variants
        }
        size = max(1, sum(len(own) > 1 for own in values.values()))
        found = [
            ratios.compare(own, look, size, widened_ln.get(name, 0.0)) for (_, name), own in values.items()
        ]
        said = ratios.decide(found, [metric(name).kind for _, name in values], look)
        for (variant, name), own, decision in zip(values, found, said, strict=True):
            out[variant, name] = contrast(name, variant, reference, own, decision)
            out[variant, name].family = f"{family}, against the baseline"
    return [out[variant, name] for variant in variants for name in METRICS]


def decided(trials: Sequence[Trial], labels: Sequence[str], primary: str, look: PlannedLook) -> bool:
    """Whether further blocks would change nothing: the primary metric of every variant has its answer, or none can
    come, because the variant is wrong. labels: of the variants, the reference's first."""
    (reference, *others), good = labels, good_facts(trials)
    control = judged(same(good, reference, look))
    return bool(others) and not any(
        one.metric == primary
        and one.word in UNDECIDED
        and verdict_of(trials, one.of, good=True)[0] is Verdict.OK
        for one in against_reference(good, reference, others, primary, look, control)
    )


# ---- verdicts ----


def unlike(again: Iterable[Contrast]) -> dict[str, str]:
    """The metrics in which the reference differs from itself by more than the margin, with what is said of each. again: its
    second start against its first."""
    found = {}
    for one in again:
        beyond = one.ratio is not None and abs(math.log(one.ratio)) > math.log(1 + ratios.MARGIN)
        if one.interval and beyond and not one.interval[0] <= 1 <= one.interval[1]:
            found[one.metric] = f"the baseline differs from itself in {one.metric}: {one.ratio:.3f}"
    return found


def session_verdict(
    trials: Sequence[Trial],
    wrong: Mapping[str, OfVariant],
    reference: str,
    different: Mapping[str, str],
    primary: str | None,
) -> tuple[Verdict, list[str]]:
    """Whether the session may be believed at all, and the reasons if not.

    failed: a visit broke. void: a start of the reference fails or is invalid, more than VOID_SHARE of the windows that count are
    void, or the reference differs from itself in the primary metric (in any, where none was named). wrong: label -> start
    that failed or is invalid; different: `unlike`.
    """
    broken = [
        f"block {trial.spec.block}: {finding.text}"
        for trial in trials
        for finding in trial.findings
        if finding.severity != "warning"
    ]
    if broken:
        return Verdict.FAILED, broken
    for label in (reference, second(reference)):
        if label in wrong:
            return Verdict.VOID, [f"{label} is {wrong[label].verdict}: {why}" for why in wrong[label].reasons]
    windows = [
        window for block in counting(trials) for record in block.windows for window in record.windows.values()
    ]
    void = sum(window.verdict is Verdict.VOID for window in windows)
    reasons = []
    if windows and void / len(windows) > VOID_SHARE:
        reasons.append(
            f"{void} of {len(windows)} windows are void (limit {VOID_SHARE:.0%}): the host is too busy"
        )
    reasons += [text for name, text in different.items() if primary in (None, name)]
    return (Verdict.VOID, reasons) if reasons else (Verdict.OK, [])


def findings_of(trials: Sequence[Trial]) -> list[Finding]:
    """One warning for each variant and code, with its first text: of warm-ups, windows and ends. What makes a variant
    invalid is among its reasons."""
    found = []
    for trial in trials:
        parts: list[tuple[str, Start | Window]] = [*trial.starts.items()]
        parts += [one for record in trial.windows for one in record.windows.items()]
        found += [
            ((label, finding.code), f"{label}: {trial.spec.key}: {finding.text}")
            for label, part in parts
            for finding in part.findings
            if finding.severity != "invalid"
        ]
    return [Finding.of(code, "warning", text) for (_, code), text in once(found).items()]


# ---- all together ----


def conclude(
    trials: Sequence[Trial],
    variants: Sequence[Variant],
    baselines: Baselines,
    in_turns: Mapping[str, str] | None = None,
    primary: str | None = None,
    looks: Sequence[int] = (),
    design: Design | None = None,
    pairs: Sequence[Pair] = (),
) -> Concluded[Compared]:
    """All that follows from the blocks. variants: the first is the reference; its second start is among them. in_turns: who was not
    measured in slices, and why. design: where a difference or a budget was named, in place of looks."""
    reference = variants[0].label
    labels = [variant.label for variant in variants if variant.label != second(reference)]
    blocks, good = counting(trials), good_facts(trials)
    look = design.look(len(blocks)) if design else PlannedLook.of(tuple(looks), len(blocks))
    again = same(good, reference, look)
    aside = [
        contrast(name, second(reference), reference, one, *ratios.decide([one], [metric(name).kind], look))
        for name, one in again.items()
        if one.ratio is not None
    ]
    control, different = judged(again), unlike(aside)
    every = [replace(one, reasons=one.reasons[:REASONS_MOST]) for one in of_variants(trials, variants)]
    wrong = {one.variant.label: one for one in every if one.verdict in WORST}
    session, reasons = session_verdict(trials, wrong, reference, different, primary)
    verdict, findings = session, findings_of(trials)
    if session is Verdict.OK:
        findings += [
            Finding.of("unlike-itself", "warning", f"{text}; this metric is not published")
            for text in different.values()
        ]
        verdict = min((one.verdict for one in wrong.values()), key=WORST.index, default=Verdict.OK)
        reasons = [f"{label}: {reason}" for label, one in wrong.items() for reason in one.reasons]

    def is_published(one: Estimate | Contrast) -> bool:
        """The trials keep the windows; what follows from them may be withheld."""
        return session is Verdict.OK and one.metric not in different

    told = [
        one if is_published(one) else one.model_copy(update={"mean": None, "interval": None})
        for own in every
        for one in own.standard()
    ]
    compared = Compared(
        reference=reference,
        session=session,
        blocks=len(blocks),
        primary=primary,
        looks=list(design.looks if design else looks),
        design=design,
        estimates=told,
        variants=_seen(labels, trials, every, told, baselines, in_turns or {}),
        control=control,
    )
    off = {one.metric: abs(math.log(one.ratio)) for one in aside if one.ratio and one.metric in different}
    widened_ln = control.widened_ln if control and control.widened_ln else off
    made = _to_reference(compared, good, labels[1:], look, different, widened_ln)
    for of, to in pairs:
        made += [one for name in METRICS for one in _alone(compared, good, name, of, [to], widened_ln)]
    right = [one for one in made if wrong.keys().isdisjoint((one.of, one.to))]
    compared.contrasts = [*filter(is_published, right), *aside]
    compared.withheld = [one for one in right if not is_published(one)]
    return Concluded(verdict=verdict, reasons=reasons, findings=findings, conclusions=compared)


def _seen(
    labels: Sequence[str],
    trials: Sequence[Trial],
    every: Iterable[OfVariant],
    told: Iterable[Estimate],
    baselines: Baselines,
    in_turns: Mapping[str, str],
) -> dict[str, ComparedVariant]:
    """Label -> what is said of it besides its estimates: how near its goodput comes to the ceilings, which blocks were void."""
    means = {
        one.variant: one.mean for one in told if one.metric == GOODPUT and not one.coordinates and one.mean
    }
    rates = {
        one.variant.label: by_block(one.full, goodput)
        for one in every
        if one.ok and one.variant.label in labels
    }
    to_ceilings, highest = nearness(rates, baselines), max(means.values(), default=0.0)
    out = {}
    for label in labels:
        own = to_ceilings.get(label, Nearness())
        near = cut_off(own.near, means[label], baselines, highest) if label in means else None
        out[label] = ComparedVariant(
            ceiling_shares=own.shares,
            near_ceiling=near,
            censored=near is not None,
            in_turns=in_turns.get(label),
            void_blocks=sum(
                any(r.windows[label].verdict is Verdict.VOID for r in trial.windows if label in r.windows)
                for trial in trials
            ),
        )
    return out


def _to_reference(
    compared: Compared,
    good: Good,
    labels: Sequence[str],
    look: PlannedLook,
    different: Mapping[str, str],
    widened_ln: Mapping[str, float],
) -> list[Contrast]:
    """Each variant by the reference. A metric in which the reference differs from itself gets a wider interval instead of a place in
    its family."""
    reference = compared.reference
    out = []
    for one in against_reference(good, reference, labels, compared.primary, look, compared.control):
        if one.metric in different:
            out += _alone(compared, good, one.metric, one.of, [reference, second(reference)], widened_ln)
            continue
        if one.metric == GOODPUT:
            one.not_ranked = unranked(compared, one.of, reference)
            if compared.variants[one.of].censored or same_limit(compared, (one.of, reference)):
                one.word = "not ranked"
        out.append(one)
    return out


def same_limit(found: Compared, labels: Iterable[str]) -> bool:
    """Whether a resource that all share limited any of them: then their goodput is not the programs' own. Where somebody named
    goodput as what decides, it is told all the same."""
    limits = [found.limit(label) for label in labels]
    return found.primary != GOODPUT and not all(is_own(limit) for limit in limits if limit)


def unranked(found: Compared, of: str, to: str) -> str | None:
    """Why the ratio of two goodputs says little of the programs; None if it is ranked."""
    labels = [label for label in found.variants if label in (of, to)]
    if not same_limit(found, labels) and not any(found.variants[label].censored for label in labels):
        return None
    return f"limited by {' and '.join(dict.fromkeys(limited_by(found.limit(label)) for label in labels))}"


def _alone(
    compared: Compared, good: Good, name: str, of: str, to: Sequence[str], widened_ln: Mapping[str, float]
) -> list[Contrast]:
    """A contrast of no family; none without a value. Its interval is wider by what the failed control shows, or by how far the
    reference is from itself in a metric that is not published. to: starts of one variant."""
    logs = [*ln_by_block(good, of, to, name).values()]
    if not logs:
        return []
    ratio = ratios.compare(logs, widened_ln=widened_ln.get(name, 0.0))
    [said] = ratios.decide([ratio], [metric(name).kind])
    found = contrast(name, of, to[0], ratio, said).model_copy(update={"p": ratio.p_t})
    return [
        found.model_copy(update={"not_ranked": unranked(compared, of, to[0])}) if name == GOODPUT else found
    ]
