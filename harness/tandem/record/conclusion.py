"""The two forms of everything that a study concludes: a figure of one variant, and the ratio of two variants."""

from pydantic import Field

from tandem.record.part import Number, Part
from tandem.record.window import Verdict

type Coordinates = dict[str, int | float | str]
"""Where a variant stands in a design, such as {"wait_ms": 5, "pool": 20}. Keys carry their unit."""


class Estimate(Part):
    """A metric of one variant at its coordinates."""

    metric: str
    """The key, which carries the unit."""
    variant: str
    """What the request calls it; its coordinates are no part of the name."""
    coordinates: Coordinates = Field(default_factory=dict)
    mean: Number | None
    """Mean over blocks of fresh starts; null: not measured, not published, or the variant is not ok."""
    interval: tuple[Number, Number] | None = None
    """95 %, over the blocks."""
    n: int
    """Blocks."""
    limit: str | None = None
    """The bottleneck's tag (tandem.wording.BOTTLENECKS)."""
    verdict: Verdict = Verdict.OK
    reasons: list[str] = Field(default_factory=list)
    """Why the verdict is not ok."""
    published: Number | None = None
    """The value that somebody else published; null: nobody, or not this one."""


class Contrast(Part):
    """A metric of one variant divided by that of another, within blocks of fresh starts."""

    metric: str
    of: str
    to: str
    coordinates: Coordinates = Field(default_factory=dict)
    """Those at which both stand; empty: the two names say it."""
    ratio: Number | None
    """Geometric mean over the blocks."""
    interval: tuple[Number, Number] | None
    """95 %, within the session."""
    n: int
    """Blocks."""
    sd_ln: Number | None = None
    """Standard deviation of the logarithms over the blocks."""
    p: Number | None = None
    """The p value of no difference, adjusted within `family`."""
    word: str | None = None
    """The verdict on the ratio, such as `cheaper`, `equivalent`, `stands`."""
    family: str | None = None
    """The contrasts that share one 5 %; null: this one stands alone."""
    not_ranked: str | None = None
    """Why the ratio says little of the programs, such as a limit that both share; null: it is ranked."""
    published: Number | None = None
    """The value that somebody else published; null: nobody, or not this one."""
