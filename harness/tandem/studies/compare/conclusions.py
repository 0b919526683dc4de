"""What a comparison concludes: ratios to the reference within blocks of fresh starts. Pure."""

import math
import statistics
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from tandem.analysis import ratios
from tandem.analysis.ceilings import Made, cut_off, nearness
from tandem.analysis.control import Control, judged
from tandem.analysis.cost import APP, ROLES, TOTAL, at, cpu_us_per_request_by_role, total_cpu_us_per_request
from tandem.analysis.looks import PlannedLook
from tandem.analysis.ratios import ONE_LOOK, Better, Decision, Ratio, Word
from tandem.catalog.catalog import EQUAL_SHARES
from tandem.engine.blocks import counting
from tandem.engine.findings import once
from tandem.judge.bottleneck import is_own
from tandem.record.conclusion import Contrast
from tandem.record.part import Number, Part
from tandem.record.result import Baselines, Concluded, Conclusions
from tandem.record.store import file_name
from tandem.record.trial import Start, Trial, WindowRecord
from tandem.record.window import Finding, Verdict, Window
from tandem.studies.compare.detecting import Design
from tandem.wording import limited_by

type Of = Literal["turns", "equal", "duet", "saturated"]


@dataclass(frozen=True)
class ComparedMetric:
    """What is compared, which direction is the better one, and which windows tell it."""

    figure: Callable[[Window], float | None]
    better: Better
    of: Of = "turns"
    """The windows that tell it: in slices or in turn, each alone at one rate for all, or those in which all were loaded at once."""
    share: float | None = None
    """The share of the slowest's rate; null: the windows are not of one rate."""


def _app_us(window: Window) -> float | None:
    return window.app_cpu_us_per_request or None


def _p99_ms(window: Window) -> float | None:
    return window.response_time_ms.p99 if window.response_time_ms else None


GOODPUT, P99 = "goodput_rps", "response_time_p99_ms"
P99_FROM = 0.6
"""Below this share a tail is that of an idle machine, and few windows have requests enough for it."""


METRICS: dict[str, ComparedMetric] = {
    TOTAL: ComparedMetric(total_cpu_us_per_request, "lower"),
    APP: ComparedMetric(_app_us, "lower"),
    **{
        at(TOTAL, one): ComparedMetric(total_cpu_us_per_request, "lower", "equal", one)
        for one in EQUAL_SHARES
    },
    **{at(APP, one): ComparedMetric(_app_us, "lower", "equal", one) for one in EQUAL_SHARES},
    **{
        at(P99, one): ComparedMetric(_p99_ms, "quicker", "equal", one)
        for one in EQUAL_SHARES
        if one >= P99_FROM
    },
    GOODPUT: ComparedMetric(lambda window: window.goodput_rps or None, "higher"),
    "duet_cpu_us_per_request": ComparedMetric(_app_us, "lower", "duet"),
    "saturated_cpu_us_per_request": ComparedMetric(_app_us, "lower", "saturated"),
}
TAILS = [name for name in METRICS if name.startswith(P99)]
SAME_RATE = 0.95
"""A rate that is no further below its pair's own is the pair's own: both starts of the baseline, and whole requests a second,
set it."""
VOID_SHARE = 0.20
"""More void windows than this void the session."""
ROUND, SLICED, DUET, SATURATED = "round", "slices", "duet", "saturated"
IN_SLICES = 0
"""Stands for the number of a round: the window in slices is of no round."""


class ComparedRatio(Part):
    """A variant's metric against the reference's."""

    ratio: Ratio
    p_adjusted: Number | None
    """By Holm over all variants and the metrics that share 5 % (`families`)."""
    verdict: Word
    within_margin: bool = False
    """The whole difference lies within the margin; also one that was found. (Older records say so by their word alone.)"""


class CostPoint(Part):
    """What a request costs at one rate: means over the blocks, with their 95 % intervals."""

    share: Number | None
    """The rate as a share of what the slowest variant of the block reaches; null: at saturation, in slices or in turn."""
    rate_rps: Number
    """What was offered; at saturation what was answered."""
    total_us: Number | None
    total_interval: tuple[Number, Number] | None
    app_us: Number | None
    app_interval: tuple[Number, Number] | None
    by_role_us: dict[str, Number]
    """Role -> its part of the total."""
    p99_ms: Number | None
    """Response time; null where a window has too few requests for it, and at saturation."""
    blocks: int


class ComparedVariant(Part):
    """One line of the table."""

    variant: str
    verdict: Verdict
    reasons: list[str]
    means: dict[str, Number | None]
    """ComparedMetric -> mean over blocks of the block's mean; for orientation, the ratios are what is compared."""
    against_reference: dict[str, ComparedRatio]
    bottleneck: str | None
    ceiling_share: Number | None = None
    """Of the lowest ceiling of the session, in records with one look before all blocks."""
    ceiling_shares: dict[str, Number] = Field(default_factory=dict)
    """Stand-in -> goodput by that of the stand-in in the same block, mean over the blocks."""
    near_ceiling: str | None = None
    """The ceiling that cuts the goodput off, in words."""
    in_turns: str | None = None
    """Why it was measured in windows in turn where others were in slices."""
    censored: bool = False
    """The goodput is the ceiling's as much as the variant's, and not ranked."""
    costs: list[CostPoint] = Field(default_factory=list)
    """The cost curve, by share, with saturation last; empty in older records."""
    void_blocks: int = 0
    """Blocks in which the host disturbed a window of this variant, those that were made again among them. Where one
    variant has far more of them than another, what is left of it is a selection."""


class Compared(Conclusions):
    """What follows from the blocks."""

    reference: str
    session: Verdict
    """Whether any of it may be believed; the result's verdict also says whether a variant was wrong."""
    blocks: int
    """That count: each once, however often it was made."""
    primary: str | None = None
    """The metric that was named beforehand. Its claims share 5 %, those of the p99 at equal rates another 5 %, and those of all
    others together another. Null in older records, where each metric had 5 % of its own."""
    looks: list[int] = Field(default_factory=list)
    """The blocks at which it was to be looked; empty: once, at the end. They were fixed beforehand, or by the design."""
    design: Design | None = None
    """Where a difference to detect or a budget was named: the blocks that followed from it."""
    entries: list[ComparedVariant] = Field(default_factory=list)
    same_against_itself: dict[str, ComparedRatio] = Field(default_factory=dict)
    """The reference's second start against its first, by metric."""
    control: Control | None = None
    """What that says of the session. Where it failed, the intervals of all entries are widened. Null in older records."""


# ---- which window is which ----


def second(reference: str) -> str:
    """The label of the reference's second start."""
    return f"{reference}~2"


def turn_name(number: int, label: str) -> str:
    """The name of a variant's window in a round."""
    return f"{ROUND}-{number}-{file_name(label)}"


def named(metric: str, share: float | None) -> str:
    """The name of a metric at a share, or at full load."""
    return metric if share is None else at(metric, share)


def equal_name(share: float, label: str) -> str:
    """The name of a variant's window at an equal rate. What it is, its spec says."""
    return f"equal-{share * 100:.0f}-{file_name(label)}"


def kind(record: WindowRecord) -> Of:
    """What a window tells of."""
    if record.spec.equal_share is not None:
        return "equal"
    name = record.spec.name
    return "saturated" if name == SATURATED else "duet" if name.startswith(DUET) else "turns"


def wrong(record: WindowRecord, window: Window) -> bool:
    """Whether a window says that its variant is. Near its limit, or that of all together, some requests may come too late."""
    codes = {finding.code for finding in window.findings if finding.severity == "invalid"}
    near = kind(record) == "saturated" or not record.spec.counts
    return window.verdict is Verdict.INVALID and not (near and codes <= {"incomplete"})


def round_of(record: WindowRecord) -> int:
    """The number of its round. (An older Tandem made a void duet once more: `duet-2`.)"""
    if record.spec.slices is not None:
        return IN_SLICES
    if record.spec.equal_share is not None:
        return 1
    _, _, rest = record.spec.name.partition("-")
    return int(rest.partition("-")[0] or 1)


def _good(block: Trial, variant: str, of: Of, share: float | None) -> dict[int, Window]:
    """Round -> the variant's last good window in it, or its window in slices."""
    found = {}
    for record in block.windows:
        window = record.windows.get(variant)
        told = kind(record) == of and record.spec.equal_share == share
        if told and window is not None and window.verdict is Verdict.OK:
            found[round_of(record)] = window
    return found


def values(block: Trial, variant: str, metric: ComparedMetric) -> dict[int, float]:
    """Round -> figure of the variant's last good window in it, or of its window in slices. Where it has one, its window
    alone was for the checks."""
    good = _good(block, variant, metric.of, metric.share)
    return {number: value for number, window in good.items() if (value := metric.figure(window)) is not None}


def _rates(block: Trial, variants: Iterable[str], metric: ComparedMetric) -> set[float | None]:
    """The rates at which they were asked."""
    good = (_good(block, variant, metric.of, metric.share).values() for variant in variants)
    return {window.offered_rps for windows in good for window in windows}


def rate_of_pair(blocks: Sequence[Trial], of: str, to: str, metric: ComparedMetric) -> bool:
    """Whether the slower of the two set the rate of this metric, as it does where they are compared alone. The cost at the
    rate of a slower third one is another statement."""
    if metric.share is None:
        return True
    told = []
    for block in blocks:
        alone = [list(values(block, name, METRICS[GOODPUT]).values()) for name in (of, to)]
        rates = _rates(block, (of, to), metric) - {None}
        if all(alone) and rates:
            limit = metric.share * min(statistics.fmean(own) for own in alone)
            told.append(min(rate for rate in rates if rate is not None) / limit)
    return bool(told) and statistics.fmean(told) >= SAME_RATE


def chosen(rounds: Iterable[int]) -> list[int]:
    """The rounds that count, of those that all have who are compared: the window in slices, where there is one."""
    return [IN_SLICES] if IN_SLICES in rounds else sorted(rounds)


# ---- ratios ----


def _ln_ratio(block: Trial, variant: str, against: Iterable[str], metric: ComparedMetric) -> float | None:
    """Mean over rounds of ln(variant) - mean ln(against), over the rounds in which all of them have a good window; that of
    the window in slices, where all of them have one."""
    names = [variant, *against]
    own, *others = (values(block, name, metric) for name in names)
    rounds = set(own).intersection(*others) if others else set()
    if not rounds or (metric.of == "equal" and len(_rates(block, names, metric)) > 1):
        return None  # a cost at one rate and a cost at another are two points of a curve
    return statistics.fmean(
        math.log(own[n]) - statistics.fmean(math.log(other[n]) for other in others) for n in chosen(rounds)
    )


def ln_ratios(
    blocks: Sequence[Trial], variant: str, against: list[str], metric: ComparedMetric
) -> list[float]:
    """One value for each block that has any: a block of fresh starts is the unit of replication."""
    found = (_ln_ratio(block, variant, against, metric) for block in blocks)
    return [value for value in found if value is not None]


def by_block(blocks: Sequence[Trial], variant: str, metric: ComparedMetric) -> dict[Made, float]:
    """The mean of each block that has any."""
    return {
        (block.spec.block, block.spec.attempt): statistics.fmean(found[n] for n in chosen(found))
        for block in blocks
        if (found := values(block, variant, metric))
    }


def _mean(blocks: Sequence[Trial], variant: str, metric: ComparedMetric) -> float | None:
    means = by_block(blocks, variant, metric).values()
    return statistics.fmean(means) if means else None


def _cost(blocks: Sequence[Trial], variant: str, share: float | None) -> CostPoint | None:
    """What a request costs at a rate; None where no block tells. share: None: at saturation."""
    of: Of = "turns" if share is None else "equal"
    good = sum(bool(_good(block, variant, of, share)) for block in blocks)
    if not good:
        return None

    def each(figure: Callable[[Window], float | None]) -> list[float]:
        return list(by_block(blocks, variant, ComparedMetric(figure, "lower", of, share)).values())

    def mean(figure: Callable[[Window], float | None]) -> float | None:
        return statistics.fmean(found) if (found := each(figure)) else None

    def part(role: str) -> float | None:
        return mean(lambda window: cpu_us_per_request_by_role(window).get(role))

    return CostPoint(
        share=share,
        rate_rps=mean(lambda window: window.offered_rps or window.goodput_rps) or 0.0,
        total_us=mean(total_cpu_us_per_request),
        total_interval=ratios.t_interval(each(total_cpu_us_per_request)),
        app_us=mean(_app_us),
        app_interval=ratios.t_interval(each(_app_us)),
        by_role_us={role: us for role in ROLES if (us := part(role)) is not None},
        p99_ms=mean(_p99_ms),
        blocks=good,
    )


def costs(blocks: Sequence[Trial], variant: str) -> list[CostPoint]:
    """The cost curve of a variant: at each share that has good windows, then at saturation."""
    found = [_cost(blocks, variant, share) for share in (*EQUAL_SHARES, None)]
    return [point for point in found if point is not None]


def _said(ratio: Ratio, found: Decision) -> ComparedRatio:
    return ComparedRatio(
        ratio=ratio, p_adjusted=found.p_adjusted, verdict=found.word, within_margin=found.within_margin
    )


def same(blocks: Sequence[Trial], reference: str, look: PlannedLook = ONE_LOOK) -> dict[str, ComparedRatio]:
    """The A/A line: the reference's second start against its first."""
    out = {}
    for name, metric in METRICS.items():
        ratio = ratios.compare(ln_ratios(blocks, second(reference), [reference], metric), look)
        out[name] = _said(ratio, ratios.decide([ratio], [metric.better], look)[0])
    return out


def control_of(again: Mapping[str, ComparedRatio]) -> Control | None:
    """What the A/A line says of the session."""
    return judged({name: one.ratio for name, one in again.items()})


def families(primary: str | None) -> list[list[str]]:
    """The metrics that share 5 %: the primary one has its own, the tails have theirs, and so have the others. None: each has
    its own."""
    if primary is None:
        return [[name] for name in METRICS]
    rest = [name for name in METRICS if name != primary]
    return [[primary], [name for name in rest if name in TAILS], [name for name in rest if name not in TAILS]]


def against_reference(
    blocks: Sequence[Trial],
    reference: str,
    variants: list[str],
    primary: str | None = None,
    look: PlannedLook = ONE_LOOK,
    control: Control | None = None,
) -> dict[str, dict[str, ComparedRatio]]:
    """Variant -> metric -> what was found. Both starts of the reference count: their mean is what is compared with."""
    widened_ln = control.widened_ln if control else {}
    out: dict[str, dict[str, ComparedRatio]] = {variant: {} for variant in variants}
    for names in families(primary):
        values = {
            (variant, name): ln_ratios(blocks, variant, [reference, second(reference)], METRICS[name])
            for name in names
            for variant in variants
        }
        size = sum(len(own) > 1 for own in values.values())
        found = {
            (variant, name): ratios.compare(own, look, max(1, size), widened_ln.get(name, 0.0))
            for (variant, name), own in values.items()
        }
        said = ratios.decide(list(found.values()), [METRICS[name].better for _, name in found], look)
        for ((variant, name), ratio), one in zip(found.items(), said, strict=True):
            out[variant][name] = _said(ratio, one)
    # In the order in which the metrics are shown.
    return {variant: {name: own[name] for name in METRICS} for variant, own in out.items()}


def decided(
    trials: Sequence[Trial], reference: str, variants: list[str], primary: str, look: PlannedLook
) -> bool:
    """Whether further blocks would change nothing: the primary metric of every variant has its answer, or none can
    come, because the variant is wrong."""
    blocks = counting(trials)
    control = control_of(same(blocks, reference, look))
    found = against_reference(blocks, reference, variants, primary, look, control)
    return bool(variants) and all(
        found[variant][primary].verdict not in ("inconclusive", "too few")
        or entry(trials, variant, {}).verdict is not Verdict.OK
        for variant in variants
    )


# ---- verdicts ----


def entry(trials: Sequence[Trial], variant: str, compared: dict[str, ComparedRatio]) -> ComparedVariant:
    """A line of the table. trials: with the blocks that were made again; their windows give no figures, but a wrong
    answer in any makes the variant invalid: it says something about the program, not about the moment."""
    blocks = counting(trials)
    reasons = [
        f"block {trial.spec.block}: {start.refused}"
        for trial in trials
        if (start := trial.starts.get(variant)) is not None and start.refused
    ]
    records = [record for trial in trials for record in trial.windows if variant in record.spec.variants]
    reasons += [record.refused for record in records if record.refused]
    failed = bool(reasons)
    made = [(record, record.windows[variant]) for record in records if variant in record.windows]
    windows = [window for _, window in made]
    invalid = [window for record, window in made if wrong(record, window)]
    for window in invalid[:3]:
        texts = [finding.text for finding in window.findings if finding.severity == "invalid"]
        reasons.append(texts[0] if texts else "invalid")
    verdict = Verdict.FAILED if failed else Verdict.INVALID if invalid else Verdict.OK
    tags = [window.bottleneck for window in windows if window.load == "closed"]
    good = verdict is Verdict.OK
    return ComparedVariant(
        variant=variant,
        verdict=verdict,
        reasons=reasons,
        means={name: _mean(blocks, variant, metric) if good else None for name, metric in METRICS.items()},
        against_reference=compared if good else {},
        bottleneck=statistics.mode(tags) if tags else None,
        costs=costs(blocks, variant) if good else [],
        void_blocks=sum(
            any(r.windows[variant].verdict is Verdict.VOID for r in trial.windows if variant in r.windows)
            for trial in trials
        ),
    )


def unlike(again: dict[str, ComparedRatio]) -> dict[str, str]:
    """The metrics in which the reference differs from itself by more than the margin, with what is said of each."""
    found = {}
    for name, compared in again.items():
        ratio, interval = compared.ratio.ratio, compared.ratio.interval
        beyond = ratio is not None and abs(math.log(ratio)) > math.log(1 + ratios.MARGIN)
        if interval and beyond and not interval[0] <= 1 <= interval[1]:
            found[name] = f"the baseline differs from itself in {name}: {ratio:.3f}"
    return found


def session_verdict(
    trials: Sequence[Trial],
    reference: ComparedVariant,
    again: dict[str, ComparedRatio],
    primary: str | None = None,
) -> tuple[Verdict, list[str]]:
    """Whether the session may be believed at all, and the reasons if not.

    failed: a visit broke. void: the reference fails or is invalid, more than VOID_SHARE of the windows that count are
    void, or the reference differs from itself in the primary metric (in any, where none was named).
    """
    broken = [
        f"block {trial.spec.block}: {finding.text}"
        for trial in trials
        for finding in trial.findings
        if finding.severity != "warning"
    ]
    if broken:
        return Verdict.FAILED, broken
    for line in (reference, entry(trials, second(reference.variant), {})):
        if line.verdict is not Verdict.OK:
            return Verdict.VOID, [f"{line.variant} is {line.verdict}: {reason}" for reason in line.reasons]
    windows = [
        window for block in counting(trials) for record in block.windows for window in record.windows.values()
    ]
    void = sum(window.verdict is Verdict.VOID for window in windows)
    reasons = []
    if windows and void / len(windows) > VOID_SHARE:
        reasons.append(
            f"{void} of {len(windows)} windows are void (limit {VOID_SHARE:.0%}): the host is too busy"
        )
    reasons += [text for name, text in unlike(again).items() if primary in (None, name)]
    return (Verdict.VOID, reasons) if reasons else (Verdict.OK, [])


def _without(line: ComparedVariant, metrics: Collection[str]) -> ComparedVariant:
    """A line that does not tell these metrics."""
    means = {name: None if name in metrics else mean for name, mean in line.means.items()}
    against = {name: one for name, one in line.against_reference.items() if name not in metrics}
    curve = [one for one in line.costs if not {named(TOTAL, one.share), named(APP, one.share)} & {*metrics}]
    changes: dict[str, object] = {"means": means, "against_reference": against, "costs": curve}
    if GOODPUT in metrics:
        changes |= {"censored": False, "near_ceiling": None}
    return line.model_copy(update=changes)


def bottleneck_in(line: ComparedVariant, metric: str) -> str | None:
    """The bottleneck's tag in the windows that tell a metric of a variant."""
    return "offered-load" if METRICS[metric].of == "equal" else line.bottleneck


def same_limit(found: Compared, lines: Iterable[ComparedVariant]) -> bool:
    """Whether a resource that all share limited any of them: then their goodput is not the programs' own. Where somebody named
    goodput as what decides, it is told all the same."""
    return found.primary != GOODPUT and not all(is_own(line.bottleneck) for line in lines if line.bottleneck)


def is_shared(found: Compared, line: ComparedVariant) -> bool:
    """`same_limit` of a variant and the reference."""
    reference = next(one for one in found.entries if one.variant == found.reference)
    return same_limit(found, (line, reference))


def word(found: Compared, line: ComparedVariant, metric: str) -> str:
    """The verdict on a variant's ratio; `not ranked` for a goodput that is not its own."""
    if metric == GOODPUT and (line.censored or is_shared(found, line)):
        return "not ranked"
    return line.against_reference[metric].verdict


def family_of(found: Compared, metric: str) -> str:
    """The name of the contrasts with the baseline that share 5 % with those of this metric (`families`)."""
    if found.primary is None:
        name = metric
    else:
        name = "primary" if metric == found.primary else "p99" if metric in TAILS else "others"
    return f"{name}, against the baseline"


def unranked(found: Compared, of: str, to: str) -> str | None:
    """Why the ratio of two goodputs says little of the programs; None if it is ranked."""
    lines = [line for line in found.entries if line.variant in (of, to)]
    if not same_limit(found, lines) and not any(line.censored for line in lines):
        return None
    return f"limited by {' and '.join(dict.fromkeys(limited_by(line.bottleneck) for line in lines))}"


def contrasts(found: Compared) -> list[Contrast]:
    """Each variant by the reference, then the reference by itself."""
    out = [
        _contrast(name, line.variant, found.reference, one).model_copy(
            update={
                "word": word(found, line, name),
                "family": family_of(found, name),
                "not_ranked": unranked(found, line.variant, found.reference) if name == GOODPUT else None,
            }
        )
        for line in found.entries
        for name, one in line.against_reference.items()
    ]
    again = second(found.reference)
    return out + [
        _contrast(name, again, found.reference, one)
        for name, one in found.same_against_itself.items()
        if one.ratio.ratio is not None
    ]


def _contrast(metric: str, of: str, to: str, said: ComparedRatio) -> Contrast:
    return Contrast(
        metric=metric,
        of=of,
        to=to,
        ratio=said.ratio.ratio,
        interval=said.ratio.interval,
        n=said.ratio.n,
        sd_ln=said.ratio.sd_ln,
        p=said.p_adjusted,
        word=said.verdict,
    )


def mark_ceilings(lines: Sequence[ComparedVariant], blocks: Sequence[Trial], baselines: Baselines) -> None:
    """Notes in each line how near its goodput comes to the ceilings."""
    goodput = METRICS[GOODPUT]
    rates = {
        line.variant: by_block(blocks, line.variant, goodput) if line.verdict is Verdict.OK else {}
        for line in lines
    }
    to_ceilings = nearness(rates, baselines)
    reached = max((line.means[GOODPUT] or 0.0 for line in lines), default=0.0)
    for line in lines:
        found = to_ceilings[line.variant]
        line.ceiling_shares = found.shares
        line.near_ceiling = cut_off(found.near, line.means[GOODPUT], baselines, reached)
        line.censored = line.near_ceiling is not None


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


def conclude(
    trials: Sequence[Trial],
    labels: list[str],
    baselines: Baselines,
    in_turns: Mapping[str, str] | None = None,
    primary: str | None = None,
    looks: Sequence[int] = (),
    design: Design | None = None,
) -> Concluded[Compared]:
    """All that follows from the blocks. labels: without the reference's second start; the first is the reference.
    in_turns: who was not measured in slices, and why. design: where a difference or a budget was named, in place of looks."""
    reference, *others = labels
    blocks = counting(trials)
    look = design.look(len(blocks)) if design else PlannedLook.of(tuple(looks), len(blocks))
    again = same(blocks, reference, look)
    control = control_of(again)
    against = against_reference(blocks, reference, others, primary, look, control)
    entries = [entry(trials, label, against.get(label, {})) for label in labels]
    for line in entries:
        line.in_turns = (in_turns or {}).get(line.variant)
    mark_ceilings(entries, blocks, baselines)
    session, reasons = session_verdict(trials, entries[0], again, primary)
    verdict, findings = session, findings_of(trials)
    # The trials keep the windows; what follows from them is not published.
    if session is not Verdict.OK:
        entries = [_without(line, list(METRICS)) for line in entries]
    else:
        unpublished = unlike(again)
        entries = [_without(line, list(unpublished)) for line in entries]
        findings += [
            Finding.of("unlike-itself", "warning", f"{text}; this metric is not published")
            for text in unpublished.values()
        ]
        verdict = next(
            (v for v in (Verdict.FAILED, Verdict.INVALID) if any(line.verdict is v for line in entries)),
            Verdict.OK,
        )
        reasons = [f"{line.variant}: {reason}" for line in entries for reason in line.reasons]
    compared = Compared(
        reference=reference,
        session=session,
        blocks=len(blocks),
        primary=primary,
        looks=list(design.looks if design else looks),
        design=design,
        entries=entries,
        same_against_itself=again,
        control=control,
    )
    compared.contrasts = contrasts(compared)
    return Concluded(verdict=verdict, reasons=reasons, findings=findings, conclusions=compared)
