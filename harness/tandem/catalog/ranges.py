"""Ranges as people write them."""

from collections.abc import Iterable
from itertools import groupby


def expand(text: str) -> list[int]:
    """The whole numbers of "0,2-3": both ends of a range included, in the order written; none for ""."""
    out: list[int] = []
    for span in filter(None, text.split(",")):
        low, _, high = span.partition("-")
        out.extend(range(int(low), int(high or low) + 1))
    return out


def folded(numbers: Iterable[int]) -> str:
    """The inverse of `expand`, in ascending order: "0,2-3"."""
    runs = groupby(enumerate(sorted(numbers)), lambda one: one[1] - one[0])
    ends = [(run[0][1], run[-1][1]) for run in ([*found] for _, found in runs)]
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ends)
