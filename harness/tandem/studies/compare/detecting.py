"""How many blocks a comparison makes where a difference was named that it should detect, or a budget. Pure.

The first blocks, the pilot, are those of the fewest that can decide. They may decide; else their scatter says how many blocks
the difference needs, and their time how many the budget has time for. The time says nothing of who is better, and the scatter
is left out of the test of the last look (tandem.analysis.looks), so equal pairs are told apart no more often than without.
"""

import math
from collections.abc import Sequence
from statistics import stdev
from typing import NamedTuple, Self

from pydantic import Field, field_validator, model_validator

from tandem.analysis.looks import PILOT_SHARE, PlannedLook, needed
from tandem.analysis.ratios import ALPHA, BLOCKS_LEAST
from tandem.engine.blocks import Blocks, disturbed
from tandem.engine.study import Options
from tandem.record.part import Number, Part
from tandem.record.trial import TrialSpec
from tandem.wording import lasts, percent

EFFECTS = (0.001, 1.0)
"""Differences that may be asked for, as shares."""


class Pair(NamedTuple):
    """Two variants that are compared although neither is the reference."""

    of: str
    to: str


class CompareOptions(Options):
    needs = "the options of a comparison"
    primary: str | None = None
    """The metric that decides; None: the plan's."""
    looks: tuple[int, ...] | None = None
    """The blocks at which it is looked; None: the plan's; empty: once, at the end."""
    detect: Number | None = None
    """The difference in the primary metric to detect, as a share."""
    budget_s: Number | None = Field(default=None, gt=0)
    """The time of all blocks, without builds."""
    groups: list[list[str]] = Field(default_factory=list)
    """Labels that are compared with one another at equal rates, which follow from the slowest of each group. Empty: all."""
    pairs: list[Pair] = Field(default_factory=list)
    """Further pairs that are compared, without the baseline."""

    @field_validator("looks")
    @classmethod
    def _increase(cls, looks: tuple[int, ...] | None) -> tuple[int, ...] | None:
        if looks and (len(looks) == 1 or looks != tuple(sorted({*looks})) or looks[0] < BLOCKS_LEAST):
            raise ValueError(
                f"looks are two or more increasing numbers of blocks; the first is at least {BLOCKS_LEAST}, the fewest that can"
                f" decide. Given: {', '.join(map(str, looks))}"
            )
        return looks

    @field_validator("detect")
    @classmethod
    def _detectable(cls, effect: float | None) -> float | None:
        least, most = EFFECTS
        if effect is not None and not least <= effect <= most:
            raise ValueError(
                f"a difference to detect is {percent(least)} to {percent(most)}, not {percent(effect)}"
            )
        return effect

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if self.aim and self.looks is not None:
            raise ValueError(
                "looks fix the numbers of blocks; --detect and --budget find theirs: give one of them"
            )
        return self

    @property
    def aim(self) -> str:
        """What the number of blocks follows from, in words; empty where nobody named a difference or a budget."""
        parts = [f"until a difference of {percent(self.detect)} can be detected"] if self.detect else []
        parts += [f"for {lasts(self.budget_s)} at the most"] if self.budget_s else []
        return ", ".join(parts)


PILOT = BLOCKS_LEAST
LEAST = 2 * PILOT
"""The fewest blocks where the pilot's scatter decides: the later ones alone tell theirs, so there are as many again."""


class Design(Part):
    """How many blocks were planned after the pilot, and why."""

    effect: Number | None
    """The difference that was to be detected, as a share; null: the budget alone was given."""
    budget_s: Number | None
    needed: int | None
    """Blocks that detect it with a power of 80 % by the pilot's scatter, where that was asked and some variant has one."""
    affordable: int | None
    """Blocks in the budget, by the time that the pilot took."""
    block_s: Number
    """How long a further block lasts, those that are made again among it."""
    blocks: int
    """Blocks that were planned."""
    pilot: int
    """Number of first blocks whose scatter decided that; 0: it did not."""

    @property
    def looks(self) -> tuple[int, ...]:
        """The blocks at which it is looked."""
        return (PILOT, self.blocks) if self.blocks > PILOT else ()

    def look(self, blocks: int) -> PlannedLook:
        """The look after so many blocks."""
        return PlannedLook.of(self.looks, blocks, self.pilot if self.looks else 0)

    @property
    def told(self) -> str:
        """What a person is told after the pilot."""
        more = self.blocks - PILOT
        goes_on = f"{more} more, about {lasts(more * self.block_s)}" if more > 0 else "no more"
        if self.needed is None:
            return f"after {PILOT} blocks: the budget has time for {self.blocks}: {goes_on}"
        needs = f"to detect {percent(self.effect)} with a power of 80 % this host needs {self.needed} blocks"
        if self.needed <= self.blocks:
            return f"after {PILOT} blocks: {needs}: {goes_on}"
        takes = lasts((self.needed - PILOT) * self.block_s)
        limit = f"budget of {lasts(self.budget_s)}" if self.budget_s else "study"
        return f"after {PILOT} blocks: {needs}, which takes another {takes}; the {limit} has time for {self.blocks}: {goes_on}"


def design(
    asked: CompareOptions, scatter: Sequence[Sequence[float]], spent_s: float, block_s: float, most: int
) -> Design:
    """How many blocks there are in all. scatter: the primary metric's ln ratios of each variant in the pilot, which took
    spent_s; block_s: so long a further one lasts; most: blocks that can be made at all.

    Whatever the means in `scatter` are: they play no part, or equal pairs would be told apart too often.
    """
    affordable = None
    if asked.budget_s is not None:
        affordable = min(most, PILOT + max(0, math.floor((asked.budget_s - spent_s) / block_s)))
    blocks, pilot, wanted = affordable or most, 0, None
    scatters = [own for own in scatter if len(own) > 1]
    if asked.detect is not None:
        alpha = ALPHA * (1 - PILOT_SHARE) / max(1, len(scatters))
        each = [needed(stdev(own), len(own) - 1, math.log1p(asked.detect), alpha) for own in scatters]
        wanted = max([LEAST, *each]) if each else None
        if wanted is None:
            blocks = PILOT  # nobody was measured twice
        elif blocks >= LEAST:
            blocks, pilot = min(wanted, blocks), PILOT
    return Design(
        effect=asked.detect,
        budget_s=asked.budget_s,
        needed=wanted,
        affordable=affordable,
        block_s=block_s,
        blocks=blocks,
        pilot=pilot,
    )


def within(blocks: Sequence[list[TrialSpec]], left_s: float, block_s: float, besides_s: float) -> Blocks:
    """The blocks, as long as there is time for one more and for those to be made again, by the time that the trials took.
    besides_s: of each block, what is no trial of the study."""
    owed_s = 0.0
    for block in blocks:
        if left_s < owed_s + block_s:
            return
        trials = yield block
        left_s -= besides_s + sum(trial.took_s for trial in trials)
        owed_s += block_s * any(map(disturbed, trials))
