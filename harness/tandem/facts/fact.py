"""The table of facts: a row for each window of each start of each variant. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tandem.analysis.ceilings import Made
from tandem.record.conclusion import Coordinates
from tandem.record.request import Variant
from tandem.record.trial import Start, Trial, WindowRecord, WindowRole
from tandem.record.window import Verdict, Window

IN_SLICES = 0
"""Stands for the number of a round: a window in slices is of no round."""


@dataclass(frozen=True)
class Fact:
    """One window of one start of one variant."""

    trial: str
    """Name of the trial, the same for all attempts."""
    block: int
    attempt: int
    label: str
    """Label of the variant, unique within the request."""
    coordinates: Coordinates
    role: WindowRole
    round: int
    """Number of the round, which facts of several variants that are compared with one another share."""
    share: float | None
    """Share of what the slowest reaches, of a window at an equal rate."""
    good: bool
    """Whether its figures count: the window is ok, and so is its trial where the variant is alone in it."""
    window: Window
    start: Start = field(default_factory=Start)
    alone: bool = True
    """Whether nobody else was loaded in the same seconds."""

    @property
    def made(self) -> Made:
        return self.block, self.attempt


def role_of(record: WindowRecord) -> WindowRole:
    """The role of a window, from what it asked for. Older trials name windows of all variants at once `duet` and `saturated`."""
    spec = record.spec
    if spec.role is not None:
        return spec.role
    if spec.slices is not None:
        return "sliced"
    if spec.equal_share is not None:
        return "equal"
    if len(spec.variants) > 1:
        return "saturated" if spec.name == "saturated" else "duet"
    return spec.load if spec.counts else "probe"


def round_of(record: WindowRecord) -> int:
    """The number of a window's round. Older trials have it in the name, as in `round-2-node` and `duet-2`."""
    spec = record.spec
    if spec.slices is not None:
        return IN_SLICES
    if spec.round is not None or spec.equal_share is not None:
        return spec.round or 1
    number = spec.name.split("-")[1:2]
    return int(number[0]) if number and number[0].isdecimal() else 1


def wrong(record: WindowRecord, window: Window) -> bool:
    """Whether a window says that its variant is wrong. Near the limit some requests may come too late."""
    codes = {finding.code for finding in window.findings if finding.severity == "invalid"}
    near = role_of(record) == "saturated" or not record.spec.counts
    return window.verdict is Verdict.INVALID and not (near and codes <= {"incomplete"})


def facts(trials: Iterable[Trial], variants: Iterable[Variant] = ()) -> list[Fact]:
    """All windows that were made, in order of time. variants: at whose coordinates the labels stand."""
    coordinates = {one.label: one.coordinates for one in variants}
    return [
        Fact(
            trial=trial.spec.name,
            block=trial.spec.block,
            attempt=trial.spec.attempt,
            label=label,
            coordinates=coordinates.get(label, {}),
            role=role_of(record),
            round=round_of(record),
            share=record.spec.equal_share,
            good=window.verdict is Verdict.OK
            and (len(trial.spec.variants) > 1 or trial.verdict is Verdict.OK),
            window=window,
            start=trial.starts.get(label, Start()),
            alone=record.alone,
        )
        for trial in sorted(trials, key=lambda one: one.started_at)
        for record in trial.windows
        for label, window in record.windows.items()
    ]


def counting(found: Sequence[Fact]) -> list[Fact]:
    """The facts whose figures count: the good ones, and of a start that was made again those of its last good attempt.

    It is the one rule. A ratio has a further condition, as it lives within a block that was made once: see
    tandem.facts.estimate.ratio.
    """
    good = [one for one in found if one.good]
    last = {(one.trial, one.label): one.attempt for one in sorted(good, key=lambda one: one.attempt)}
    return [one for one in good if last[one.trial, one.label] == one.attempt]


def by_label(found: Iterable[Fact]) -> dict[str, list[Fact]]:
    """Label -> its facts, in the order in which labels first appear."""
    out: dict[str, list[Fact]] = {}
    for one in found:
        out.setdefault(one.label, []).append(one)
    return out


def at_full_load(found: Sequence[Fact]) -> list[Fact]:
    """The facts of closed windows in which the variant was loaded alone; where there are slices, theirs."""
    sliced = [one for one in found if one.role == "sliced"]
    return sliced or [one for one in found if one.role == "closed" and one.window.load == "closed"]
