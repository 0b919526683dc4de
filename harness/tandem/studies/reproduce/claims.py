"""Judges what a document concluded by the ratio of two rows, block by block. Pure."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import scipy

from tandem.analysis.ratios import ALPHA, MARGIN, Ratio, benjamini_hochberg, beside_published, compare
from tandem.record.conclusion import Contrast

Says = Literal["more", "less", "same"]
Word = Literal["stands", "reversed", "gone", "not decided"]
Size = Literal["smaller", "as published", "larger"]

type ClaimRatio = Ratio | Contrast
"""A ratio with its interval, its number of blocks and its scatter."""


def implied(published: float | None) -> Says | None:
    """The claim that a published ratio makes: a difference within the margin is none."""
    if published is None:
        return None
    if abs(math.log(published)) <= math.log1p(MARGIN):
        return "same"
    return "more" if published > 1 else "less"


def ratio[Block](of: Mapping[Block, float], to: Mapping[Block, float]) -> Ratio:
    """of / to over the blocks that have both; figures by block, all above 0."""
    return compare([math.log(of[block] / to[block]) for block in [block for block in of if block in to]])


def p_decided(says: Says, found: ClaimRatio) -> float | None:
    """The smallest level at which an interval decides the claim either way; None below two blocks.

    Of the two answers that it may come to, at most one is false whatever the truth is. So the smaller p is no more
    often small by chance than either is.
    """
    if found.ratio is None or found.sd_ln is None:
        return None
    ln, margin, error = abs(math.log(found.ratio)), math.log1p(MARGIN), found.sd_ln / math.sqrt(found.n)
    if not error:
        return 0.0

    def beyond(distance: float) -> float:
        return 2 * float(scipy.stats.t.sf(distance / error, found.n - 1))

    inside = beyond(margin - ln)
    outside = beyond(ln - margin) if says == "same" else beyond(ln)
    return min(1.0, inside, outside)


def adjusted(claims: Sequence[tuple[Says, ClaimRatio]]) -> list[float | None]:
    """Benjamini and Hochberg over all claims of an experiment: of those that are decided 5 % are wrong in the mean."""
    return benjamini_hochberg([p_decided(says, found) for says, found in claims])


def verdict(says: Says, found: ClaimRatio, p_adjusted: float | None = None) -> Word:
    """`stands` where the ratio lies on the claimed side of 1, `reversed` on the other. `gone` where all of its interval
    is within the margin around 1, even if it leaves 1 out: a difference that small is none. A claimed equality stands
    within the margin and is `gone` beyond it. Else `not decided`; so it is below two blocks, and where the adjusted p
    is above 5 %. p_adjusted: of `adjusted`; None: the claim stands alone.
    """
    if p_adjusted is None:
        p_adjusted = p_decided(says, found)
    if p_adjusted is None or p_adjusted > ALPHA or found.interval is None or found.ratio is None:
        return "not decided"
    # The p is at most 5 % also without its adjustment, so the 95 % interval tells which answer it is of.
    low, high = found.interval
    if low >= 1 / (1 + MARGIN) and high <= 1 + MARGIN:
        return "stands" if says == "same" else "gone"
    if says == "same":
        return "gone"
    return "stands" if (found.ratio > 1) == (says == "more") else "reversed"


def size(says: Says, word: Word, published: float | None, found: ClaimRatio) -> Size | None:
    """The size of a difference that stands, beside the published one. None for an equality, which has no size, and without a
    published ratio."""
    if says == "same" or word != "stands" or published is None or found.interval is None:
        return None
    return beside_published(published, found.interval)
