"""What a comparison may be asked for beside its plan. Pure."""

from typing import NamedTuple, Self

from pydantic import Field, field_validator, model_validator

from tandem.analysis.ratios import BLOCKS_LEAST
from tandem.engine.study import Options
from tandem.record.part import Number
from tandem.wording import lasts, percent

EFFECTS = (0.001, 1.0)
"""Differences that may be asked for, as shares."""


class Aim(NamedTuple):
    """What the number of blocks follows from."""

    effect: float | None
    """The difference in the primary metric, as a share."""
    budget_s: float | None
    """The time of all blocks, without builds."""

    @property
    def told(self) -> str:
        """In words."""
        parts = [f"until a difference of {percent(self.effect)} can be detected"] if self.effect else []
        parts += [f"for {lasts(self.budget_s)} at the most"] if self.budget_s else []
        return ", ".join(parts)


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
    def aim(self) -> Aim | None:
        """None where nobody named a difference or a budget."""
        asked = self.detect is not None or self.budget_s is not None
        return Aim(self.detect, self.budget_s) if asked else None
