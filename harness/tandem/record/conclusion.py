"""The two forms of everything that a study concludes: a figure of one variant, and the ratio of two variants."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from pydantic import Field

from tandem.record.part import Number, Part
from tandem.record.window import Verdict

type Coordinates = dict[str, int | float | str]
"""Where a variant stands in a design, such as {"wait_ms": 5, "pool": 20}. Keys carry their unit."""


class Position(NamedTuple):
    """A variant at its coordinates."""

    variant: str
    """What the request calls it."""
    coordinates: Coordinates


class Placed(Protocol):
    """What is said of a variant at its coordinates."""

    variant: str
    coordinates: Coordinates


def found_at[T: Placed](items: Iterable[T], position: Position) -> T | None:
    """The first that is said of a position; None: nothing is."""
    return next((one for one in items if (one.variant, one.coordinates) == position), None)


def _unsaid(value: Any) -> bool:
    """Whether a value is left out of a record, which has thousands of them."""
    return value in (None, {}, [])


class Estimate(Part):
    """A metric of one variant at its coordinates."""

    metric: str
    """The key, which carries the unit."""
    variant: str
    """What the request calls it; its coordinates are no part of the name."""
    coordinates: Coordinates = Field(default_factory=dict, exclude_if=_unsaid)
    mean: Number | None
    """Mean over blocks of fresh starts; null: not measured, not published, or the variant is not ok."""
    interval: tuple[Number, Number] | None = None
    """95 % interval over the blocks."""
    range: tuple[Number, Number] | None = Field(default=None, exclude_if=_unsaid)
    """Least and greatest value of a percentile over the fresh starts."""
    n: int
    """Blocks."""
    limit: str | None = Field(default=None, exclude_if=_unsaid)
    """The bottleneck's tag (tandem.wording.BOTTLENECKS)."""
    verdict: Verdict = Verdict.OK
    reasons: list[str] = Field(default_factory=list, exclude_if=_unsaid)
    """Why the verdict is not ok."""
    published: Number | None = Field(default=None, exclude_if=_unsaid)
    """The value that somebody else published; null: nobody, or not this one."""

    @property
    def position(self) -> Position:
        """Variant and coordinates that it is of."""
        return Position(self.variant, self.coordinates)


class Contrast(Part):
    """A metric of one variant divided by that of another, within blocks of fresh starts."""

    metric: str
    of: str
    to: str
    coordinates: Coordinates = Field(default_factory=dict, exclude_if=_unsaid)
    """Coordinates at which both stand; empty: the two names say it."""
    ratio: Number | None
    """Geometric mean over the blocks."""
    interval: tuple[Number, Number] | None
    """95 % interval within the session."""
    n: int
    """Blocks."""
    sd_ln: Number | None = Field(default=None, exclude_if=_unsaid)
    """Standard deviation of the logarithms over the blocks."""
    p: Number | None = Field(default=None, exclude_if=_unsaid)
    """The p value of no difference, adjusted within `family`."""
    p_alone: Number | None = Field(default=None, exclude_if=_unsaid)
    """The p value of no difference before it was adjusted."""
    p_sign_flip: Number | None = Field(default=None, exclude_if=_unsaid)
    """The p value of no difference by a test that assumes symmetry and no normal distribution."""
    word: str | None = Field(default=None, exclude_if=_unsaid)
    """The verdict on the ratio, such as `cheaper`, `equivalent`, `stands`."""
    within_margin: bool = Field(default=False, exclude_if=lambda said: not said)
    """Whether the whole difference lies within the margin; also one that was found."""
    detectable_ratio: Number | None = Field(default=None, exclude_if=_unsaid)
    """The smallest ratio above 1 that the verdict finds with a power of 80 %."""
    family: str | None = Field(default=None, exclude_if=_unsaid)
    """The contrasts that share one 5 %; null: this one stands alone."""
    not_ranked: str | None = Field(default=None, exclude_if=_unsaid)
    """Why the ratio says little of the programs, such as a limit that both share; null: it is ranked."""
    published: Number | None = Field(default=None, exclude_if=_unsaid)
    """The value that somebody else published; null: nobody, or not this one."""
    text: str | None = Field(default=None, exclude_if=_unsaid)
    """What somebody claims by it, in words."""
