"""The two forms of a conclusion: a figure of one variant, and the ratio of two variants."""

from tandem.analysis.ratios import Word
from tandem.record.part import Number, Part


class Estimate(Part):
    """A metric of one variant."""

    metric: str
    """The key, which carries the unit."""
    variant: str
    mean: Number | None
    """Mean over blocks of fresh starts; null: not measured, or not published."""
    interval: tuple[Number, Number] | None = None
    """95 %, over the blocks."""
    n: int
    """Blocks."""
    limit: str | None = None
    """The bottleneck's tag (tandem.wording.BOTTLENECKS)."""


class Contrast(Part):
    """A metric of one variant divided by that of another, within blocks of fresh starts."""

    metric: str
    of: str
    to: str
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
    word: Word | None = None
    family: str | None = None
    """The contrasts that share one 5 %; null: this one stands alone."""
    not_ranked: str | None = None
    """Why the ratio says little of the programs, such as a limit that both share; null: it is ranked."""
    published: Number | None = None
    """The value that somebody else published; null: nobody, or not this one."""
