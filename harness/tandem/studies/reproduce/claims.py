"""Judges what a document concluded by the ratio of two rows, block by block. Pure."""

import math
from collections.abc import Mapping
from typing import Literal

from tandem.analysis.ratios import MARGIN, Ratio, compare
from tandem.record.part import Number, Part

Says = Literal["more", "less", "same"]
Word = Literal["stands", "reversed", "gone", "not decided"]
Size = Literal["smaller", "as published", "larger"]


class ClaimResult(Part):
    """A claim beside what we found."""

    text: str
    figure: str
    of: str
    to: str
    says: Says
    host: str | None
    """Whose published figures count; None: the main one's."""
    published: Number | None
    """The published ratio."""
    ratio: Ratio
    """Ours, over the blocks in which both rows are good."""
    verdict: Word
    size: Size | None
    """Of a claim that stands: whether the published ratio lies within our interval, or ours is nearer to 1, or
    farther from it. None without a published ratio."""


def implied(published: float | None) -> Says | None:
    """What a published ratio claims: a difference within the margin is none."""
    if published is None:
        return None
    if abs(math.log(published)) <= math.log1p(MARGIN):
        return "same"
    return "more" if published > 1 else "less"


def ratio[Block](of: Mapping[Block, float], to: Mapping[Block, float]) -> Ratio:
    """of / to over the blocks that have both; figures by block, all above 0."""
    return compare([math.log(of[block] / to[block]) for block in [block for block in of if block in to]])


def verdict(says: Says, found: Ratio) -> Word:
    """By the 95 % t interval of the ratio: `stands` where it lies on the claimed side of 1, `reversed` on the
    other. `gone` where all of it is within the margin around 1, even if it leaves 1 out: a difference that small
    is none. A claimed equality stands within the margin and is `gone` beyond it. Else `not decided`; so it is
    below two blocks.
    """
    if found.interval is None:
        return "not decided"
    low, high = found.interval
    within = low >= 1 / (1 + MARGIN) and high <= 1 + MARGIN
    if says == "same":
        beyond = low > 1 + MARGIN or high < 1 / (1 + MARGIN)
        return "stands" if within else "gone" if beyond else "not decided"
    if within:
        return "gone"
    if low > 1:
        return "stands" if says == "more" else "reversed"
    if high < 1:
        return "stands" if says == "less" else "reversed"
    return "not decided"


def size(says: Says, word: Word, published: float | None, found: Ratio) -> Size | None:
    """How a difference that stands compares to the published one. None for an equality, which has no size."""
    if says == "same" or word != "stands" or published is None or found.interval is None:
        return None
    low, high = found.interval
    if low <= published <= high:
        return "as published"
    nearer = high < published if published > 1 else low > published
    return "smaller" if nearer else "larger"
