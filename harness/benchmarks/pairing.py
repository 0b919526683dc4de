"""How small a difference each design of a comparison finds per minute of machine time, from A/A data.

    python3 harness/benchmarks/pairing.py FOLDER...

FOLDER: of a `tandem compare` (design: alternation of short windows between warm starts, in blocks of fresh starts; the
reference against its second start is the data; where blocks end with a window of all at once, that too) or of a
`tandem bench` of one implementation (design: fresh starts one after the other, paired in the order in which they were
made, as blocks of two would be). Both halves of a pair are the same program, so all scatter is noise. For each folder
and way of analysis: the scatter of a block's ln ratio, a block's duration for two variants, and the effect that 15
minutes of such blocks detect with 80 % power (two-sided 5 %). For alternation, also what other numbers of rounds in a
block would find, from the blocks' first rounds.
"""

import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tandem.analysis.ratios import detectable_ratio
from tandem.engine.blocks import counting
from tandem.record.trial import Trial, WindowRecord
from tandem.record.window import Verdict, Window
from tandem.studies.bench.conclusions import CLOSED, OPEN
from tandem.studies.compare.conclusions import kind, round_of, second
from tandem.studies.registry import read_folder

BUDGET_S = 15 * 60
LEAST = 3
"""Blocks, or nothing is told."""
STEAL_LIMIT = 0.02
"""Share of the capacity of all CPUs within one second."""
KEPT_LEAST = 0.5
"""Of a window's seconds; with fewer left it has no figure."""
Figure = Callable[[Window], float | None]
Pairs = list[float]
"""ln ratios of one block, one for each round."""


def is_duet(record: WindowRecord) -> bool:
    """Whether all were loaded in it at once."""
    return kind(record) != "turns"


def rate(window: Window) -> float | None:
    return window.goodput_rps


def cost(window: Window) -> float | None:
    return window.app_cpu_us_per_request


def undisturbed(window: Window) -> tuple[float, float, int] | None:
    """Right answers, CPU-seconds of the application and number of the whole seconds in which the hypervisor took little.

    A second with an unknown steal (nan) is cut too. None where fewer than half are left, or none was noted. The rule
    looks at the steal alone and its limit is fixed beforehand, so it cannot favour a result. Raises ValueError where a
    kept second has no CPU time.
    """
    noted = window.per_second
    if noted is None:
        return None
    columns = zip(noted.good, noted.app_cpu_s, noted.steal_share, strict=True)
    kept = [(good, used) for good, used, steal in columns if steal <= STEAL_LIMIT]
    if not kept or len(kept) < KEPT_LEAST * len(noted.good):
        return None
    cpu_s = sum(used for _, used in kept)
    if not math.isfinite(cpu_s):
        raise ValueError("a second without a CPU time")
    return sum(good for good, _ in kept), cpu_s, len(kept)


def cut_rate(window: Window) -> float | None:
    found = undisturbed(window)
    return found and found[0] / found[2]


def cut_cost(window: Window) -> float | None:
    found = undisturbed(window)
    return found[1] / found[0] * 1e6 if found and found[0] else None


FIGURES: dict[str, Figure] = {
    "rate": rate,
    "rate, stolen seconds cut": cut_rate,
    "CPU per request": cost,
    "CPU, stolen seconds cut": cut_cost,
}


def of_block(block: Trial, reference: str, figure: Figure, duets: bool = False) -> Pairs:
    """ln of the second start by the first, for each round in which both have a figure."""
    found: dict[tuple[str, int], float] = {}
    for record in block.windows:
        for label, window in record.windows.items():
            value = figure(window) if is_duet(record) is duets and window.verdict is Verdict.OK else None
            if value:
                found[label, round_of(record)] = value
    rounds = sorted(
        {n for name, n in found if name == reference} & {n for name, n in found if name == second(reference)}
    )
    return [math.log(found[second(reference), n] / found[reference, n]) for n in rounds]


def took_s(records: Sequence[WindowRecord]) -> float:
    return sum(record.duration_s for record in records)


def block_s(block: Trial) -> tuple[float, float]:
    """What starts, and what one round, would have lasted with the reference and one variant alone."""
    share = 2 / len(block.spec.variants)
    turns = [record for record in block.windows if not is_duet(record)]
    rounds = max(map(round_of, turns), default=1)
    besides = sum(phase.duration_s for phase in block.phases) - took_s(block.windows)
    return besides * share, took_s(turns) * share / rounds


@dataclass(frozen=True)
class Design:
    """What one way of comparing comes to."""

    name: str
    ln_ratios: list[float]
    """Of a program with itself, one for each block."""
    block_s: float
    """How long a block of two variants lasts."""

    @property
    def scatter(self) -> float:
        """Standard deviation of a block's ln ratio."""
        return statistics.stdev(self.ln_ratios)

    @property
    def in_budget(self) -> int:
        return max(2, int(BUDGET_S / self.block_s))

    @property
    def finds(self) -> float | None:
        """The difference that BUDGET_S of such blocks detect, as a share."""
        effect = detectable_ratio(self.scatter, self.in_budget)
        return None if effect is None else effect - 1

    def __str__(self) -> str:
        if len(self.ln_ratios) < LEAST:
            return f"  {self.name:34} too few blocks"
        found = "-" if self.finds is None else f"{self.finds:.1%}"
        return (
            f"  {self.name:34} {len(self.ln_ratios):2} blocks of {self.block_s:4.0f} s; A/A"
            f" {statistics.fmean(self.ln_ratios):+.2%}; scatter {self.scatter:.2%}; {self.in_budget:3} blocks in 15 min find {found}"
        )


def design(name: str, blocks: Sequence[Pairs], lasts_s: float) -> Design:
    return Design(name, [statistics.fmean(found) for found in blocks if found], lasts_s)


def steal(windows: Sequence[Window]) -> str:
    shares = [window.host.steal_share or 0.0 for window in windows]
    return f"steal {statistics.fmean(shares):.1%} on average, {max(shares):.1%} at most in a window"


def windows(trials: Sequence[Trial], duets: bool = False) -> list[Window]:
    """Of all variants: those in turn, or those of all at once."""
    return [
        window
        for trial in trials
        for record in trial.windows
        if is_duet(record) is duets
        for window in record.windows.values()
    ]


def blocks(folder: Path) -> list[Trial]:
    """Of a comparison, in their order."""
    return counting(read_folder(folder)[2])


def alternation(made: Sequence[Trial], reference: str) -> tuple[str, list[Design]]:
    starts_s, round_s = (statistics.fmean(part) for part in zip(*map(block_s, made), strict=True))
    out = []
    for name, figure in FIGURES.items():
        pairs = [of_block(block, reference, figure) for block in made]
        most = max(map(len, pairs))
        for rounds in sorted({1, 2, 4, most} & set(range(1, most + 1))):
            cell = [found[:rounds] for found in pairs]
            out.append(design(f"{name}, {rounds} rounds", cell, starts_s + rounds * round_s))

    if windows(made, duets=True):
        lasts = [took_s([record for record in block.windows if is_duet(record)]) for block in made]
        together_s = statistics.fmean(seconds for seconds in lasts if seconds)
        for name in ("CPU per request", "CPU, stolen seconds cut"):
            pairs = [of_block(block, reference, FIGURES[name], duets=True) for block in made]
            out.append(design(f"{name}, all at once", pairs, starts_s + round_s + together_s))
    return steal(windows(made)), out


def visits(trials: Sequence[Trial]) -> tuple[str, list[Design]]:
    made = [(trial, window) for trial in trials if (window := trial.window(CLOSED)) is not None]
    good = [(trial, window) for trial, window in made if window.verdict is Verdict.OK]
    lasts = [
        sum(phase.duration_s for phase in trial.phases)
        - took_s([record for record in trial.windows if record.spec.name == OPEN])
        for trial, _ in good
    ]
    out = []
    for name, figure in FIGURES.items():
        values = [value for _, window in good if (value := figure(window))]
        pairs = [[math.log(later / first)] for first, later in zip(values[::2], values[1::2], strict=False)]
        out.append(design(name, pairs, 2 * statistics.fmean(lasts)))
    return steal([window for _, window in good]), out


def designs(folder: Path) -> tuple[str, list[Design]]:
    """What is said of the host, and each design that the folder's data tell of."""
    kind, result, trials = read_folder(folder)
    if kind.name == "compare":
        return alternation(counting(trials), result.conclusions.reference)
    return visits(trials)


def main() -> None:
    for folder in map(Path, sys.argv[1:]):
        host, found = designs(folder)
        print(f"{folder.name}: {host}", *found, sep="\n")


if __name__ == "__main__":
    main()
