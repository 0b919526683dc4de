"""What a comparison found: ratios to the reference within blocks of fresh starts. Pure."""

import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import Field

from tandem.analysis import ratios
from tandem.analysis.ratios import Ratio, Word
from tandem.record.run import CENSORED_SHARE, Environment, Number, Part, Verdict, Window, share_of_ceiling


@dataclass(frozen=True)
class Metric:
    """What is compared, which direction is the better one, and which windows tell it."""

    figure: Callable[[Window], float | None]
    better: Literal["higher", "lower"]
    duet: bool = False
    """Of the windows in which all were loaded at once, instead of those in turn."""


METRICS: dict[str, Metric] = {
    "goodput_rps": Metric(lambda window: window.goodput_rps or None, "higher"),
    "app_cpu_us_per_request": Metric(lambda window: window.app_cpu_us_per_request, "lower"),
    "duet_cpu_us_per_request": Metric(lambda window: window.app_cpu_us_per_request, "lower", duet=True),
}
VOID_SHARE = 0.20
"""More void windows than this void the session."""


class Shot(Part):
    """One short window of one entrant."""

    round: int
    entrant: str
    """Its label; the reference's second start has `~2` behind it."""
    window: Window | None
    refused: str | None = None
    """Why there is no window."""
    seconds: Number


class Block(Part):
    """Fresh starts of all entrants, and their windows in the order in which they were taken."""

    number: int
    started_at: datetime
    starts: list[str]
    shots: list[Shot]
    duets: list[Shot] = Field(default_factory=list)
    """The windows in which all were loaded at once; the last of each round counts."""
    refused: dict[str, str]
    """Entrants that did not start or gave wrong answers, with the reason."""
    phases_s: dict[str, Number]
    """Where the time went."""


class Compared(Part):
    """An entrant's metric against the reference's."""

    ratio: Ratio
    p_adjusted: Number | None
    """Holm over all entrants of the metric."""
    verdict: Word


class Entry(Part):
    """One line of the table."""

    entrant: str
    verdict: Verdict
    reasons: list[str]
    knobs: dict[str, str]
    means: dict[str, Number | None]
    """Metric -> mean over blocks of the block's mean; for orientation, the ratios are what is compared."""
    against_reference: dict[str, Compared]
    bottleneck: str | None
    ceiling_share: Number | None = None
    """Of the lowest ceiling of the session."""
    censored: bool = False
    """The goodput is the ceiling's as much as the entrant's: at least this, and not ranked."""


class Findings(Part):
    """What follows from the blocks."""

    reference: str
    verdict: Verdict
    reasons: list[str]
    entries: list[Entry]
    same_against_itself: dict[str, Compared]
    """The reference's second start against its first, by metric."""
    ceilings_rps: dict[str, Number | None]
    """What the parts around the application reached, one short look each; empty where the plan has none."""


class Comparison(Part):
    """compare.json"""

    schema_version: int = 1
    campaign: str
    started_at: datetime
    finished_at: datetime
    scenario: str
    topology: str
    placement: str
    plan: str
    seed: int
    blocks: int
    findings: Findings
    warnings: list[str]
    duration_s: Number
    phases_s: dict[str, Number]
    environment: Environment


def second(reference: str) -> str:
    """The label of the reference's second start."""
    return f"{reference}~2"


def values(block: Block, entrant: str, metric: Metric) -> dict[int, float]:
    """Round -> figure of the entrant's last good window in it."""
    found = {}
    for shot in block.duets if metric.duet else block.shots:
        if shot.entrant == entrant and shot.window and shot.window.verdict is Verdict.OK:
            value = metric.figure(shot.window)
            if value:
                found[shot.round] = value
    return found


def _ln_ratio(block: Block, entrant: str, against: Iterable[str], metric: Metric) -> float | None:
    """Mean over rounds of ln(entrant) - mean ln(against), over the rounds in which all of them have a good window."""
    own = values(block, entrant, metric)
    others = [values(block, other, metric) for other in against]
    rounds = set(own).intersection(*others) if others else set()
    if not rounds:
        return None
    return statistics.fmean(
        math.log(own[n]) - statistics.fmean(math.log(other[n]) for other in others) for n in sorted(rounds)
    )


def ln_ratios(blocks: list[Block], entrant: str, against: list[str], metric: Metric) -> list[float]:
    """One value for each block that has any: a block of fresh starts is the unit of replication."""
    found = (_ln_ratio(block, entrant, against, metric) for block in blocks)
    return [value for value in found if value is not None]


def _mean(blocks: list[Block], entrant: str, metric: Metric) -> float | None:
    means = [
        statistics.fmean(found.values()) for block in blocks if (found := values(block, entrant, metric))
    ]
    return statistics.fmean(means) if means else None


def same(blocks: list[Block], reference: str) -> dict[str, Compared]:
    """The A/A line: the reference's second start against its first."""
    out = {}
    for name, metric in METRICS.items():
        ratio = ratios.compare(ln_ratios(blocks, second(reference), [reference], metric))
        out[name] = Compared(ratio=ratio, p_adjusted=ratio.p_t, verdict=ratios.verdict(ratio, metric.better))
    return out


def against_reference(
    blocks: list[Block], reference: str, entrants: list[str]
) -> dict[str, dict[str, Compared]]:
    """Entrant -> metric -> what was found. Both starts of the reference count: their mean is what is compared with."""
    out: dict[str, dict[str, Compared]] = {entrant: {} for entrant in entrants}
    for name, metric in METRICS.items():
        found = [
            ratios.compare(ln_ratios(blocks, entrant, [reference, second(reference)], metric))
            for entrant in entrants
        ]
        adjusted = ratios.holm([ratio.p_t for ratio in found])
        words = ratios.verdicts(found, metric.better)
        for entrant, ratio, p, word in zip(entrants, found, adjusted, words, strict=True):
            out[entrant][name] = Compared(ratio=ratio, p_adjusted=p, verdict=word)
    return out


def entry(blocks: list[Block], entrant: str, knobs: dict[str, str], compared: dict[str, Compared]) -> Entry:
    """A line of the table. One invalid window makes the entrant invalid, and then nothing is published of it."""
    shots = [shot for block in blocks for shot in block.shots + block.duets if shot.entrant == entrant]
    reasons = [
        f"block {block.number}: {block.refused[entrant]}" for block in blocks if entrant in block.refused
    ]
    failed = bool(reasons)
    reasons += [shot.refused for shot in shots if shot.refused]
    failed = failed or any(shot.refused for shot in shots)
    invalid = [shot for shot in shots if shot.window and shot.window.verdict is Verdict.INVALID]
    for shot in invalid[:3]:
        assert shot.window is not None
        texts = [finding.text for finding in shot.window.findings if finding.severity == "invalid"]
        reasons.append(texts[0] if texts else "invalid")
    verdict = Verdict.FAILED if failed else Verdict.INVALID if invalid else Verdict.OK
    tags = [shot.window.bottleneck for shot in shots if shot.window and shot.window.load == "closed"]
    good = verdict is Verdict.OK
    return Entry(
        entrant=entrant,
        verdict=verdict,
        reasons=reasons,
        knobs=knobs,
        means={name: _mean(blocks, entrant, metric) if good else None for name, metric in METRICS.items()},
        against_reference=compared if good else {},
        bottleneck=statistics.mode(tags) if tags else None,
    )


def session_verdict(
    blocks: list[Block], reference: Entry, again: dict[str, Compared]
) -> tuple[Verdict, list[str]]:
    """Whether the session may be believed at all, and the reasons if not.

    A failing start of the reference, more than VOID_SHARE void windows, or a reference that differs from itself by more than the
    margin make it void.
    """
    for line in (reference, entry(blocks, second(reference.entrant), {}, {})):
        if line.verdict is not Verdict.OK:
            return Verdict.VOID, [f"{line.entrant} is {line.verdict}: {reason}" for reason in line.reasons]
    windows = [shot.window for block in blocks for shot in block.shots + block.duets if shot.window]
    void = sum(window.verdict is Verdict.VOID for window in windows)
    reasons = []
    if windows and void / len(windows) > VOID_SHARE:
        reasons.append(
            f"{void} of {len(windows)} windows are void (limit {VOID_SHARE:.0%}): the host is too busy"
        )
    for name, compared in again.items():
        interval = compared.ratio.interval
        beyond = (
            abs(math.log(compared.ratio.ratio)) > math.log(1 + ratios.MARGIN)
            if compared.ratio.ratio
            else False
        )
        if interval and beyond and not interval[0] <= 1 <= interval[1]:
            reasons.append(f"the reference differs from itself in {name}: {compared.ratio.ratio:.3f}")
    return (Verdict.VOID, reasons) if reasons else (Verdict.OK, [])


def _mark_ceiling(line: Entry, ceilings_rps: dict[str, float | None]) -> None:
    line.ceiling_share = share_of_ceiling(line.means["goodput_rps"], ceilings_rps)
    line.censored = (line.ceiling_share or 0) > CENSORED_SHARE


def conclude(
    blocks: list[Block], knobs: dict[str, dict[str, str]], ceilings_rps: dict[str, float | None]
) -> Findings:
    """All that follows from the blocks. knobs: label -> the effective ones; the first label is the reference."""
    reference, *others = knobs
    again = same(blocks, reference)
    against = against_reference(blocks, reference, others)
    entries = [entry(blocks, label, own, against.get(label, {})) for label, own in knobs.items()]
    for line in entries:
        _mark_ceiling(line, ceilings_rps)
    verdict, reasons = session_verdict(blocks, entries[0], again)
    if verdict is not Verdict.OK:
        # The blocks keep the windows; what follows from them is not published.
        entries = [
            line.model_copy(
                update={"means": dict.fromkeys(METRICS), "against_reference": {}, "censored": False}
            )
            for line in entries
        ]
    return Findings(
        reference=reference,
        verdict=verdict,
        reasons=reasons,
        entries=entries,
        same_against_itself=again,
        ceilings_rps=ceilings_rps,
    )


def phases(blocks: list[Block], besides_s: dict[str, float]) -> dict[str, float]:
    """Where the time went, in all blocks and besides them."""
    out = dict(besides_s)
    for block in blocks:
        for phase, seconds in block.phases_s.items():
            out[phase] = out.get(phase, 0.0) + seconds
    return out
