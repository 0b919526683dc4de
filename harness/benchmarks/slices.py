"""Which slice length is the best, and how much slices scatter.

    python3 harness/benchmarks/slices.py FOLDER...

FOLDER: of a `tandem compare` in slices. The reference against its second start is the data: the same program, so all
scatter is noise. Slices of the same number are merged by 1, 2, 4 and so on as if slices had been so long. What counts is
the standard error that a block's ln ratio has from its slices, at equal seconds of load: longer slices scatter less, and
there are fewer of them. Merged slices have a settling time each; real ones have one, so the error of the measured seconds
that they would have more is taken off. The shortest length is the best that no other is better than, with 95 % over the
blocks. Then, of each folder, the scatter from block to block, which has what two starts differ by, and the difference that
blocks of that length find in 15 minutes (80 % power, two-sided 5 %).
"""

import math
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tandem.analysis.ratios import detectable_ratio, t_interval
from tandem.engine.blocks import counting
from tandem.record.trial import Trial
from tandem.record.window import Slices, Verdict
from tandem.studies.compare.conclusions import second
from tandem.studies.registry import read_folder

BUDGET_S = 15 * 60
MERGED = (1, 2, 4, 8)
BLOCKS_LEAST = 3
FIGURES = ("goodput", "CPU per request")

type Pair = tuple[Slices, Slices]
"""The reference's slices of a block and those of its second start."""


def figure(slices: Slices, name: str, first: int, number: int) -> float:
    """The figure of so many slices from one on."""
    part = slice(first, first + number)
    good = sum(slices.good[part])
    return good / sum(slices.measured_s[part]) if name == "goodput" else sum(slices.app_cpu_s[part]) / good


def ln_ratios(one: Slices, other: Slices, name: str, merged: int) -> list[float]:
    """Logarithms of second by first start, of slices with the same number, merged by so many."""
    whole = min(len(one.good), len(other.good)) // merged * merged
    return [
        math.log(figure(other, name, n, merged) / figure(one, name, n, merged))
        for n in range(0, whole, merged)
    ]


def pairs(blocks: Sequence[Trial], reference: str) -> list[Pair]:
    """The slices of both starts, in each block in which both are good."""
    found = []
    for record in (record for block in blocks for record in block.windows if record.spec.slices):
        windows = [record.windows.get(label) for label in (reference, second(reference))]
        good = [w.slices for w in windows if w is not None and w.slices and w.verdict is Verdict.OK]
        if len(good) == 2:
            found.append((good[0], good[1]))
    return found


# ---- the length ----


@dataclass(frozen=True)
class Length:
    """Slices of one length."""

    slice_s: float
    errors: dict[str, float]
    """Figure -> standard error of a block's ln ratio."""
    against: float
    """Standard error by that of the shortest slices, both figures together."""
    interval: tuple[float, float]
    """95 % over the blocks."""


def variance(pair: Pair, name: str, merged: int, slice_s: float) -> float:
    """Variance of a block's ln ratio, from its slices merged to this length. Raises statistics.StatisticsError below two."""
    ln = ln_ratios(*pair, name, merged)
    measured_s = statistics.fmean(pair[0].measured_s)
    real_s = merged * slice_s - (slice_s - measured_s)
    return statistics.variance(ln) / len(ln) * (merged * measured_s) / real_s


type Variances = dict[str, list[float]]
"""Figure -> of each block."""


def by_length(found: Sequence[Pair], slice_s: float) -> dict[int, Variances]:
    """Merged by so many -> variances, of the lengths that each block has two slices of at least."""
    fewest = min(len(one.good) for pair in found for one in pair)
    return {
        merged: {name: [variance(pair, name, merged, slice_s) for pair in found] for name in FIGURES}
        for merged in MERGED
        if fewest >= 2 * merged
    }


def against(one: Variances, other: Variances) -> tuple[float, float, float]:
    """The standard error of one length by that of another, both figures together, with its 95 % interval.

    Jackknife over the blocks: of a few neither the size nor the shape of a variance's scatter is known beforehand.
    """
    blocks = len(one[FIGURES[0]])

    def ln(left_out: int | None) -> float:
        def mean(values: list[float]) -> float:
            return statistics.fmean(value for n, value in enumerate(values) if n != left_out)

        return statistics.fmean(math.log(mean(one[name]) / mean(other[name])) / 2 for name in FIGURES)

    whole = ln(None)
    low, high = t_interval([blocks * whole - (blocks - 1) * ln(n) for n in range(blocks)]) or (
        -math.inf,
        math.inf,
    )
    return math.exp(whole), math.exp(low), math.exp(high)


def lengths(found: Sequence[Pair], slice_s: float) -> list[Length]:
    """The shortest first. found: blocks in slices of slice_s."""
    each = by_length(found, slice_s)
    out = []
    for merged, own in each.items():
        errors = {name: math.sqrt(statistics.fmean(own[name])) for name in FIGURES}
        ratio, low, high = against(own, each[1])
        out.append(Length(merged * slice_s, errors, ratio, (low, high)))
    return out


def best_s(found: Sequence[Pair], slice_s: float) -> float:
    """The shortest length that no longer one is shown to be better than."""
    each = by_length(found, slice_s)
    return next(
        merged * slice_s
        for merged, own in each.items()
        if not any(against(other, own)[2] < 1 for longer, other in each.items() if longer > merged)
    )


@dataclass(frozen=True)
class Sliced:
    """The blocks of some comparisons that were made in slices of one length."""

    slice_s: float
    found: list[Pair]

    @property
    def lengths(self) -> list[Length]:
        return lengths(self.found, self.slice_s)

    @property
    def best_s(self) -> float:
        return best_s(self.found, self.slice_s)

    @property
    def load_s(self) -> float:
        """Seconds of load of each variant in a block."""
        return self.slice_s * statistics.fmean(len(one.good) for one, _ in self.found)


def sliced(folders: Sequence[Path]) -> list[Sliced]:
    """Comparisons in slices among these folders, by slice length; those with fewer than BLOCKS_LEAST blocks are left out."""
    of: dict[float, list[Pair]] = {}
    for folder in folders:
        kind, result, trials = read_folder(folder)
        blocks = counting(trials) if kind.name == "compare" else []
        for record in (record for block in blocks for record in block.windows if record.spec.slices):
            assert record.spec.slices is not None
            of.setdefault(record.spec.slices.slice_s, [])
        for slice_s in of:
            own = [
                block
                for block in blocks
                if any(r.spec.slices and r.spec.slices.slice_s == slice_s for r in block.windows)
            ]
            of[slice_s] += pairs(own, result.conclusions.reference)
    return [Sliced(slice_s, found) for slice_s, found in sorted(of.items()) if len(found) >= BLOCKS_LEAST]


def told(found: Sliced) -> list[str]:
    """The lengths, and which is the best."""
    out = [
        f"{len(found.found)} blocks in slices of {found.slice_s:g} s, {found.load_s:.0f} s of each variant:"
    ]
    for one in found.lengths:
        errors = ", ".join(f"{error:.2%} of {name}" for name, error in one.errors.items())
        low, high = one.interval
        beside = "" if one.slice_s == found.slice_s else f"; x {one.against:.2f} ({low:.2f} to {high:.2f})"
        out.append(f"  slices of {one.slice_s:g} s: standard error of a block {errors}{beside}")
    return [*out, f"  the best: {found.best_s:g} s"]


# ---- from block to block ----


def lines(blocks: Sequence[Trial], reference: str) -> list[str]:
    """The lines about one comparison."""
    found, out = pairs(blocks, reference), []
    lasts_s = statistics.fmean(sum(phase.duration_s for phase in block.phases) for block in blocks)
    for name in FIGURES:
        of_blocks = [
            ln_ratios(one, other, name, min(len(one.good), len(other.good)))[0] for one, other in found
        ]
        if len(of_blocks) >= BLOCKS_LEAST:
            spread, number = statistics.stdev(of_blocks), max(2, int(BUDGET_S / lasts_s))
            effect = detectable_ratio(spread, number)
            finds = "-" if effect is None else f"{effect - 1:.1%}"
            out.append(
                f"  {name:16} {len(of_blocks)} blocks of {lasts_s:.0f} s: A/A {statistics.fmean(of_blocks):+.2%},"
                f" scatter {spread:.2%}; {number} blocks in 15 min find {finds}"
            )
    return out


def main() -> None:
    folders = [Path(one) for one in sys.argv[1:]]
    for found in sliced(folders):
        print(*told(found), sep="\n")
    for folder in folders:
        _, result, trials = read_folder(folder)
        print(f"{folder.name}:", *lines(counting(trials), result.conclusions.reference), sep="\n")


if __name__ == "__main__":
    main()
